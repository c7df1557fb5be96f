package graph

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wdgnn/wdgnn/mat"
)

// Mixing names a mixing matrix W, with which node i averages the parameters of
// the nodes that it hears in eq. (9):
//
//	𝒜_i ← W_ii 𝒜_i + Σ_{j∈𝒩_i} W_ij 𝒜_j - γ ∇J_i        W: N×N
//
// Every W is non-negative, has an entry on its diagonal in every row, is
// nonzero only there and on the links of the graph, and is doubly stochastic:
// its rows and columns sum to 1, so that mixing alone keeps the mean of the
// 𝒜_i. An isolated node has W_ii = 1. The zero value is MixingMetropolis. A
// Mixing is written as text in JSON.
//
// Deviation: Assumption 5 asks W_ij ≥ ε for all i and j, which no W on a sparse
// graph satisfies. Here it holds on the links and the diagonal.
type Mixing int

// The mixing matrices.
const (
	MixingMetropolis Mixing = iota // "metropolis": see Metropolis
	MixingMaxDegree                // "max-degree": see MaxDegree
	MixingSinkhorn                 // "sinkhorn": see Sinkhorn
	MixingIdentity                 // "identity": W = I, every node on its own
)

var mixingNames = []string{"metropolis", "max-degree", "sinkhorn", "identity"}

// String returns the name that ParseMixing reads.
func (m Mixing) String() string { return nameOf("Mixing", int(m), mixingNames) }

// ParseMixing returns the mixing matrix with the given name.
func ParseMixing(text string) (Mixing, error) {
	m, err := parseName("mixing", text, mixingNames)
	return Mixing(m), err
}

// MarshalText returns the name of m.
func (m Mixing) MarshalText() ([]byte, error) { return marshalName("mixing", int(m), mixingNames) }

// UnmarshalText sets m to the mixing matrix with the given name.
func (m *Mixing) UnmarshalText(text []byte) error {
	parsed, err := ParseMixing(string(text))
	if err == nil {
		*m = parsed
	}
	return err
}

// Local says whether a node can compute its row of W from what it and the
// nodes it hears know. MixingMetropolis needs one exchange of degrees first;
// MixingMaxDegree and MixingSinkhorn need the whole graph.
func (m Mixing) Local() bool { return m == MixingMetropolis || m == MixingIdentity }

// Of returns the mixing matrix W of g, N×N.
func (m Mixing) Of(g *Graph) (*mat.CSR, error) {
	switch m {
	case MixingMetropolis:
		return Metropolis(g)
	case MixingMaxDegree:
		return MaxDegree(g)
	case MixingSinkhorn:
		return Sinkhorn(g)
	case MixingIdentity:
		return identity(g.Nodes()), nil
	}
	return nil, fmt.Errorf("graph: %v: no such mixing; try %s", m, strings.Join(mixingNames, ", "))
}

// Metropolis returns the Metropolis-Hastings weights of an undirected graph:
//
//	W_ij = 1 / (1 + max(d_i, d_j))   for j ∈ 𝒩_i
//	W_ii = 1 - Σ_j W_ij
//
// W is symmetric. Degrees count neighbours; the weights of links play no part.
// A directed graph is an error: its W would not be doubly stochastic.
func Metropolis(g *Graph) (*mat.CSR, error) {
	if g.directed {
		return nil, fmt.Errorf("graph: mixing %v of a directed graph: rows would not match columns; try %v", MixingMetropolis, MixingSinkhorn)
	}
	share := make([]float32, g.Nodes())
	for i := range share {
		share[i] = float32(1 / float64(1+g.Degree(i)))
	}
	return averaging(g, share), nil
}

// MaxDegree returns the max-degree weights of an undirected graph:
//
//	W = I - L / (d_max + 1),   L the Laplacian that counts neighbours
//
// W is symmetric. The weights of links play no part. A directed graph is an
// error, as in Metropolis.
func MaxDegree(g *Graph) (*mat.CSR, error) {
	if g.directed {
		return nil, fmt.Errorf("graph: mixing %v of a directed graph: rows would not match columns; try %v", MixingMaxDegree, MixingSinkhorn)
	}
	return averaging(g, slices.Repeat([]float32{float32(1 / float64(1+g.MaxDegree()))}, g.Nodes())), nil
}

// averaging returns the W that is min(share_i, share_j) on the links of g. What
// the rounded links of a row leave of 1 is its diagonal, which must not be 0; so
// a row misses 1 by one rounding at most, whatever its degree.
func averaging(g *Graph, share []float32) *mat.CSR {
	a := g.adj
	out := &mat.CSR{Rows: a.Rows, Cols: a.Cols, RowPtr: make([]int, a.Rows+1)}
	out.Col, out.Val = make([]int32, a.NNZ()+a.Rows), make([]float32, a.NNZ()+a.Rows)
	from := 0
	for i, most := range share {
		heard := a.Col[a.RowPtr[i]:a.RowPtr[i+1]]
		col, val := out.Col[from:from+len(heard)+1], out.Val[from:from+len(heard)+1]
		rest, own := 1.0, 0
		for e, j := range heard {
			w := min(most, share[j])
			rest -= float64(w)
			if int(j) < i {
				own = e + 1
				col[e], val[e] = j, w
			} else {
				col[e+1], val[e+1] = j, w
			}
		}
		col[own], val[own] = int32(i), float32(rest)
		from += len(col)
		out.RowPtr[i+1] = from
	}
	return out
}

// identity returns I, n×n.
func identity(n int) *mat.CSR {
	return withDiagonal(&mat.CSR{Rows: n, Cols: n, RowPtr: make([]int, n+1)}, nil,
		func(int, float64) float64 { return 1 })
}

func mustSquare(op string, a *mat.CSR) {
	if a.Rows != a.Cols {
		panic(fmt.Sprintf("graph: %s: %d×%d is not square", op, a.Rows, a.Cols))
	}
}
