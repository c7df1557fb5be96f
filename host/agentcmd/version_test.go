package agentcmd

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/internal/journal"
)

// A box that meets what a program of another version wrote, in its state folder or as
// its model, says so by name and number, says what to try, ends with exit code 1, and
// leaves every file as it is.
func TestFilesOfOtherVersions(t *testing.T) {
	const model = "run/model.safetensors"
	for _, c := range []struct {
		name   string
		change func(t *testing.T)
		want   []string
	}{
		{
			"another checkpoint", func(t *testing.T) { rewrite(t, `"version":5`, `"version":99`) },
			[]string{"wdgnn-agent: state: host: state: a checkpoint of version 99, this program reads 5: another wrote it;"},
		},
		{
			"a newer folder", func(t *testing.T) { replace(t, snapshot(t), "wdgnn-snapshot 1", "wdgnn-snapshot 2") },
			[]string{"a snapshot of version 2, this program reads 1:", "a newer program wrote it; update this one"},
		},
		{
			"a newer model", func(t *testing.T) { replace(t, model, `"wdgnn.format":"1"`, `"wdgnn.format":"2"`) },
			[]string{model, `wdgnn.format is "2", this program reads "1"; try a newer wdgnn`},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			leave(t)
			c.change(t)
			before := contents(t)
			code, errors := ran(t)
			if code != exitFailure {
				t.Errorf("exit code %d, want %d", code, exitFailure)
			}
			for _, want := range c.want {
				if !strings.Contains(errors, want) {
					t.Errorf("it says\n%s\nwant %q in it", errors, want)
				}
			}
			for name, text := range before {
				if now, err := os.ReadFile(name); err != nil || !bytes.Equal(now, text) {
					t.Errorf("%s was changed, or is gone (%v)", name, err)
				}
			}
		})
	}
}

// leave changes to a folder that a box left which has run.
func leave(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	err := os.CopyFS(filepath.Join(dir, "run"), os.DirFS("../../examples/own-data"))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	const config = `
run: yard
host: 0
hosts: {0: {nodes: 0-49}}
model: run/model.safetensors
learn: {preset: paper}
bus: {kind: none}
world: {kind: stream, signals: run/stream_signals.npy, targets: run/stream_targets.npy, graph: run/stream_graph.csv, answers: answers.jsonl}
state: state
`
	if err := os.WriteFile("agent.yaml", []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	if code, errors := ran(t); code != 0 {
		t.Fatalf("exit code %d: %s", code, errors)
	}
}

// ran runs the program and returns its exit code and what it said.
func ran(t *testing.T) (code int, errors string) {
	t.Helper()
	var out, said strings.Builder
	p := program{name: "wdgnn-agent", out: &out, errors: &said}
	return p.run(t.Context(), []string{"--config", "agent.yaml"}), said.String()
}

// snapshot returns the path of the last checkpoint.
func snapshot(t *testing.T) string {
	t.Helper()
	names, err := filepath.Glob("state/snapshot-*")
	if err != nil || len(names) == 0 {
		t.Fatalf("no checkpoint (%v)", err)
	}
	return slices.Max(names)
}

// replace changes a file that has the words old.
func replace(t *testing.T, path, old, now string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil || !bytes.Contains(text, []byte(old)) {
		t.Fatalf("%s has no %s (%v)", path, old, err)
	}
	if err := os.WriteFile(path, bytes.Replace(text, []byte(old), []byte(now), 1), 0o644); err != nil {
		t.Fatal(err)
	}
}

// rewrite changes the checkpoint in the folder state, as a program would have
// written it.
func rewrite(t *testing.T, old, now string) {
	t.Helper()
	s, err := journal.OpenFolder("state")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	text, err := s.Last()
	if err != nil || !bytes.Contains(text, []byte(old)) {
		t.Fatalf("the checkpoint has no %s (%v)", old, err)
	}
	if err := s.Write(bytes.Replace(text, []byte(old), []byte(now), 1)); err != nil {
		t.Fatal(err)
	}
}

// contents returns what files hold from which something could be lost: all but
// logs without a record.
func contents(t *testing.T) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	for _, pattern := range []string{"answers.jsonl", "run/*", "state/snapshot-*"} {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: no files (%v)", pattern, err)
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			all[name] = text
		}
	}
	return all
}
