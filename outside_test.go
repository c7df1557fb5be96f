package wdgnn

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// What users write works from outside the module: examples/outside has a go.mod
// of its own, which "./..." leaves out.
func TestOutside(t *testing.T) {
	if testing.Short() {
		t.Skipf("SKIPPED %s: with -short no other module is compiled; without, one is", t.Name())
	}
	const folder = "examples/outside"
	// go test remembers who passed until a file that was read changes.
	err := filepath.WalkDir(folder, func(file string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			_, err = os.ReadFile(file)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	for _, command := range []string{"vet", "test"} {
		c := exec.CommandContext(ctx, "go", "-C", folder, command, "./...")
		c.Env = append(os.Environ(), "GOOS=", "GOARCH=") // this machine's, whichever the tests are built for
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("go %s in %s: %v\n%s", command, folder, err, out)
		}
	}
}
