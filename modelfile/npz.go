package modelfile

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"strings"
)

// A compressed array may be this many bytes, or this many times as large as
// its compressed form, whichever is more.
const (
	freeInflation = 16 << 20
	maxInflation  = 128
)

// npz is an archive of .npy arrays.
type npz struct {
	names   []string // of its arrays, in the order of the archive
	members map[string]*zip.File
	size    int64
}

// openNpz reads the directory of an archive of size bytes.
func openNpz(r io.ReaderAt, size int64) (*npz, error) {
	files, err := zip.NewReader(r, size)
	if err != nil {
		return nil, fmt.Errorf("%w: not a .npz archive, or cut off; try numpy.savez", brief(err))
	}
	z := &npz{members: make(map[string]*zip.File), size: size}
	for _, f := range files.File {
		name, ok := strings.CutSuffix(f.Name, ".npy")
		if !ok {
			continue
		}
		if z.members[name] != nil {
			return nil, fmt.Errorf("the archive has two arrays called %.80q", name)
		}
		z.members[name] = f
		z.names = append(z.names, name)
	}
	if len(z.names) == 0 {
		return nil, errors.New("the archive has no .npy array; try numpy.savez")
	}
	return z, nil
}

// choose returns member, or the only array if member is empty.
func (z *npz) choose(member string) (string, error) {
	if z.members[member] != nil {
		return member, nil
	}
	list := z.names
	more := ""
	if len(list) > 8 {
		list, more = list[:8], ", …"
	}
	names := fmt.Sprintf("%.300s%s", strings.Join(list, ", "), more)
	if member != "" {
		return "", fmt.Errorf("the archive has no array %q; it has %s", member, names)
	}
	if len(z.names) > 1 {
		return "", fmt.Errorf("the archive has several arrays, %s; append a colon and a name, as in data.npz:%.80s", names, z.names[0])
	}
	return z.names[0], nil
}

// array reads one array. Sizes in the directory are compared with the size of
// the archive, and the array's own header with the directory, before values
// are read.
func (z *npz) array(name string) (*Array, error) {
	f := z.members[name]
	if f == nil {
		return nil, fmt.Errorf("the archive has no array %q", name)
	}
	packed, full := f.CompressedSize64, f.UncompressedSize64
	if packed > uint64(z.size) {
		return nil, fmt.Errorf("array %.80q: the archive announces %d bytes of its own %d: it is cut off or damaged", name, packed, z.size)
	}
	if full > freeInflation && full/maxInflation > packed {
		return nil, fmt.Errorf("array %.80q: %d bytes would grow to %d; save it without compression, with numpy.savez or numpy.save",
			name, packed, full)
	}
	r, err := f.Open()
	if err != nil {
		return nil, fmt.Errorf("array %.80q: %w; try numpy.savez", name, err)
	}
	defer r.Close()
	a, err := readNpy(r, int64(full), full <= packed)
	if err != nil {
		return nil, fmt.Errorf("array %.80q: %w", name, err)
	}
	a.name = name
	return a, nil
}
