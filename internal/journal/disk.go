package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Disk is a folder of files: what a journal needs of the world, small enough
// to be played by a disk that fails. Names have no path. Calls may come from
// two goroutines at once.
type Disk interface {
	// Names lists the files, in any order.
	Names() ([]string, error)

	ReadFile(name string) ([]byte, error)

	// Append opens a file for writing at its end. It makes the file if there
	// is none.
	Append(name string) (File, error)

	// Rename gives a file another name and replaces the one that had it.
	Rename(from, to string) error

	Remove(name string) error

	// Sync returns once files that were made, renamed and removed will be
	// found, or not found, after a crash.
	Sync() error
}

// File is a file that grows at its end.
type File interface {
	Write(p []byte) (int, error)
	Truncate(size int64) error

	// Sync returns once everything written will be found after a crash.
	Sync() error

	Close() error
}

// Dir is a folder of the operating system. It is locked: no other process can
// open it at the same time.
type Dir struct {
	path string
	lock *os.File
}

// ErrLocked says that another process has the folder open.
var ErrLocked = errors.New("another process uses it")

const lockName = "lock"

// OpenDir makes the folder, if need be, and locks it. What it makes is its
// owner's alone.
func OpenDir(path string) (*Dir, error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	lock, err := lockFile(filepath.Join(path, lockName))
	if err != nil {
		return nil, fmt.Errorf("journal: folder %s: %w", path, err)
	}
	return &Dir{path: path, lock: lock}, nil
}

// Close gives the lock back.
func (d *Dir) Close() error { return d.lock.Close() }

// Names implements [Disk]. The lock and folders are not listed.
func (d *Dir) Names() ([]string, error) {
	entries, err := os.ReadDir(d.path)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if e.Type().IsRegular() && e.Name() != lockName {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// ReadFile implements [Disk].
func (d *Dir) ReadFile(name string) ([]byte, error) { return os.ReadFile(filepath.Join(d.path, name)) }

// Append implements [Disk].
func (d *Dir) Append(name string) (File, error) {
	f, err := os.OpenFile(filepath.Join(d.path, name), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Rename implements [Disk].
func (d *Dir) Rename(from, to string) error {
	return os.Rename(filepath.Join(d.path, from), filepath.Join(d.path, to))
}

// Remove implements [Disk].
func (d *Dir) Remove(name string) error {
	if err := os.Remove(filepath.Join(d.path, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
