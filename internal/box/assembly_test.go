package box

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Hosts are put together in one place, whether they have a process of their own or
// share one: what holds of a box in a trial then holds of one in the field.
func TestOneAssembly(t *testing.T) {
	const root = "../.."
	var places []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := filepath.ToSlash(strings.TrimPrefix(path, filepath.FromSlash(root+"/")))
		if d.IsDir() {
			if name == "host" || name == "examples" || strings.HasPrefix(d.Name(), ".git") { // what makes hosts, and what others make of it
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err == nil && strings.Contains(string(text), "host.New(") {
			places = append(places, name)
		}
		return err
	})
	if want := []string{"internal/box/run.go"}; err != nil || !slices.Equal(places, want) {
		t.Errorf("hosts are made in %v (%v), want %v", places, err, want)
	}
}
