package modelfile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// WriteFile gives the file at path the content that write produces, whole or
// not at all. The content goes to a temporary file in the same folder, is
// flushed to the disk and renamed to path. If anything fails, write included,
// the temporary file is removed and what was at path before is still there.
//
// A file that is replaced keeps its permissions; a symbolic link at path is
// replaced, not followed. Folders, devices and pipes are refused.
func WriteFile(path string, write func(io.Writer) error) error {
	old, err := os.Stat(path)
	switch {
	case err == nil && old.IsDir():
		return fmt.Errorf("write %s: it is a folder; name a file in it", path)
	case err == nil && !old.Mode().IsRegular():
		return fmt.Errorf("write %s: it is not a regular file; name another", path)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("write %s: %w", path, err)
	}
	folder := filepath.Dir(path)
	f, err := createTemp(folder)
	if err != nil {
		return fmt.Errorf("write %s: %w; does the folder exist, and may you write to it?", path, err)
	}
	placed := false
	defer func() { // also if write panics
		if !placed {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	if err := fill(f, old, write); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	placed = true
	syncFolder(folder)
	return nil
}

// createTemp makes an empty file in folder with the permissions of any other
// new file. Names that a crash left behind are passed over.
func createTemp(folder string) (*os.File, error) {
	for i := 0; ; i++ {
		name := filepath.Join(folder, fmt.Sprintf(".wdgnn-%d-%d.tmp", os.Getpid(), i))
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
		if err == nil || !errors.Is(err, fs.ErrExist) || i == 9999 {
			return f, err
		}
	}
}

// fill writes the content of f, flushes it to the disk and closes f. A nil old
// means that no file is replaced.
func fill(f *os.File, old fs.FileInfo, write func(io.Writer) error) error {
	w := bufio.NewWriterSize(f, 1<<16)
	if err := write(w); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if old != nil {
		if err := f.Chmod(old.Mode().Perm()); err != nil {
			return err
		}
	}
	if err := f.Sync(); err != nil {
		return err
	}
	return f.Close()
}

// syncFolder makes a rename last through a power failure where the system can
// do that. Some file systems cannot, and on them the file is whole all the
// same, under its old content or its new, so a failure is not reported.
func syncFolder(folder string) {
	if d, err := os.Open(folder); err == nil {
		_ = d.Sync()
		d.Close()
	}
}

// open opens a regular file for reading and returns its size.
func open(path string) (*os.File, int64, error) {
	info, err := os.Stat(path) // before Open, which would wait for the other end of a pipe
	if err != nil {
		return nil, 0, err
	}
	if info.IsDir() {
		return nil, 0, fmt.Errorf("%s is a folder; name a file in it", path)
	}
	if !info.Mode().IsRegular() {
		return nil, 0, fmt.Errorf("%s is not a regular file; copy its content to one first", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	if info, err = f.Stat(); err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, info.Size(), nil
}
