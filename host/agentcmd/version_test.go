package agentcmd

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/internal/journal"
)

// A box that meets what a newer program wrote, in its state folder or as its
// model, says so by name and number, says what to try, ends with exit code 1, and
// leaves every file as it is. With what an earlier one wrote it goes on.
func TestFilesOfOtherVersions(t *testing.T) {
	const snapshot, model = "state/snapshot-0000000000000003", "run/model.safetensors"
	for _, c := range []struct {
		name   string
		change func(t *testing.T)
		code   int
		want   []string
	}{
		{
			"a newer checkpoint", func(t *testing.T) { rewrite(t, `"version":2`, `"version":99`) }, exitFailure,
			[]string{
				"wdgnn-agent: state: host: state: a checkpoint of version 99, this program reads up to 4: a newer one wrote it;",
				"update this box",
			},
		},
		{
			"a newer folder", func(t *testing.T) { replace(t, snapshot, "wdgnn-snapshot 1", "wdgnn-snapshot 2") }, exitFailure,
			[]string{
				"state: state: journal: snapshot-0000000000000003: a snapshot of version 2, this program reads 1:",
				"a newer program wrote it; update this one",
			},
		},
		{
			"a newer model", func(t *testing.T) { replace(t, model, `"wdgnn.format":"1"`, `"wdgnn.format":"2"`) }, exitFailure,
			[]string{model, `wdgnn.format is "2", this program reads "1"; try a newer wdgnn`},
		},
		{
			"an earlier checkpoint", func(t *testing.T) { rewrite(t, `"version":2`, `"version":1`) }, 0,
			[]string{"goes on from a checkpoint", "a checkpoint of an earlier program is read", "version=1 here=2"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS("../../cmd/wdgnn/testdata/keepsakes")); err != nil {
				t.Fatal(err)
			}
			t.Chdir(dir)
			c.change(t)
			before := contents(t)
			var out, errors strings.Builder
			p := program{name: "wdgnn-agent", out: &out, errors: &errors}
			code := p.run(t.Context(), []string{"--config", "agent.yaml"})
			if code != c.code {
				t.Errorf("exit code %d, want %d", code, c.code)
			}
			for _, want := range c.want {
				if !strings.Contains(errors.String(), want) {
					t.Errorf("it says\n%s\nwant %q in it", errors.String(), want)
				}
			}
			if c.code != 0 {
				for name, text := range before {
					if now, err := os.ReadFile(name); err != nil || !bytes.Equal(now, text) {
						t.Errorf("%s was changed, or is gone (%v)", name, err)
					}
				}
			}
		})
	}
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
