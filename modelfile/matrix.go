package modelfile

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"strings"
)

// readArchive reads a sparse matrix of SciPy, or a square array if the archive
// holds no sparse matrix or member names an array.
func (l *links) readArchive(r io.ReaderAt, size int64, member string) error {
	z, err := openNpz(r, size)
	if err != nil {
		return err
	}
	if member == "" && z.members["format"] != nil {
		return l.readSparse(z)
	}
	if member, err = z.choose(member); err != nil {
		return fmt.Errorf("%w; a sparse matrix is saved by scipy.sparse.save_npz", err)
	}
	a, err := z.array(member)
	if err != nil {
		return err
	}
	if err := a.numeric(); err != nil {
		return err
	}
	return l.readDense(a)
}

// readDense takes links from a square matrix.
func (l *links) readDense(a *Array) error {
	if len(a.Shape) != 2 || a.Shape[0] != a.Shape[1] {
		return fmt.Errorf("shape %v; a graph is a square matrix with a row and a column per node", a.Shape)
	}
	n := a.Shape[0]
	if err := l.setNodes(int64(n)); err != nil {
		return err
	}
	l.backed = n
	for i := range a.Len() {
		if err := l.addEntry(i, int64(i/n), int64(i%n), a.float(i)); err != nil {
			return err
		}
	}
	return nil
}

// setNodes takes the number of nodes from a matrix of n rows and columns.
func (l *links) setNodes(n int64) error {
	if n < 0 || n > math.MaxInt32 {
		return fmt.Errorf("%d nodes; want at most %d", n, math.MaxInt32)
	}
	if want := l.options.Nodes; want > 0 && n != int64(want) {
		return fmt.Errorf("the matrix is for %d nodes, want %d", n, want)
	}
	l.matrix, l.nodes = true, int(n)
	return nil
}

// addEntry adds entry (row,col) of a matrix, the link col → row, unless it is 0.
func (l *links) addEntry(k int, row, col int64, weight float64) error {
	if weight == 0 {
		return nil
	}
	if uint64(row) >= uint64(l.nodes) || uint64(col) >= uint64(l.nodes) {
		return fmt.Errorf("entry %d, at (%d, %d), is outside a matrix of %d nodes", k+1, row, col, l.nodes)
	}
	return l.add(link{from: int32(col), to: int32(row), pos: k + 1}, weight)
}

// readSparse reads what scipy.sparse.save_npz writes.
func (l *links) readSparse(z *npz) error {
	format, err := z.text("format")
	if err != nil {
		return err
	}
	shape, err := z.integers("shape")
	if err != nil {
		return err
	}
	if len(shape) != 2 || shape[0] != shape[1] {
		return fmt.Errorf("shape %v; a graph is a square matrix with a row and a column per node", shape[:min(len(shape), 8)])
	}
	if err := l.setNodes(shape[0]); err != nil {
		return err
	}
	data, err := z.array("data")
	if err != nil {
		return err
	}
	if err := data.numeric(); err != nil {
		return fmt.Errorf("array data: %w", err)
	}
	switch format {
	case "coo":
		return l.readPairs(z, data)
	case "csr", "csc":
		return l.readCompressed(z, data, format == "csc")
	}
	return fmt.Errorf("sparse matrix of kind %.20q; convert it with .tocsr() before saving", format)
}

// readPairs reads the coordinates of a coo matrix.
func (l *links) readPairs(z *npz, data *Array) error {
	row, err := z.integers("row")
	if err != nil {
		return err
	}
	col, err := z.integers("col")
	if err != nil {
		return err
	}
	if len(row) != data.Len() || len(col) != data.Len() {
		return fmt.Errorf("row, col and data have %d, %d and %d values; they must agree", len(row), len(col), data.Len())
	}
	for k := range row {
		if err := l.addEntry(k, row[k], col[k], data.float(k)); err != nil {
			return err
		}
	}
	return nil
}

// readCompressed reads a csr matrix, or a csc matrix if columns is true.
func (l *links) readCompressed(z *npz, data *Array, columns bool) error {
	indices, err := z.integers("indices")
	if err != nil {
		return err
	}
	indptr, err := z.integers("indptr")
	if err != nil {
		return err
	}
	if len(indptr) != l.nodes+1 || indptr[0] != 0 || indptr[l.nodes] > int64(len(indices)) || len(indices) != data.Len() {
		return fmt.Errorf("indptr of %d values, indices of %d and data of %d do not make a matrix of %d nodes",
			len(indptr), len(indices), data.Len(), l.nodes)
	}
	l.backed = l.nodes
	for i := range l.nodes {
		if indptr[i+1] < indptr[i] || indptr[i+1] > int64(len(indices)) {
			return fmt.Errorf("indptr goes from %d to %d at row or column %d; it must ascend to %d", indptr[i], indptr[i+1], i, len(indices))
		}
		for k := indptr[i]; k < indptr[i+1]; k++ {
			row, col := int64(i), indices[k]
			if columns {
				row, col = col, row
			}
			if err := l.addEntry(int(k), row, col, data.float(int(k))); err != nil {
				return err
			}
		}
	}
	return nil
}

// integers reads an array of integers of any shape.
func (z *npz) integers(name string) ([]int64, error) {
	a, err := z.array(name)
	if err != nil {
		return nil, err
	}
	if err := a.numeric(); err != nil {
		return nil, fmt.Errorf("array %s: %w", name, err)
	}
	values := make([]int64, a.Len())
	for i := range values {
		var ok bool
		if values[i], ok = a.integer(i); !ok {
			return nil, fmt.Errorf("array %s: value %d is %v; want integers", name, i, a.float(i))
		}
	}
	return values, nil
}

// text reads an array that holds one word, in bytes or in UTF-32.
func (z *npz) text(name string) (string, error) {
	a, err := z.array(name)
	if err != nil {
		return "", err
	}
	if kind := a.header.kind; kind != 'S' && kind != 'U' || a.Len() != 1 {
		return "", fmt.Errorf("array %s: %d values of type %s; want one word", name, a.Len(), a.Type)
	}
	if a.header.kind == 'S' {
		return string(bytes.TrimRight(a.data, "\x00")), nil
	}
	var b strings.Builder
	for i := 0; i < len(a.data); i += 4 {
		if c := a.header.order.Uint32(a.data[i:]); c != 0 {
			b.WriteRune(rune(c))
		}
	}
	return b.String(), nil
}
