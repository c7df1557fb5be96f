package agent_test

import (
	"encoding/hex"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/agent"
)

// The Python reader of doc/wire.md reads our frames.
func TestPythonReader(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skipf("SKIPPED %s: there is no python3", t.Name())
	}
	page, err := os.ReadFile("../doc/wire.md")
	if err != nil {
		t.Fatal(err)
	}
	_, code, found := strings.Cut(string(page), "```python\n")
	code, _, ended := strings.Cut(code, "```")
	if !found || !ended {
		t.Fatal("doc/wire.md has no Python")
	}
	h, messages := sampleFrame()
	frame := agent.AppendFrame(nil, h, messages)
	code += "\nprint(read(bytes.fromhex('" + hex.EncodeToString(frame) + "')))\n"
	out, err := exec.Command(python, "-c", code).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	want := "(287454020, 5, 9, [(1, 4294967295, 1099511627776, 1, 3, 0, 0.0, (1.0, -2.5, 3.4028234663852886e+38)), " +
		"(2, 1, 7, 2, 1, 0, 0.0, ()), (3, 4294967295, 0, 1, 0, 4, 2.75, (0.0,)), " +
		"(4, 3, 1, 3, 2, 0, 0.0, ()), (6, 6, 0, 5, 0, 5, 1125899906842627, b'hello'), (6, 6, 0, 5, 0, 0, 8, b'')])\n"
	if string(out) != want {
		t.Errorf("Python read\n%s\nwant\n%s", out, want)
	}
}
