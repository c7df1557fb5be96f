package journal_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/internal/journal"
)

// What a newer program wrote is refused by its version, and all of it left as it
// is: a snapshot is not taken for a damaged one, in place of which an older would
// do.
func TestNewer(t *testing.T) {
	for name, text := range map[string]string{
		"snapshot-0000000000000009": "wdgnn-snapshot 2 zstd seq=9\nwhatever it holds",
		"log-0000000000000001":      "wdgnnj2\nwhatever it holds",
	} {
		dir := t.TempDir()
		d, err := journal.OpenDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		j, _ := open(t, d)
		if err := errors.Join(commit(j, 4), snapshot(j), commit(j, 1), j.Close()); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(name, "log") { // with its snapshots nobody would look into it
			if err := d.Remove("snapshot-0000000000000004"); err != nil {
				t.Fatal(err)
			}
		}
		before, err := d.Names()
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = journal.Open(d)
		want := "of version 2, this program reads 1"
		if !errors.Is(err, journal.ErrNewer) || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", name, err, want)
		}
		after, err := d.Names()
		if err != nil || strings.Join(after, " ") != strings.Join(before, " ") {
			t.Errorf("%s: %q is left (%v), want %q", name, after, err, before)
		}
		if left, err := os.ReadFile(path); err != nil || string(left) != text {
			t.Errorf("%s: %q is left (%v), want %q", name, left, err, text)
		}
		d.Close()
	}
}
