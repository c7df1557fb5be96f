package recommend

import (
	"bytes"
	"encoding/json"
	"fmt"
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

// What a service with the model in testdata left after a new item and eight ratings is
// read, and written again as the same bytes. Whoever changes what is written gives it the
// next number, and writes the folder anew.
func TestWrittenAsItWas(t *testing.T) {
	j, was, err := journal.Open(folder(t, "state"))
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
	m, err := Load("testdata/model.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("testdata/status.json")
	if err != nil {
		t.Fatal(err)
	}
	var want Status
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	s, err := Open(m, all, folder(t, "state"), Config{Rule: Paper(0.05)})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	got := s.Status()
	if want.At, want.Window = got.At, got.Window; !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// Files of another version are refused by their number, also where the rest cannot
// be understood, with what to try.
func TestOtherFormats(t *testing.T) {
	all, m := small()
	d := folder(t, "state")
	j, _, err := journal.Open(d)
	if err != nil {
		t.Fatal(err)
	}
	if err := j.WriteSnapshot(8, []byte(`{"users":{"3":[]},"format":6}`)); err != nil {
		t.Fatal(err)
	}
	j.Close()
	_, err = Open(m, all, d, learning())
	refused(t, err, "snapshot 8 has format 6, this program reads 5; try a newer wdgnn")
	for _, version := range []byte{2, 7} {
		_, err = parseRecord(append([]byte{version}, make([]byte, 40)...))
		refused(t, err, fmt.Sprintf("version %d, this program reads 3; try a newer wdgnn", version))
	}

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
