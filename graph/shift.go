package graph

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/wdgnn/wdgnn/mat"
)

// Shift names a graph shift operator S, the matrix of eq. (1) that moves a
// signal one hop: [S X]_i reads x_i and the rows of the nodes that i hears.
// The zero value is ShiftAdjacency. A Shift is written as text in JSON.
type Shift int

// The shift operators. Isolated nodes have empty rows in all of them.
const (
	ShiftAdjacency           Shift = iota // "adjacency": A
	ShiftSpectral                         // "spectral": A / λmax
	ShiftSymmetric                        // "symmetric": D^-½ A D^-½
	ShiftLaplacian                        // "laplacian": L = D - A
	ShiftNormalizedLaplacian              // "normalized-laplacian": I - D^-½ A D^-½, zero at isolated nodes
	ShiftRowStochastic                    // "row-stochastic": D^-1 A
)

var shiftNames = []string{"adjacency", "spectral", "symmetric", "laplacian", "normalized-laplacian", "row-stochastic"}

// String returns the name that ParseShift reads.
func (s Shift) String() string { return nameOf("Shift", int(s), shiftNames) }

// ParseShift returns the operator with the given name.
func ParseShift(text string) (Shift, error) {
	s, err := parseName("shift", text, shiftNames)
	return Shift(s), err
}

// MarshalText returns the name of s.
func (s Shift) MarshalText() ([]byte, error) { return marshalName("shift", int(s), shiftNames) }

// Scale returns λmax of g where s divides by it, which no node knows by itself, and 0
// elsewhere.
func (s Shift) Scale(g *Graph) float64 {
	if s != ShiftSpectral {
		return 0
	}
	return LargestEigenvalue(g.adj)
}

// UnmarshalText sets s to the operator with the given name.
func (s *Shift) UnmarshalText(text []byte) error {
	parsed, err := ParseShift(string(text))
	if err == nil {
		*s = parsed
	}
	return err
}

// Local says whether a node can compute its row of S from what it and the
// nodes it hears know. That is so for all operators but ShiftSpectral, whose
// λmax depends on the whole graph. ShiftSymmetric and ShiftNormalizedLaplacian
// need one exchange first, in which nodes tell each other their weighted
// degrees.
func (s Shift) Local() bool { return s != ShiftSpectral }

// Of returns the operator S of g, N×N. It may share memory with the adjacency
// of g; neither must be changed.
//
// Where λmax = 0, in a graph without edges or a directed one without cycles,
// ShiftSpectral is the zero matrix. The degrees of a directed graph are those
// of its rows: what a node hears. ShiftSymmetric and
// ShiftNormalizedLaplacian of a directed graph are errors, and so is a value
// beyond the range of float32.
func (s Shift) Of(g *Graph) (*mat.CSR, error) {
	if g.directed && (s == ShiftSymmetric || s == ShiftNormalizedLaplacian) {
		return nil, fmt.Errorf("graph: shift %v of a directed graph: want A = Aᵀ; try %v", s, ShiftRowStochastic)
	}
	var values *mat.CSR
	switch s {
	case ShiftAdjacency:
		return g.adj, nil
	case ShiftSpectral:
		values = dividedBy(g.adj, LargestEigenvalue(g.adj))
	case ShiftSymmetric:
		inv := inverseRoots(g)
		values = mapEntries(g.adj, func(i, j int, v float64) float64 { return v * (inv[i] * inv[j]) })
	case ShiftLaplacian:
		values = withDiagonal(g.adj,
			func(i, j int, v float64) float64 { return -v },
			func(i int, _ float64) float64 { return g.WeightedDegree(i) })
	case ShiftNormalizedLaplacian:
		inv := inverseRoots(g)
		values = withDiagonal(g.adj,
			func(i, j int, v float64) float64 { return -v * (inv[i] * inv[j]) },
			func(i int, _ float64) float64 { return float64(min(g.Degree(i), 1)) })
	case ShiftRowStochastic:
		sum, row := 0.0, -1
		values = mapEntries(g.adj, func(i, j int, v float64) float64 {
			if i != row {
				sum, row = g.WeightedDegree(i), i
			}
			return v / sum
		})
	default:
		return nil, fmt.Errorf("graph: %v: no such shift; try %s", s, strings.Join(shiftNames, ", "))
	}
	return checked("shift "+s.String(), values)
}

// inverseRoots returns D_ii^-½, 0 for isolated nodes.
func inverseRoots(g *Graph) []float64 {
	inv := make([]float64, g.Nodes())
	for i := range inv {
		if d := g.WeightedDegree(i); d > 0 {
			inv[i] = 1 / math.Sqrt(d)
		}
	}
	return inv
}

// dividedBy returns A / λ, the matrix without entries if λ is 0.
func dividedBy(a *mat.CSR, lambda float64) *mat.CSR {
	if lambda == 0 {
		return &mat.CSR{Rows: a.Rows, Cols: a.Cols, RowPtr: make([]int, a.Rows+1)}
	}
	val := make([]float32, len(a.Val))
	last, quotient := float32(0), float32(0) // weights are often all alike
	for e, v := range a.Val {
		if v != last {
			last, quotient = v, float32(float64(v)/lambda)
		}
		val[e] = quotient
	}
	return &mat.CSR{Rows: a.Rows, Cols: a.Cols, RowPtr: a.RowPtr, Col: a.Col, Val: val}
}

// mapEntries returns the matrix with f(i, j, A_ij) in the places of A, whose
// row offsets and columns it shares. Entries are visited row by row.
func mapEntries(a *mat.CSR, f func(i, j int, v float64) float64) *mat.CSR {
	out := &mat.CSR{Rows: a.Rows, Cols: a.Cols, RowPtr: a.RowPtr, Col: a.Col, Val: make([]float32, len(a.Val))}
	for i := range a.Rows {
		for e := a.RowPtr[i]; e < a.RowPtr[i+1]; e++ {
			out.Val[e] = float32(f(i, int(a.Col[e]), float64(a.Val[e])))
		}
	}
	return out
}

// withDiagonal returns the matrix with off(i, j, A_ij) in the places of A off
// the diagonal and diag(i, A_ii) on it. A diagonal value 0 is not stored.
func withDiagonal(a *mat.CSR, off func(i, j int, v float64) float64, diag func(i int, v float64) float64) *mat.CSR {
	out := &mat.CSR{
		Rows: a.Rows, Cols: a.Cols,
		RowPtr: make([]int, 1, a.Rows+1),
		Col:    make([]int32, 0, a.NNZ()+a.Rows),
		Val:    make([]float32, 0, a.NNZ()+a.Rows),
	}
	put := func(j int32, v float64) { out.Col, out.Val = append(out.Col, j), append(out.Val, float32(v)) }
	for i := range a.Rows {
		col, val := a.Row(i)
		at, stored := slices.BinarySearch(col, int32(i))
		for e := range at {
			put(col[e], off(i, int(col[e]), float64(val[e])))
		}
		own := 0.0
		if stored {
			own = float64(val[at])
		}
		if d := diag(i, own); d != 0 {
			put(int32(i), d)
		}
		if stored {
			at++
		}
		for e := at; e < len(col); e++ {
			put(col[e], off(i, int(col[e]), float64(val[e])))
		}
		out.RowPtr = append(out.RowPtr, len(out.Col))
	}
	return out
}

// checked returns m, or an error if one of its values is not finite.
func checked(what string, m *mat.CSR) (*mat.CSR, error) {
	if _, err := mat.NewCSR(m.Rows, m.Cols, m.RowPtr, m.Col, m.Val); err != nil {
		return nil, fmt.Errorf("graph: %s: %w; scale the weights of the graph down", what, err)
	}
	return m, nil
}
