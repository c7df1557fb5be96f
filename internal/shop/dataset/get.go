//go:build !js

package dataset

import (
	"context"
	"crypto/md5"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
)

// Options say where a data set comes from and where it goes.
type Options struct {
	Dir      string         // folder to make; it may exist if it is empty
	Base     string         // address of the folder with the archive; empty means Base
	client   *http.Client   // nil means one with patience of its own
	Progress func(Progress) // called now and then while bytes arrive; nil for nobody
}

// Progress says how far a download is.
type Progress struct {
	Done  int64 // bytes on this machine
	Total int64 // bytes in all, -1 if the server does not say
	Began int64 // bytes that were there when this run began
}

// Result says what Get did.
type Result struct {
	Present bool   // the data were there before; nothing was downloaded
	Bytes   int64  // size of the archive
	Resumed int64  // bytes of it that an earlier run had left
	MD5     string // published checksum, which the archive has; empty if none is published
}

// Get downloads s and makes the folder o.Dir with its files, whole or not at
// all. What arrived of the archive is kept beside the folder, as
// o.Dir + ".zip.part", until everything is in place, so that after a cut
// connection or a cancelled context the next Get goes on where it stopped.
//
// Checked are: the size that the server states, the checksum that is published
// beside the archive, names and sizes of members, and that the unpacked content
// has the counts and the fingerprint of s.
func (s Set) Get(ctx context.Context, o Options) (Result, error) {
	o.Dir = filepath.Clean(o.Dir)
	if name := filepath.Base(o.Dir); name == "." || name == ".." || name == string(filepath.Separator) {
		return Result{}, &Problem{fmt.Errorf("dataset: %s is not the name of a folder to make", o.Dir), "--out " + s.Name}
	}
	if present, err := s.present(o.Dir); present || err != nil {
		return Result{Present: present}, err
	}
	d, err := newDownload(s, o)
	if err != nil {
		return Result{}, err
	}
	if err := os.MkdirAll(filepath.Dir(o.Dir), 0o755); err != nil {
		return Result{}, &Problem{fmt.Errorf("dataset: %w", err), "--out with a folder that you may write to"}
	}
	sum, err := d.checksum(ctx)
	if err != nil {
		return Result{}, err
	}
	if err := d.archive(ctx); err != nil {
		return Result{}, err
	}
	err = matches(d.part, sum)
	if err != nil && d.began > 0 { // the rest does not belong to what an earlier run left
		if err := d.restart(ctx); err != nil {
			return Result{}, err
		}
		err = matches(d.part, sum)
	}
	if err != nil {
		return Result{}, d.refuse(err)
	}
	if err := s.place(d.part, o.Dir); err != nil {
		return Result{}, d.refuse(err)
	}
	if err := os.Remove(d.part); err != nil {
		return Result{}, fmt.Errorf("dataset: the data are in place, but: %w", err)
	}
	return Result{Bytes: d.done, Resumed: d.began, MD5: sum}, nil
}

// present says whether dir holds s already. Any other content is a problem.
func (s Set) present(dir string) (bool, error) {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, &Problem{fmt.Errorf("dataset: %w", err), "--out with another folder"}
	case len(entries) == 0:
		return false, nil
	}
	if err := s.check(dir); err != nil {
		return false, &Problem{
			fmt.Errorf("dataset: the folder %s is not empty and does not hold %s: %w", dir, s.Name, err),
			"--out with another folder, or remove this one",
		}
	}
	return true, nil
}

// refuse removes an archive that cannot be used, unless the trouble is with
// this machine's disk. It returns the problem.
func (d *download) refuse(err error) error {
	var path *fs.PathError
	var link *os.LinkError
	if errors.As(err, &path) || errors.As(err, &link) {
		return &Problem{err, "--out with a folder that you may write to and that has room"}
	}
	if removed := os.Remove(d.part); removed != nil {
		err = errors.Join(err, removed)
	}
	return &Problem{err, "once more, which begins anew; if that does not help, another --url"}
}

// matches reports an archive with another MD5 than sum; an empty sum matches.
func matches(path, sum string) error {
	if sum == "" {
		return nil
	}
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("dataset: %w", err)
	}
	defer file.Close()
	hash := md5.New()
	if _, err := io.Copy(hash, file); err != nil {
		return fmt.Errorf("dataset: %w", err)
	}
	if got := hex.EncodeToString(hash.Sum(nil)); got != sum {
		return fmt.Errorf("dataset: the archive arrived with MD5 %s, but %s is published", got, sum)
	}
	return nil
}

// newDownload prepares the download of s.
func newDownload(s Set, o Options) (*download, error) {
	base := o.Base
	if base == "" {
		base = Base
	}
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, &Problem{fmt.Errorf("dataset: %q is not the address of a folder on the web", base), "--url " + Base}
	}
	d := &download{set: s, dir: o.Dir, url: u.JoinPath(s.Archive), part: o.Dir + ".zip.part", client: o.client, progress: o.Progress}
	if d.client == nil {
		d.client = patient()
	}
	if d.progress == nil {
		d.progress = func(Progress) {}
	}
	return d, nil
}
