package journal

import (
	"errors"
	"os"
	"syscall"
)

const sharingViolation = syscall.Errno(32)

// lockFile opens the file at path so that nobody else can until it is closed
// or the process ends.
func lockFile(path string) (*os.File, error) {
	name, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		return nil, err
	}
	h, err := syscall.CreateFile(name, syscall.GENERIC_READ|syscall.GENERIC_WRITE,
		0, nil, syscall.OPEN_ALWAYS, syscall.FILE_ATTRIBUTE_NORMAL, 0)
	if errors.Is(err, sharingViolation) {
		return nil, ErrLocked
	}
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(h), path), nil
}

// Sync implements [Disk]. Windows journals names itself and has no call for it.
func (d *Dir) Sync() error { return nil }
