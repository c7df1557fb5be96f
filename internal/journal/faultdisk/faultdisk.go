// Package faultdisk is a disk in memory that fails as real ones do: for tests
// of whatever must survive that.
package faultdisk

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/wdgnn/wdgnn/internal/journal"
)

// ErrFull says that the disk is full.
var ErrFull = errors.New("no space left on device")

// Op is something asked of a disk.
type Op struct {
	Kind string // "append", "write", "truncate", "sync", "close", "rename", "remove", "sync folder"
	Name string // of the file
	Size int    // bytes to write
}

// Disk implements [journal.Disk]. What was not synced is lost, wholly or in
// part, in a [Disk.Crash]. It is safe for concurrent use.
type Disk struct {
	mutex sync.Mutex
	now   map[string]*file // names as programs see them
	kept  map[string]*file // names that a crash leaves
	fault func(Op) error
	room  int  // bytes that can still be written; negative means no limit
	dead  bool // power is off
}

// file is the content of a file.
type file struct {
	data []byte // as programs see it
	kept []byte // as a crash leaves it
	lost []span // parts that a failed sync forgot: later ones do not write them
}

type span struct{ from, to int }

// New returns an empty disk without faults.
func New() *Disk {
	return &Disk{now: map[string]*file{}, kept: map[string]*file{}, room: -1}
}

// Fail has every operation ask fault first; the operation fails with what it
// returns. Nil means no faults. A sync that fails never writes what it should
// have written, even if a later one succeeds.
func (d *Disk) Fail(fault func(Op) error) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.fault = fault
}

// SetRoom lets that many more bytes be written; a negative number means any.
func (d *Disk) SetRoom(bytes int) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.room = bytes
}

// ErrPower says that the disk has no power.
var ErrPower = errors.New("the power is off")

// Crash returns the disk as it is found after a loss of power: what was synced,
// and of the rest, a random part. With a nil rng nothing of it is left. The
// disk itself is without power from then on.
func (d *Disk) Crash(rng *rand.Rand) *Disk {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.dead = true
	after := New()
	for name, f := range d.names(rng) {
		content := f.afterCrash(rng)
		g := &file{data: content, kept: slices.Clone(content)}
		after.now[name], after.kept[name] = g, g
	}
	return after
}

// names returns the folder as it is found: every name that was not synced may
// be there in its old or its new meaning.
func (d *Disk) names(rng *rand.Rand) map[string]*file {
	found := map[string]*file{}
	for name, f := range d.kept {
		found[name] = f
	}
	if rng == nil {
		return found
	}
	for name, f := range d.now {
		if d.kept[name] != f && rng.IntN(2) == 0 {
			found[name] = f
		}
	}
	for name := range d.kept {
		if _, ok := d.now[name]; !ok && rng.IntN(2) == 0 {
			delete(found, name)
		}
	}
	return found
}

// afterCrash returns the content as it is found.
func (f *file) afterCrash(rng *rand.Rand) []byte {
	if rng == nil || slices.Equal(f.kept, f.data) {
		return slices.Clone(f.kept)
	}
	if len(f.data) <= len(f.kept) {
		return slices.Clone(f.kept)
	}
	content := slices.Clone(f.data[:len(f.kept)+rng.IntN(len(f.data)-len(f.kept)+1)])
	copy(content, f.kept)
	const block = 64 // written in any order
	for at := len(f.kept); at < len(content); at += block {
		if rng.IntN(3) == 0 {
			clear(content[at:min(at+block, len(content))])
		}
	}
	return content
}

// do runs one operation.
func (d *Disk) do(op Op, work func() error) error {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if d.dead {
		return ErrPower
	}
	if d.fault != nil {
		if err := d.fault(op); err != nil {
			if f := d.now[op.Name]; op.Kind == "sync" && f != nil {
				f.lost = append(f.lost, span{len(f.kept), len(f.data)})
			}
			return fmt.Errorf("%s %s: %w", op.Kind, op.Name, err)
		}
	}
	return work()
}

// Names implements [journal.Disk].
func (d *Disk) Names() (names []string, err error) {
	err = d.do(Op{Kind: "names"}, func() error {
		for name := range d.now {
			names = append(names, name)
		}
		return nil
	})
	return names, err
}

// ReadFile implements [journal.Disk].
func (d *Disk) ReadFile(name string) (data []byte, err error) {
	err = d.do(Op{Kind: "read", Name: name}, func() error {
		f := d.now[name]
		if f == nil {
			return fs.ErrNotExist
		}
		data = slices.Clone(f.data)
		return nil
	})
	return data, err
}

// Damage changes one byte of a file, synced or not.
func (d *Disk) Damage(name string, at int) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	f := d.now[name]
	f.data[at] ^= 0xff
	if at < len(f.kept) {
		f.kept[at] ^= 0xff
	}
}

// Append implements [journal.Disk].
func (d *Disk) Append(name string) (journal.File, error) {
	var h *handle
	err := d.do(Op{Kind: "append", Name: name}, func() error {
		if d.now[name] == nil {
			d.now[name] = &file{}
		}
		h = &handle{disk: d, name: name, file: d.now[name]}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return h, nil
}

// Rename implements [journal.Disk].
func (d *Disk) Rename(from, to string) error {
	return d.do(Op{Kind: "rename", Name: from}, func() error {
		if d.now[from] == nil {
			return fs.ErrNotExist
		}
		d.now[to] = d.now[from]
		delete(d.now, from)
		return nil
	})
}

// Remove implements [journal.Disk].
func (d *Disk) Remove(name string) error {
	return d.do(Op{Kind: "remove", Name: name}, func() error {
		delete(d.now, name)
		return nil
	})
}

// Sync implements [journal.Disk].
func (d *Disk) Sync() error {
	return d.do(Op{Kind: "sync folder"}, func() error {
		clear(d.kept)
		maps.Copy(d.kept, d.now)
		return nil
	})
}

// handle is an open file.
type handle struct {
	disk *Disk
	name string
	file *file
}

func (h *handle) Write(p []byte) (n int, err error) {
	err = h.disk.do(Op{Kind: "write", Name: h.name, Size: len(p)}, func() error {
		n = len(p)
		full := h.disk.room >= 0 && n > h.disk.room
		if full {
			n = h.disk.room
		}
		if h.disk.room >= 0 {
			h.disk.room -= n
		}
		h.file.data = append(h.file.data, p[:n]...)
		if full {
			return ErrFull
		}
		return nil
	})
	return n, err
}

func (h *handle) Truncate(size int64) error {
	return h.disk.do(Op{Kind: "truncate", Name: h.name}, func() error {
		if h.disk.room >= 0 {
			h.disk.room += max(0, len(h.file.data)-int(size))
		}
		h.file.data = slices.Clone(h.file.data[:min(int(size), len(h.file.data))])
		h.file.lost = slices.DeleteFunc(h.file.lost, func(s span) bool { return s.from >= int(size) }) // to be written anew
		return nil
	})
}

func (h *handle) Sync() error {
	return h.disk.do(Op{Kind: "sync", Name: h.name}, func() error {
		f := h.file
		f.kept = slices.Clone(f.data)
		for _, s := range f.lost {
			if s.from < len(f.kept) {
				clear(f.kept[s.from:min(s.to, len(f.kept))])
			}
		}
		return nil
	})
}

func (h *handle) Close() error {
	return h.disk.do(Op{Kind: "close", Name: h.name}, func() error { return nil })
}
