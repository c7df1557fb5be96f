package modelfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/wdgnn/wdgnn/mat"
)

// metadataKey is the one name in a header that is not a tensor's.
const metadataKey = "__metadata__"

// tensor is a tensor to be written.
type tensor struct {
	name    string
	shape   []int
	values  mat.Dense
	precise []float64 // instead of values
}

// dtype returns the type of the tensor's numbers, and how many bytes they take.
func (t *tensor) dtype() (name string, bytes int) {
	if t.precise != nil {
		return "F64", 8 * len(t.precise)
	}
	return "F32", 4 * t.values.Rows * t.values.Cols
}

// Encode writes m to w in the format of a model file. The same model gives the
// same bytes. It refuses values that are not finite and names of Extra that no
// reader would accept.
func Encode(w io.Writer, m *Model) error {
	if m.Network == nil {
		return errors.New("the model has no network")
	}
	text, err := metadata(m.Network.Config, m.Meta)
	if err != nil {
		return err
	}
	tensors := own(m)
	shapes := make(map[string][]int, len(tensors))
	for _, t := range tensors {
		shapes[t.name] = t.shape
	}
	for _, name := range slices.Sorted(maps.Keys(m.Extra)) {
		t := tensor{name: name, shape: shapeOf(name, m.Extra[name].Rows, m.Extra[name].Cols), values: m.Extra[name]}
		if err := checkExtra(t, shapes); err != nil {
			return err
		}
		tensors = append(tensors, t)
	}
	precise, err := m.precise(shapes)
	if err != nil {
		return err
	}
	tensors = append(precise, tensors...) // wide numbers first, so that all begin at a multiple of their size
	for _, t := range tensors {
		if err := t.check(); err != nil {
			return err
		}
	}
	head := header(text, tensors)
	if len(head) > maxHeader {
		return fmt.Errorf("%d tensors need a header of %d bytes, more than the %d that readers accept", len(tensors), len(head), maxHeader)
	}
	if _, err := w.Write(head); err != nil {
		return err
	}
	for _, t := range tensors {
		if err := t.write(w); err != nil {
			return err
		}
	}
	return nil
}

// precise returns the tensors of float64; own has the shapes of the network's.
func (m *Model) precise(own map[string][]int) ([]tensor, error) {
	var tensors []tensor
	for _, name := range slices.Sorted(maps.Keys(m.Precise)) {
		x := m.Precise[name]
		if _, twice := m.Extra[name]; twice {
			return nil, fmt.Errorf("tensor %s is in both Extra and Precise", name)
		}
		if x.Rows < 0 || x.Cols < 0 || len(x.Data) != x.Rows*x.Cols {
			return nil, fmt.Errorf("tensor %s is %d×%d with %d numbers", name, x.Rows, x.Cols, len(x.Data))
		}
		t := tensor{name: name, shape: shapeOf(name, x.Rows, x.Cols), precise: x.Data}
		if err := checkExtra(t, own); err != nil {
			return nil, err
		}
		tensors = append(tensors, t)
	}
	return tensors, nil
}

// write writes the tensor's values.
func (t *tensor) write(w io.Writer) error {
	if t.precise != nil {
		return binary.Write(w, binary.LittleEndian, t.precise)
	}
	for i := range t.values.Rows {
		if err := writeFloats(w, t.values.Row(i)); err != nil {
			return err
		}
	}
	return nil
}

// own returns the tensors of the network, in the order of its parameters.
func own(m *Model) []tensor {
	p := &m.Network.Params
	tensors := make([]tensor, 0, len(p.Windows()))
	for _, w := range p.Windows() {
		values := mat.NewDense(w.Rows, w.Cols, p.Flat[w.Offset:w.Offset+w.Len()])
		tensors = append(tensors, tensor{name: w.Name, shape: shapeOf(w.Name, w.Rows, w.Cols), values: values})
	}
	return tensors
}

// shapeOf returns the shape under which the tensor is stored.
func shapeOf(name string, rows, cols int) []int {
	if rows == 1 && isVector(name) {
		return []int{cols}
	}
	return []int{rows, cols}
}

// checkExtra reports what is wrong with the name or shape of a tensor that is
// not the network's own; own has the shapes of those that are.
func checkExtra(t tensor, own map[string][]int) error {
	if !isExtra(t.name) {
		return fmt.Errorf("a further tensor is called %q; want online.… or node.<number>.…, words of a-z, 0-9, _ and -", t.name)
	}
	if t.values.Empty() && len(t.precise) == 0 {
		return fmt.Errorf("tensor %s is empty; leave it out", t.name)
	}
	if name, ok := ownName(t.name); ok {
		if want, ok := own[name]; ok && !slices.Equal(t.shape, want) {
			return fmt.Errorf("tensor %s has shape %v, %s has %v; they must agree", t.name, t.shape, name, want)
		}
	}
	return nil
}

// check reports the first value that is not finite.
func (t tensor) check() error {
	for i, v := range t.precise {
		if !mat.Finite(v) {
			return fmt.Errorf("tensor %s, value %d: %v; it is not worth keeping", t.name, i, v)
		}
	}
	for i := range t.values.Rows {
		for j, v := range t.values.Row(i) {
			if !mat.Finite(v) {
				return fmt.Errorf("tensor %s, row %d, column %d: %v; a model that diverged is not worth keeping, try a smaller step size",
					t.name, i, j, v)
			}
		}
	}
	return nil
}

// header returns the length and the JSON text that precede the values. Spaces
// at its end make the values start at a multiple of 8 bytes.
func header(text map[string]string, tensors []tensor) []byte {
	b := bytes.NewBuffer(make([]byte, 8, 1024))
	b.WriteString(`{"` + metadataKey + `":{`)
	for i, key := range slices.Sorted(maps.Keys(text)) {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(quote(key))
		b.WriteByte(':')
		b.Write(quote(text[key]))
	}
	b.WriteByte('}')
	begin := 0
	for _, t := range tensors {
		dtype, bytes := t.dtype()
		end := begin + bytes
		fmt.Fprintf(b, `,%s:{"dtype":"%s","shape":[%s],"data_offsets":[%d,%d]}`, quote(t.name), dtype, commas(t.shape), begin, end)
		begin = end
	}
	b.WriteByte('}')
	for b.Len()%8 != 0 {
		b.WriteByte(' ')
	}
	binary.LittleEndian.PutUint64(b.Bytes(), uint64(b.Len()-8))
	return b.Bytes()
}

// commas writes the numbers of a shape with commas between them.
func commas(shape []int) string {
	var b []byte
	for i, n := range shape {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(n), 10)
	}
	return string(b)
}

// writeFloats writes values as little-endian float32, a block at a time.
func writeFloats(w io.Writer, values []float32) error {
	var block [4096]byte
	for len(values) > 0 {
		n := min(len(values), len(block)/4)
		for i, v := range values[:n] {
			binary.LittleEndian.PutUint32(block[4*i:], math.Float32bits(v))
		}
		if _, err := w.Write(block[:4*n]); err != nil {
			return err
		}
		values = values[n:]
	}
	return nil
}
