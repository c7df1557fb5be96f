package modelfile

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
)

// Array is an array of numbers from a .npy file. Elements are in C order: the
// last index changes first, whatever the order in the file. An Array never
// changes; any number of goroutines may use it.
type Array struct {
	Shape []int  // empty for a single number
	Type  string // element type in the file, as NumPy writes it: "<f4", "|u1", …

	name   string // file, for messages
	header *npyHeader
	data   []byte // elements in C order, bytes as in the file
	second []int  // what the second indices were in the file; nil for themselves
}

// LoadArray reads an array of floating-point numbers, integers or truth values.
// The path is that of a .npy file, of a .npz file that holds a single array, or
// that of a .npz file, a colon and the name of an array in it:
//
//	signals.npy   signals.npz   dataset.npz:signals
func LoadArray(path string) (*Array, error) {
	file, member := splitMember(path)
	f, size, err := open(file)
	if err != nil {
		return nil, fmt.Errorf("modelfile: load array: %w", err)
	}
	defer f.Close()
	a, err := readArray(f, size, strings.EqualFold(filepath.Ext(file), ".npz"), member)
	if err != nil {
		return nil, fmt.Errorf("modelfile: load array %s: %w", path, err)
	}
	a.name = path
	return a, nil
}

// LoadPart is LoadArray with some of the second indices alone, in the order in which
// second returns them for the shape of the whole; nil means all. What a .npy file holds
// of others is passed over, one first index at a time: an array may be larger than
// memory. Errors about elements name the indices of the whole.
func LoadPart(path string, second func(shape []int) ([]int, error)) (*Array, error) {
	if file, _ := splitMember(path); strings.EqualFold(filepath.Ext(file), ".npz") {
		return loadWhole(path, second)
	}
	f, size, err := open(path)
	if err != nil {
		return nil, fmt.Errorf("modelfile: load array: %w", err)
	}
	defer f.Close()
	r := io.NewSectionReader(f, 0, size)
	h, err := readNpyHeader(r, size)
	if err != nil || h.fortran || len(h.shape) < 2 {
		return loadWhole(path, second)
	}
	a := newArray(h)
	a.name = path
	if err := a.numeric(); err != nil {
		return nil, fmt.Errorf("modelfile: load array %s: %w", path, err)
	}
	list, err := second(a.Shape)
	if err != nil {
		return nil, err
	}
	if list == nil {
		return loadWhole(path, second)
	}
	if a, err = a.part(r, list); err != nil {
		return nil, fmt.Errorf("modelfile: load array %s: %w", path, err)
	}
	return a, nil
}

// loadWhole is LoadPart where all has to be read.
func loadWhole(path string, second func(shape []int) ([]int, error)) (*Array, error) {
	a, err := LoadArray(path)
	if err != nil {
		return nil, err
	}
	list, err := second(a.Shape)
	if list == nil || err != nil || len(a.Shape) < 2 {
		return a, err
	}
	return a.part(bytes.NewReader(a.data), list)
}

// part reads the elements of a, of which r holds all in C order, that have one of the
// given second indices.
func (a *Array) part(r io.Reader, second []int) (*Array, error) {
	inner := a.header.width
	for _, n := range a.Shape[2:] {
		inner *= n
	}
	some, header := *a, *a.header
	some.Shape, some.second = slices.Clone(a.Shape), second
	some.Shape[1] = len(second)
	header.count = int64(a.Shape[0] * len(second) * inner / a.header.width)
	some.header, some.data = &header, make([]byte, 0, a.Shape[0]*len(second)*inner)
	row := make([]byte, a.Shape[1]*inner)
	for range a.Shape[0] {
		if _, err := io.ReadFull(r, row); err != nil {
			return nil, noEOF(err)
		}
		for _, k := range second {
			some.data = append(some.data, row[k*inner:(k+1)*inner]...)
		}
	}
	return &some, nil
}

// splitMember takes a path such as "dataset.npz:signals" apart.
func splitMember(path string) (file, member string) {
	const mark = ".npz:"
	if i := strings.LastIndex(strings.ToLower(path), mark); i >= 0 && len(strings.ToLower(path)) == len(path) {
		return path[:i+len(mark)-1], path[i+len(mark):]
	}
	return path, ""
}

// readArray reads an array from the content of a file.
func readArray(r io.ReaderAt, size int64, zipped bool, member string) (*Array, error) {
	if !zipped {
		a, err := readNpy(io.NewSectionReader(r, 0, size), size, true)
		if err == nil {
			err = a.numeric()
		}
		return a, err
	}
	z, err := openNpz(r, size)
	if err != nil {
		return nil, err
	}
	if member, err = z.choose(member); err != nil {
		return nil, err
	}
	a, err := z.array(member)
	if err == nil {
		err = a.numeric()
	}
	return a, err
}

// numeric refuses text.
func (a *Array) numeric() error {
	if a.header.kind == 'S' || a.header.kind == 'U' {
		return fmt.Errorf("it holds text of type %s; want numbers", a.Type)
	}
	return nil
}

// readNpy reads a .npy file of size bytes from r, to its end. Unless present
// says that so many bytes are known to be there, memory grows with what has
// been read, not with what was announced.
func readNpy(r io.Reader, size int64, present bool) (*Array, error) {
	h, err := readNpyHeader(r, size)
	if err != nil {
		return nil, err
	}
	var data bytes.Buffer
	if present {
		data.Grow(int(size - h.length))
	}
	if n, err := io.CopyN(&data, r, size-h.length); err != nil {
		return nil, fmt.Errorf("at byte %d: %w", h.length+n, noEOF(err))
	}
	// An archive compares its checksum where an array ends.
	if n, err := io.Copy(io.Discard, io.LimitReader(r, 1)); n > 0 || err != nil {
		return nil, cmp.Or(err, errors.New("bytes follow the array"))
	}
	a := newArray(h)
	a.data = data.Bytes()
	if h.fortran {
		a.toC()
	}
	return a, nil
}

// newArray returns an array without elements.
func newArray(h *npyHeader) *Array {
	a := &Array{Shape: make([]int, len(h.shape)), Type: h.descr, header: h}
	for i, n := range h.shape {
		a.Shape[i] = int(n)
	}
	return a
}

// toC rearranges elements whose first index changes first.
func (a *Array) toC() {
	width, dims := a.header.width, len(a.Shape)
	if dims < 2 || a.Len() == 0 {
		return
	}
	strides := make([]int, dims)
	step := 1
	for d, n := range a.Shape {
		strides[d] = step
		step *= n
	}
	sorted := make([]byte, len(a.data))
	index := make([]int, dims)
	from := 0
	for i := range a.Len() {
		copy(sorted[i*width:(i+1)*width], a.data[from*width:])
		for d := dims - 1; d >= 0; d-- { // next index in C order
			index[d]++
			from += strides[d]
			if index[d] < a.Shape[d] {
				break
			}
			from -= index[d] * strides[d]
			index[d] = 0
		}
	}
	a.data = sorted
}

// Len returns the number of elements.
func (a *Array) Len() int { return int(a.header.count) }

// Float32s returns the elements in C order, rounded to float32. A value that is
// NaN, infinite or beyond the range of float32 is an error that names its index.
func (a *Array) Float32s() ([]float32, error) { return a.floats(false) }

// Float32sOrNaN is Float32s for an array in which NaN means that there is no
// number.
func (a *Array) Float32sOrNaN() ([]float32, error) { return a.floats(true) }

// AnyFloat32s is Float32s for an array that may hold NaN and infinity: intervals
// that are open on one side or both.
func (a *Array) AnyFloat32s() []float32 {
	values := make([]float32, a.Len())
	for i := range values {
		values[i] = float32(a.float(i))
	}
	return values
}

func (a *Array) floats(gaps bool) ([]float32, error) {
	values := make([]float32, a.Len())
	for i := range values {
		v := a.float(i)
		f := float32(v)
		if gaps && math.IsNaN(v) {
			values[i] = f
			continue
		}
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, a.complain(i, "%v; fill gaps with numbers before saving", v)
		}
		if math.IsInf(float64(f), 0) {
			return nil, a.complain(i, "%v does not fit a float32; scale the values down", v)
		}
		values[i] = f
	}
	return values, nil
}

// Int32s returns the elements in C order. A value that is not an integer, or
// beyond the range of int32, is an error that names its index.
func (a *Array) Int32s() ([]int32, error) {
	values := make([]int32, a.Len())
	for i := range values {
		v, ok := a.integer(i)
		if !ok || v != int64(int32(v)) {
			return nil, a.complain(i, "%v; want an integer of 32 bits", a.text(i))
		}
		values[i] = int32(v)
	}
	return values, nil
}

// complain returns an error about element i.
func (a *Array) complain(i int, format string, args ...any) error {
	index := make([]string, len(a.Shape))
	for d := len(a.Shape) - 1; d >= 0; d-- {
		at := i % a.Shape[d]
		if d == 1 && a.second != nil {
			at = a.second[at]
		}
		index[d] = fmt.Sprint(at)
		i /= a.Shape[d]
	}
	return fmt.Errorf("modelfile: %s: value at [%s] is "+format, append([]any{a.name, strings.Join(index, ", ")}, args...)...)
}

// text writes element i for a message.
func (a *Array) text(i int) string {
	if v, ok := a.integer(i); ok {
		return fmt.Sprint(v)
	}
	return fmt.Sprint(a.float(i))
}

// bits returns the bits of element i as an unsigned number.
func (a *Array) bits(i int) uint64 {
	h := a.header
	b := a.data[i*h.width : (i+1)*h.width]
	switch h.width {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(h.order.Uint16(b))
	case 4:
		return uint64(h.order.Uint32(b))
	}
	return h.order.Uint64(b)
}

// float returns element i.
func (a *Array) float(i int) float64 {
	if a.header.kind != 'f' {
		if v, ok := a.integer(i); ok {
			return float64(v)
		}
		return float64(a.bits(i)) // an unsigned number beyond int64
	}
	switch b := a.bits(i); a.header.width {
	case 2:
		return half(uint16(b))
	case 4:
		return float64(math.Float32frombits(uint32(b)))
	default:
		return math.Float64frombits(b)
	}
}

// integer returns element i if it is an integer that fits an int64.
func (a *Array) integer(i int) (int64, bool) {
	b := a.bits(i)
	switch a.header.kind {
	case 'i':
		unused := 64 - 8*a.header.width
		return int64(b<<unused) >> unused, true // sign of the top bit
	case 'u':
		return int64(b), b <= math.MaxInt64
	case 'b':
		return int64(min(b, 1)), true
	}
	v := a.float(i)
	if v != math.Trunc(v) || math.Abs(v) > 1<<53 { // NaN is not equal to itself
		return 0, false
	}
	return int64(v), true
}

// SaveArray writes values to a .npy file of little-endian float32 in C order,
// whole or not at all; see WriteFile. The number of values must be that of the
// shape.
func SaveArray(path string, shape []int, values []float32) error {
	err := WriteFile(path, func(w io.Writer) error { return writeNpy(w, shape, values) })
	if err != nil {
		return fmt.Errorf("modelfile: save array: %w", err)
	}
	return nil
}

// writeNpy writes version 1.0 of the format: values begin at a multiple of 64
// bytes, after a header padded with spaces.
func writeNpy(w io.Writer, shape []int, values []float32) error {
	wide := make([]int64, len(shape))
	for i, n := range shape {
		wide[i] = int64(n)
	}
	if n, ok := product(wide); !ok || n != int64(len(values)) || len(shape) > 32 {
		return fmt.Errorf("%d values do not have shape %s", len(values), tuple(wide))
	}
	text := fmt.Sprintf("{'descr': '<f4', 'fortran_order': False, 'shape': %s, }", tuple(wide))
	padding := 63 - (10+len(text))%64
	start := binary.LittleEndian.AppendUint16([]byte("\x93NUMPY\x01\x00"), uint16(len(text)+padding+1))
	if _, err := w.Write(append(start, text+strings.Repeat(" ", padding)+"\n"...)); err != nil {
		return err
	}
	return writeFloats(w, values)
}
