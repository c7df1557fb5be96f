//go:build !js

package dataset

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// mostMembers bounds the members of an archive.
const mostMembers = 1000

// place unpacks the archive into a folder beside dir, checks the content, and
// gives the folder its name. If anything fails nothing is left.
func (s Set) place(archive, dir string) (err error) {
	temp, err := os.MkdirTemp(filepath.Dir(dir), filepath.Base(dir)+".tmp-*")
	if err != nil {
		return fmt.Errorf("dataset: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(temp))
		}
	}()
	if err := os.Chmod(temp, 0o755); err != nil {
		return fmt.Errorf("dataset: %w", err)
	}
	if err := s.unpack(archive, temp); err != nil {
		return err
	}
	if err := s.check(temp); err != nil {
		return err
	}
	if err := os.Remove(dir); err != nil && !errors.Is(err, os.ErrNotExist) { // an empty folder
		return fmt.Errorf("dataset: %w", err)
	}
	if err := os.Rename(temp, dir); err != nil {
		return fmt.Errorf("dataset: %w", err)
	}
	return nil
}

// unpack writes the files of s to dir. Other members of the archive are passed
// over, but a member whose name leads out of a folder condemns the archive.
func (s Set) unpack(archive, dir string) error {
	z, err := zip.OpenReader(archive)
	if err != nil {
		return fmt.Errorf("dataset: %s is not a zip archive: %w", s.Archive, err)
	}
	defer z.Close()
	if len(z.File) > mostMembers {
		return fmt.Errorf("dataset: %s has %d members, want at most %d", s.Archive, len(z.File), mostMembers)
	}
	var found []string
	for _, member := range z.File {
		if strings.Contains(member.Name, `\`) || !filepath.IsLocal(filepath.FromSlash(member.Name)) {
			return fmt.Errorf("dataset: %s has a member %q, which leads out of its folder", s.Archive, member.Name)
		}
		for _, f := range s.files {
			if member.Name != path.Join(s.Folder, f.name) {
				continue
			}
			if slices.Contains(found, f.name) || !member.Mode().IsRegular() {
				return fmt.Errorf("dataset: %s: member %q is there twice or is no plain file", s.Archive, member.Name)
			}
			found = append(found, f.name)
			if err := f.extract(member, filepath.Join(dir, f.name)); err != nil {
				return fmt.Errorf("dataset: %s: %w", s.Archive, err)
			}
		}
	}
	for _, f := range s.need() {
		if !slices.Contains(found, f.name) {
			return fmt.Errorf("dataset: %s has no member %s", s.Archive, path.Join(s.Folder, f.name))
		}
	}
	return nil
}

// extract writes one member of an archive, whatever size it claims to have.
func (f file) extract(member *zip.File, to string) (err error) {
	if member.UncompressedSize64 > uint64(f.most) {
		return fmt.Errorf("member %s claims %d bytes, want at most %d", f.name, member.UncompressedSize64, f.most)
	}
	from, err := member.Open()
	if err != nil {
		return fmt.Errorf("member %s: %w", f.name, err)
	}
	defer from.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	n, err := io.Copy(out, io.LimitReader(from, f.most+1))
	if err != nil {
		return fmt.Errorf("member %s: %w", f.name, err)
	}
	if n > f.most {
		return fmt.Errorf("member %s has more than %d bytes", f.name, f.most)
	}
	return out.Sync()
}
