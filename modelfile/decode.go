package modelfile

import (
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/mat"
)

// Decode reads a model file of size bytes. Sizes that the file claims are
// compared with size before anything is allocated for them.
func Decode(r io.ReaderAt, size int64) (*Model, error) {
	h, err := readHeader(r, size)
	if err != nil {
		return nil, err
	}
	config, meta, err := parseMetadata(h.text, len(h.tensors))
	if err != nil {
		return nil, err
	}
	extra, err := h.match(config)
	if err != nil {
		return nil, err
	}
	network, err := gnn.New(config)
	if err != nil {
		return nil, err
	}
	p := &network.Params
	for _, w := range p.Windows() {
		if err := h.read(p.Flat[w.Offset:w.Offset+w.Len()], r, w.Name); err != nil {
			return nil, err
		}
	}
	m := &Model{Network: network, Meta: meta}
	for _, name := range extra {
		t := h.tensors[name]
		if t.DType == "F64" {
			x := Float64s{Rows: t.rows(), Cols: int(t.Shape[len(t.Shape)-1]), Data: make([]float64, t.count)}
			if err := h.readPrecise(x.Data, r, name); err != nil {
				return nil, err
			}
			if m.Precise == nil {
				m.Precise = make(map[string]Float64s)
			}
			m.Precise[name] = x
			continue
		}
		d := mat.NewDense(t.rows(), int(t.Shape[len(t.Shape)-1]), nil)
		if err := h.read(d.Data, r, name); err != nil {
			return nil, err
		}
		if m.Extra == nil {
			m.Extra = make(map[string]mat.Dense, len(extra))
		}
		m.Extra[name] = d
	}
	return m, nil
}

// match compares the tensors of the file with those of the architecture c and
// returns the names of the others, which must be fit for Model.Extra.
func (h *fileHeader) match(c gnn.Config) (extra []string, err error) {
	own := make(map[string][]int)
	for name, shape := range layout(c) {
		t, ok := h.tensors[name]
		if !ok {
			return nil, fmt.Errorf("tensor %s is missing, the architecture of the file has it; the file has %s", name, someOf(h.tensors))
		}
		if !slices.EqualFunc(t.Shape, shape, func(a int64, b int) bool { return a == int64(b) }) {
			return nil, fmt.Errorf("tensor %s has shape %v, the architecture of the file wants %v", name, t.Shape, shape)
		}
		own[name] = shape
	}
	for _, name := range slices.Sorted(maps.Keys(h.tensors)) {
		if own[name] != nil {
			continue
		}
		t := h.tensors[name]
		if !isExtra(name) {
			return nil, fmt.Errorf("tensor %.80q belongs neither to the architecture of the file nor to online.… or node.<number>.…", name)
		}
		if len(t.Shape) != 1 && len(t.Shape) != 2 {
			return nil, fmt.Errorf("tensor %s has %d dimensions; want a vector or a matrix", name, len(t.Shape))
		}
		if t.count == 0 {
			return nil, fmt.Errorf("tensor %s is empty; leave it out", name)
		}
		if behind, ok := ownName(name); ok {
			if want, ok := own[behind]; ok && !slices.EqualFunc(t.Shape, want, func(a int64, b int) bool { return a == int64(b) }) {
				return nil, fmt.Errorf("tensor %s has shape %v, %s has %v; they must agree", name, t.Shape, behind, want)
			}
		}
		extra = append(extra, name)
	}
	return extra, nil
}

// rows returns the rows of a vector, which are one, or of a matrix.
func (t *fileTensor) rows() int {
	if len(t.Shape) == 1 {
		return 1
	}
	return int(t.Shape[0])
}

// someOf lists the first names of tensors.
func someOf(tensors map[string]*fileTensor) string {
	if len(tensors) == 0 {
		return "none"
	}
	names := slices.Sorted(maps.Keys(tensors))
	more := ""
	if len(names) > 8 {
		names, more = names[:8], fmt.Sprintf(" and %d more", len(names)-8)
	}
	for i, n := range names {
		names[i] = fmt.Sprintf("%.40q", n)
	}
	return strings.Join(names, ", ") + more
}

// read fills dst with the values of a tensor.
func (h *fileHeader) read(dst []float32, r io.ReaderAt, name string) error {
	return h.each(r, name, func(i int, v float64) error {
		dst[i] = float32(v)
		if math.IsInf(float64(dst[i]), 0) {
			return fmt.Errorf("tensor %s, value %d: %v does not fit a float32", name, i, v)
		}
		return nil
	})
}

// readPrecise is read for a tensor that keeps all bits.
func (h *fileHeader) readPrecise(dst []float64, r io.ReaderAt, name string) error {
	return h.each(r, name, func(i int, v float64) error {
		dst[i] = v
		return nil
	})
}

// each gives take the values of a tensor, which are finite, in order.
func (h *fileHeader) each(r io.ReaderAt, name string, take func(i int, v float64) error) error {
	t := h.tensors[name]
	width, count := dtypes[t.DType], int(t.count)
	block := make([]byte, min(1<<16, count*width))
	at := h.data + t.Offsets[0]
	for done := 0; done < count; {
		n := min(len(block)/width, count-done)
		if k, err := r.ReadAt(block[:n*width], at); k < n*width {
			return fmt.Errorf("tensor %s, at byte %d: %w", name, at, noEOF(err))
		}
		for i := range n {
			v := element(t.DType, block[i*width:])
			if !mat.Finite(v) {
				return fmt.Errorf("tensor %s, value %d: %v; a model that diverged cannot be used, train again with a smaller step size",
					name, done+i, v)
			}
			if err := take(done+i, v); err != nil {
				return err
			}
		}
		done += n
		at += int64(n * width)
	}
	return nil
}

// element decodes the number at the front of b.
func element(dtype string, b []byte) float64 {
	switch dtype {
	case "F64":
		return math.Float64frombits(binary.LittleEndian.Uint64(b))
	case "F16":
		return half(binary.LittleEndian.Uint16(b))
	case "BF16":
		return float64(math.Float32frombits(uint32(binary.LittleEndian.Uint16(b)) << 16))
	}
	return float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
}

// half returns the value of a 16-bit IEEE number: sign, 5 bits of exponent, 10
// of fraction.
func half(b uint16) float64 {
	sign := 1 - 2*float64(b>>15)
	exponent, fraction := int(b>>10&31), float64(b&1023)
	switch exponent {
	case 0:
		return sign * math.Ldexp(fraction, -24)
	case 31:
		if fraction != 0 {
			return math.NaN()
		}
		return math.Inf(int(sign))
	}
	return sign * math.Ldexp(1024+fraction, exponent-25)
}

// noEOF turns the end of the file into the error that it is here.
func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
