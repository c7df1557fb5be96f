package jsonfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What is written is read back; what is damaged is named.
func TestWriteRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "v.json")
	if err := Read(path, new([]int)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: got %v, want %v", err, fs.ErrNotExist)
	}
	for indent, want := range map[string]string{"": "[1,2]\n", " ": "[\n 1,\n 2\n]\n"} {
		if err := Write(path, []int{1, 2}, indent); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(path)
		if err != nil || string(text) != want {
			t.Errorf("indent %q: got %q (%v), want %q", indent, text, err, want)
		}
		var got []int
		if err := Read(path, &got); err != nil || len(got) != 2 || got[1] != 2 {
			t.Errorf("got %v (%v), want what was written", got, err)
		}
	}
	if err := os.WriteFile(path, []byte("[1,"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Read(path, new([]int)); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("got %v, want an error that names the file", err)
	}
}
