package recommend

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/internal/journal"
)

// folder opens a copy of a folder in testdata.
func folder(t *testing.T, name string) *journal.Dir {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", name))); err != nil {
		t.Fatal(err)
	}
	d, err := journal.OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// Records of version 3 and snapshots of format 4, which a service with the model
// in v1 left after eight ratings and a new item, are read, and written again as the same bytes.
// Whoever changes what is written gives it the next number, and adds a folder of
// it.
func TestWrittenAsItWas(t *testing.T) {
	j, was, err := journal.Open(folder(t, "v4/windowed"))
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	if len(was.Records) != 3 || was.Seq != 6 {
		t.Fatalf("%d records after snapshot %d, want 3 after 6", len(was.Records), was.Seq)
	}
	for k, text := range was.Records {
		r, err := parseRecord(text)
		if again := r.appendTo(nil); err != nil || !bytes.Equal(again, text) {
			t.Errorf("record %d is written as\n% x (%v)\nwant\n% x", k, again, err, text)
		}
	}
	var st state
	if err := json.Unmarshal(was.Snapshot, &st); err != nil {
		t.Fatal(err)
	}
	if again, err := json.Marshal(st); err != nil || st.Format != stateFormat || !bytes.Equal(again, was.Snapshot) {
		t.Errorf("the snapshot, of format %d, is written as\n%s (%v)\nwant\n%s", st.Format, again, err, was.Snapshot)
	}
}

// A service goes on from them where the one that wrote them was.
func TestSameVersion(t *testing.T) {
	all, _ := small()
	m, err := Load("testdata/v1/model.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"v2/windowed", "v3/windowed", "v4/windowed"} {
		text, err := os.ReadFile("testdata/" + name + ".json")
		if err != nil {
			t.Fatal(err)
		}
		var want Status
		if err := json.Unmarshal(text, &want); err != nil {
			t.Fatal(err)
		}
		windowed := Whitened(0.02)
		windowed.Window = 3
		s, err := Open(m, all, folder(t, name), Config{Rule: windowed})
		if err != nil {
			t.Fatal(err)
		}
		got := s.Status()
		if !reflect.DeepEqual(got.Params, want.Params) || got.Version != want.Version || got.Learned != want.Learned || got.Steps != want.Steps ||
			got.Falls != want.Falls || got.Serving != want.Serving || got.Changed != want.Changed || got.Movies != want.Movies {
			t.Errorf("%s: got %+v, want %+v", name, got, want)
		}
		s.Close()
	}
}

// Files of a newer program are refused by their number, also where the rest cannot
// be understood, with what to try.
func TestNewerFormats(t *testing.T) {
	all, m := small()
	d := folder(t, "v2/windowed")
	j, _, err := journal.Open(d)
	if err != nil {
		t.Fatal(err)
	}
	if err := j.WriteSnapshot(8, []byte(`{"users":{"3":[]},"format":5}`)); err != nil {
		t.Fatal(err)
	}
	j.Close()
	_, err = Open(m, all, d, learning())
	refused(t, err, "snapshot 8 has format 5, this program reads 1 to 4; try a newer wdgnn")
	_, err = parseRecord(append([]byte{7}, make([]byte, 40)...))
	refused(t, err, "version 7, this program reads 1 to 3; try a newer wdgnn")

	path := filepath.Join(t.TempDir(), "model.safetensors")
	if err := Save(path, m, "test"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(sidecarPath(path), []byte(`{"taste":[1],"digest":{},"format":5}`), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err = Load(path)
	refused(t, err, "format 5, this program reads 1; try a newer wdgnn")
}

func refused(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
}
