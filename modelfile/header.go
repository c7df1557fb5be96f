package modelfile

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
)

// maxHeader is the largest header of a safetensors file, in bytes.
const maxHeader = 100_000_000

// fileHeader is what precedes the values of a safetensors file.
type fileHeader struct {
	text    map[string]string
	tensors map[string]*fileTensor
	data    int64 // where the values begin
}

// fileTensor is one entry of a header.
type fileTensor struct {
	DType   string  `json:"dtype"`
	Shape   []int64 `json:"shape"`
	Offsets []int64 `json:"data_offsets"` // first byte and the one after the last, from where values begin

	name  string
	count int64 // elements
}

// dtypes are the element types that can be read, with their width in bytes.
var dtypes = map[string]int{"F32": 4, "F64": 8, "F16": 2, "BF16": 2}

// readHeader reads and checks the header of a file of size bytes. Afterwards
// every tensor has a known type, a shape whose size is that of its range of
// bytes, and the ranges cover the rest of the file once.
func readHeader(r io.ReaderAt, size int64) (*fileHeader, error) {
	var length [8]byte
	if size < 10 {
		return nil, fmt.Errorf("%d bytes are too few for a safetensors file", size)
	}
	if n, err := r.ReadAt(length[:], 0); n < len(length) {
		return nil, fmt.Errorf("length of the header: %w", noEOF(err))
	}
	n := binary.LittleEndian.Uint64(length[:])
	if n > uint64(size-8) || n > maxHeader {
		return nil, fmt.Errorf("its first 8 bytes announce a header of %d bytes, the file has %d: it is cut off or not a safetensors file",
			n, size)
	}
	text := make([]byte, n)
	if k, err := r.ReadAt(text, 8); k < len(text) {
		return nil, fmt.Errorf("header: %w", noEOF(err))
	}
	if n == 0 || text[0] != '{' {
		return nil, errors.New("its header does not begin with {: this is not a safetensors file")
	}
	h := &fileHeader{tensors: make(map[string]*fileTensor), data: 8 + int64(n)}
	if err := h.parse(text); err != nil {
		return nil, fmt.Errorf("header: %w", brief(err))
	}
	return h, h.check(size - h.data)
}

// parse reads the JSON text. It goes through the outer object key by key,
// because a map would hide names that occur twice.
func (h *fileHeader) parse(text []byte) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if _, err := d.Token(); err != nil { // {
		return err
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		name, _ := key.(string)
		if name == metadataKey {
			if h.text != nil {
				return fmt.Errorf("%s occurs twice", name)
			}
			h.text = make(map[string]string)
			if err := d.Decode(&h.text); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			continue
		}
		t := &fileTensor{name: name}
		if err := d.Decode(t); err != nil {
			return fmt.Errorf("tensor %.80q: %w", name, err)
		}
		if h.tensors[name] != nil {
			return fmt.Errorf("tensor %.80q occurs twice", name)
		}
		h.tensors[name] = t
	}
	if _, err := d.Token(); err != nil { // }
		return noEOF(err)
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("more text follows its closing }")
	}
	return nil
}

// check compares every tensor with the size of what follows the header.
func (h *fileHeader) check(size int64) error {
	order := make([]*fileTensor, 0, len(h.tensors))
	for _, t := range h.tensors {
		if err := t.check(size); err != nil {
			return fmt.Errorf("tensor %.80q: %w", t.name, err)
		}
		order = append(order, t)
	}
	slices.SortFunc(order, func(a, b *fileTensor) int {
		return cmp.Or(cmp.Compare(a.Offsets[0], b.Offsets[0]), cmp.Compare(a.Offsets[1], b.Offsets[1]), cmp.Compare(a.name, b.name))
	})
	end := int64(0)
	for _, t := range order {
		switch begin := t.Offsets[0]; {
		case begin < end:
			return fmt.Errorf("tensor %.80q begins at byte %d of the values, inside the tensor before it, which ends at %d", t.name, begin, end)
		case begin > end:
			return fmt.Errorf("bytes %d to %d of the values belong to no tensor", end, begin)
		}
		end = t.Offsets[1]
	}
	if end != size {
		return fmt.Errorf("bytes %d to %d of the values belong to no tensor", end, size)
	}
	return nil
}

// check compares type, shape and range of bytes with each other and with the
// size of all values.
func (t *fileTensor) check(size int64) error {
	width, ok := dtypes[t.DType]
	if !ok {
		return fmt.Errorf("values of type %.20q cannot be read; convert them to F32", t.DType)
	}
	if t.Shape == nil || len(t.Shape) > 8 || len(t.Offsets) != 2 {
		return errors.New("want a shape of at most 8 numbers and two data_offsets")
	}
	begin, end := t.Offsets[0], t.Offsets[1]
	if begin < 0 || end < begin {
		return fmt.Errorf("bytes %d to %d are not a range", begin, end)
	}
	if end > size {
		return fmt.Errorf("it ends at byte %d of the values, of which the file has %d: it is cut off", end, size)
	}
	t.count, ok = product(t.Shape)
	if !ok || t.count > math.MaxInt64/int64(width) || t.count*int64(width) != end-begin {
		return fmt.Errorf("shape %v of %s does not fill bytes %d to %d", t.Shape, t.DType, begin, end)
	}
	return nil
}

// product multiplies the numbers of a shape. It is false if one is negative or
// if they or their product, zeros left out, do not fit an int.
func product(shape []int64) (int64, bool) {
	p, zero := int64(1), false
	for _, n := range shape {
		switch {
		case n < 0 || n > math.MaxInt || n > 0 && p > math.MaxInt/n:
			return 0, false
		case n == 0:
			zero = true
		default:
			p *= n
		}
	}
	if zero {
		p = 0
	}
	return p, true
}

// brief shortens the message of an error that quotes what a file says.
func brief(err error) error {
	if text := err.Error(); len(text) > 300 {
		return fmt.Errorf("%.300s…", text)
	}
	return err
}
