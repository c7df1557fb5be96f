package swarm

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/wdgnn/wdgnn/mat"
)

// built is where programs lie that tests have built.
var built string

func TestMain(m *testing.M) {
	code := m.Run()
	if built != "" {
		os.RemoveAll(built)
	}
	os.Exit(code)
}

// agentProgram builds the program wdgnn-agent, once.
var agentProgram = sync.OnceValues(func() (string, error) { return build("wdgnn-agent") })

// wholeProgram builds the program wdgnn, once.
var wholeProgram = sync.OnceValues(func() (string, error) { return build("wdgnn") })

// programs returns where programs are built.
func programs() (dir string, err error) {
	if built == "" {
		built, err = os.MkdirTemp("", "wdgnn-test-")
	}
	return built, err
}

func build(name string) (path string, err error) {
	if _, err := programs(); err != nil {
		return "", err
	}
	args := []string{"build", "-o", built}
	if mat.Family() == "portable" { // the same bits as in this process
		args = append(args, "-tags", "purego")
	}
	if out, err := exec.Command("go", append(args, "github.com/wdgnn/wdgnn/cmd/"+name)...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return filepath.Join(built, name), nil
}

// program returns the command that runs an agent as a process.
func program(t *testing.T) []string {
	t.Helper()
	return []string{started(t, agentProgram)}
}

// started returns the path of a program that the test starts.
func started(t *testing.T, program func() (string, error)) string {
	t.Helper()
	if testing.Short() {
		t.Skipf("SKIPPED %s: it starts processes, and -short is set", t.Name())
	}
	if native, err := exec.Command("go", "env", "GOHOSTARCH").Output(); err == nil && strings.TrimSpace(string(native)) != runtime.GOARCH {
		t.Skipf("SKIPPED %s: an emulated test cannot start programs", t.Name())
	}
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	return path
}
