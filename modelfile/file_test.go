package modelfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func text(s string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, s)
		return err
	}
}

// onlyFile fails unless folder holds one file with the given content.
func onlyFile(t *testing.T, path, want string) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil || string(got) != want {
		t.Errorf("got %.40q, %v, want %.40q", got, err, want)
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1 {
		t.Errorf("got %v, %v beside the file", entries, err)
	}
}

func TestWriteFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	for _, content := range []string{"one", "", strings.Repeat("three", 1<<16)} {
		if err := WriteFile(path, text(content)); err != nil {
			t.Fatal(err)
		}
		onlyFile(t, path, content)
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(path, text("four")); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("got %v, %v, want the permissions of the file before", info.Mode(), err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(path, text("five")); err != nil {
		t.Fatal(err)
	}
	plain := filepath.Join(t.TempDir(), "plain")
	if err := os.WriteFile(plain, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	got, _ := os.Stat(path)
	want, _ := os.Stat(plain)
	if got.Mode() != want.Mode() {
		t.Errorf("got permissions %v, want those of any new file, %v", got.Mode(), want.Mode())
	}
}

// Whatever fails, the old file is whole and nothing is left beside it.
func TestWriteFileFails(t *testing.T) {
	full := errors.New("no space left on device")
	path := filepath.Join(t.TempDir(), "file")
	if err := WriteFile(path, text("before")); err != nil {
		t.Fatal(err)
	}
	err := WriteFile(path, func(w io.Writer) error {
		if _, err := w.Write(make([]byte, 1<<20)); err != nil {
			return err
		}
		return full
	})
	if !errors.Is(err, full) {
		t.Errorf("got %v, want %v", err, full)
	}
	wantError(t, err, "write "+path+": ")
	onlyFile(t, path, "before")

	func() {
		defer func() { _ = recover() }()
		_ = WriteFile(path, func(w io.Writer) error { w.Write(make([]byte, 1<<20)); panic("in write") })
	}()
	onlyFile(t, path, "before")

	// A crash left temporary files of this process number behind.
	for range 3 {
		f, err := createTemp(filepath.Dir(path))
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
		defer os.Remove(f.Name())
	}
	if err := WriteFile(path, text("after")); err != nil {
		t.Error(err)
	}

	wantError(t, WriteFile(filepath.Dir(path), text("x")), "it is a folder; name a file in it")
	wantError(t, WriteFile(filepath.Join(path, "below"), text("x")), "write ")
	err = WriteFile(filepath.Join(filepath.Dir(path), "none", "x"), text("x"))
	wantError(t, err, "does the folder exist")
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want %v", err, fs.ErrNotExist)
	}
}

// The same through every function that writes.
func TestSaveFails(t *testing.T) {
	folder := t.TempDir()
	below := filepath.Join(folder, "file", "model")
	if err := os.WriteFile(filepath.Join(folder, "file"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	wantError(t, Save(below, smallModel(t)), "modelfile: save model: write "+below)
	wantError(t, SaveArray(below, []int{1}, []float32{1}), "modelfile: save array: write "+below)
	wantError(t, Save(folder, smallModel(t)), "it is a folder")
	_, err := Load(folder)
	wantError(t, err, "modelfile: load model: "+folder+" is a folder; name a file in it")
	_, err = Load(filepath.Join(folder, "none"))
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want %v", err, fs.ErrNotExist)
	}
	_, err = Load(filepath.Join(folder, "file"))
	wantError(t, err, "modelfile: load model "+filepath.Join(folder, "file")+": 0 bytes are too few for a safetensors file")
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) != 1 {
		t.Errorf("got %v, %v, want nothing left behind", entries, err)
	}
}
