package crown

import (
	"fmt"

	"github.com/wdgnn/wdgnn/internal/vector"
	"github.com/wdgnn/wdgnn/mat"
)

// Shift is a graph shift operator S in float64, N×N by sparse rows. It never
// changes once made.
type Shift struct {
	nodes  int
	rowPtr []int
	col    []int32
	val    []float64
}

// NewShift converts a shift, which must be square.
func NewShift(s *mat.CSR) *Shift {
	if s.Rows != s.Cols {
		panic(fmt.Sprintf("crown: NewShift: %d×%d, want a square matrix", s.Rows, s.Cols))
	}
	out := &Shift{nodes: s.Rows, rowPtr: s.RowPtr, col: s.Col, val: make([]float64, len(s.Val))}
	for e, v := range s.Val {
		out.val[e] = float64(v)
	}
	return out
}

// ShiftOf returns the shift whose row i has the values val[rowPtr[i]:rowPtr[i+1]] in
// the columns col[rowPtr[i]:rowPtr[i+1]], which ascend. It keeps all three.
func ShiftOf(rowPtr []int, col []int32, val []float64) *Shift {
	return &Shift{nodes: len(rowPtr) - 1, rowPtr: rowPtr, col: col, val: val}
}

// Nodes returns N.
func (s *Shift) Nodes() int { return s.nodes }

// row returns the columns and values of row i.
func (s *Shift) Row(i int) ([]int32, []float64) {
	return s.col[s.rowPtr[i]:s.rowPtr[i+1]], s.val[s.rowPtr[i]:s.rowPtr[i+1]]
}

// transposed returns Sᵀ.
func (s *Shift) Transposed() *Shift {
	t := &Shift{nodes: s.nodes, rowPtr: make([]int, s.nodes+1), col: make([]int32, len(s.col)), val: make([]float64, len(s.val))}
	for _, j := range s.col {
		t.rowPtr[j+1]++
	}
	for i := range s.nodes {
		t.rowPtr[i+1] += t.rowPtr[i]
	}
	next := make([]int, s.nodes)
	copy(next, t.rowPtr)
	for i := range s.nodes {
		col, val := s.Row(i)
		for e, j := range col {
			t.col[next[j]], t.val[next[j]] = int32(i), val[e]
			next[j]++
		}
	}
	return t
}

// dense returns S by rows.
func (s *Shift) Dense() []float64 {
	out := make([]float64, s.nodes*s.nodes)
	for i := range s.nodes {
		col, val := s.Row(i)
		for e, j := range col {
			out[i*s.nodes+int(j)] = val[e]
		}
	}
	return out
}

// apply computes z = S x for x: N×cols by rows.
func (s *Shift) Apply(z, x []float64, cols int) {
	clear(z)
	for i := range s.nodes {
		row := z[i*cols : (i+1)*cols]
		col, val := s.Row(i)
		for e, j := range col {
			vector.Axpy(row, val[e], x[int(j)*cols:(int(j)+1)*cols])
		}
	}
}
