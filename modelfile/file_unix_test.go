//go:build unix

package modelfile

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
)

// A disk that fills up while a model is written: a process that may write four
// blocks per file stands for it.
func TestSaveOnFullDisk(t *testing.T) {
	if path := os.Getenv("MODELFILE_LIMITED"); path != "" {
		signal.Ignore(syscall.SIGXFSZ)
		m := smallModel(t)
		err := Save(path, m)
		if err == nil {
			err = SaveArray(path, []int{1 << 20}, make([]float32, 1<<20))
		}
		if !errors.Is(err, syscall.EFBIG) {
			fmt.Printf("got %v, want %v\n", err, syscall.EFBIG)
			os.Exit(1)
		}
		os.Exit(0) // at once: a report of coverage would not fit either
	}
	path := filepath.Join(t.TempDir(), "file")
	m := smallModel(t)
	if err := Save(path, m); err != nil {
		t.Fatal(err)
	}
	child := exec.Command("sh", "-c", `ulimit -f 4 && exec "$0" -test.run='^TestSaveOnFullDisk$' -test.count=1`, os.Args[0])
	child.Env = append(os.Environ(), "MODELFILE_LIMITED="+path)
	if out, err := child.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	onlyFile(t, path, string(encoded(t, m)))
}

// A folder without permission to write, and a pipe in place of a file.
func TestUnwritable(t *testing.T) {
	folder := t.TempDir()
	pipe := filepath.Join(folder, "pipe")
	if err := syscall.Mkfifo(pipe, 0o666); err != nil {
		t.Skipf("SKIPPED %s: this file system has no pipes: %v", t.Name(), err)
	}
	wantError(t, WriteFile(pipe, text("x")), "it is not a regular file")
	_, err := LoadArray(pipe)
	wantError(t, err, "is not a regular file; copy its content to one first")
	if os.Geteuid() == 0 {
		t.Log("the superuser may write anywhere: permissions are not tested")
		return
	}
	if err := os.Chmod(folder, 0o500); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(folder, 0o700)
	err = WriteFile(filepath.Join(folder, "x"), text("x"))
	wantError(t, err, "permission denied; does the folder exist, and may you write to it?")
}
