package keys

import (
	"os"
	"path/filepath"
	"runtime"
)

// publish writes files, by their paths, into a folder beside dir and then
// renames it to dir. A set that is there is moved out of the way if replace is
// true, else the rename fails.
func publish(dir string, files map[string][]byte, replace bool) error {
	parent := filepath.Dir(dir)
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return err
	}
	fresh, err := os.MkdirTemp(parent, "."+filepath.Base(dir)+"-") // mode 0700
	if err != nil {
		return err
	}
	defer os.RemoveAll(fresh) // what is left of it after a failure, and the set that was replaced
	next := filepath.Join(fresh, "next")
	folders := map[string]bool{next: true}
	for name, data := range files {
		path := filepath.Join(next, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := writeSecret(path, data); err != nil {
			return err
		}
		folders[filepath.Dir(path)] = true
	}
	for folder := range folders {
		if err := syncFolder(folder); err != nil {
			return err
		}
	}
	old := filepath.Join(fresh, "old")
	if replace {
		if err := os.Rename(dir, old); err != nil && !os.IsNotExist(err) {
			return err
		}
	} else {
		_ = os.Remove(dir) // only if it is empty
	}
	if err := os.Rename(next, dir); err != nil {
		_ = os.Rename(old, dir) // as it was
		return err
	}
	return syncFolder(parent)
}

// writeSecret writes a file that only its owner can read.
func writeSecret(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Write(data); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	return f.Close()
}

// syncFolder returns once names in a folder will be found after a crash.
// Windows has no call for it and journals names itself.
func syncFolder(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}
