package theory

import (
	"fmt"

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
		panic(fmt.Sprintf("theory: NewShift: %d×%d, want a square matrix", s.Rows, s.Cols))
	}
	out := &Shift{nodes: s.Rows, rowPtr: s.RowPtr, col: s.Col, val: make([]float64, len(s.Val))}
	for e, v := range s.Val {
		out.val[e] = float64(v)
	}
	return out
}

// Nodes returns N.
func (s *Shift) Nodes() int { return s.nodes }

// row returns the columns and values of row i.
func (s *Shift) row(i int) ([]int32, []float64) {
	return s.col[s.rowPtr[i]:s.rowPtr[i+1]], s.val[s.rowPtr[i]:s.rowPtr[i+1]]
}

// transposed returns Sᵀ.
func (s *Shift) transposed() *Shift {
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
		col, val := s.row(i)
		for e, j := range col {
			t.col[next[j]], t.val[next[j]] = int32(i), val[e]
			next[j]++
		}
	}
	return t
}

// dense returns S by rows.
func (s *Shift) dense() []float64 {
	out := make([]float64, s.nodes*s.nodes)
	for i := range s.nodes {
		col, val := s.row(i)
		for e, j := range col {
			out[i*s.nodes+int(j)] = val[e]
		}
	}
	return out
}

// asymmetry names a place where S differs from its transpose st, "" if there is
// none.
func asymmetry(s, st *Shift) string {
	for i := range s.nodes {
		col, val := s.row(i)
		other, back := st.row(i)
		for e := range max(len(col), len(other)) {
			switch {
			case e >= len(other) || e < len(col) && col[e] < other[e]:
				return fmt.Sprintf("entry (%d,%d) is %.4g and (%d,%d) is 0", i, col[e], val[e], col[e], i)
			case e >= len(col) || other[e] < col[e]:
				return fmt.Sprintf("entry (%d,%d) is %.4g and (%d,%d) is 0", other[e], i, back[e], i, other[e])
			case val[e] != back[e]:
				return fmt.Sprintf("entry (%d,%d) is %.7g and (%d,%d) is %.7g", i, col[e], val[e], col[e], i, back[e])
			}
		}
	}
	return ""
}

// between returns (1-t) S + t Ŝ.
func between(s, perturbed *Shift, t float64) *Shift {
	out := &Shift{nodes: s.nodes, rowPtr: []int{0}}
	for i := range s.nodes {
		a, av := s.row(i)
		b, bv := perturbed.row(i)
		for len(a) > 0 || len(b) > 0 {
			var j int32
			v := 0.0
			switch {
			case len(b) == 0 || len(a) > 0 && a[0] < b[0]:
				j, v = a[0], (1-t)*av[0]
				a, av = a[1:], av[1:]
			case len(a) == 0 || b[0] < a[0]:
				j, v = b[0], t*bv[0]
				b, bv = b[1:], bv[1:]
			default:
				j, v = a[0], av[0]+t*(bv[0]-av[0])
				a, av, b, bv = a[1:], av[1:], b[1:], bv[1:]
			}
			out.col, out.val = append(out.col, j), append(out.val, v)
		}
		out.rowPtr = append(out.rowPtr, len(out.col))
	}
	return out
}

// apply computes z = S x for x: N×cols by rows.
func (s *Shift) apply(z, x []float64, cols int) {
	clear(z)
	for i := range s.nodes {
		row := z[i*cols : (i+1)*cols]
		col, val := s.row(i)
		for e, j := range col {
			axpy(row, val[e], x[int(j)*cols:(int(j)+1)*cols])
		}
	}
}
