package graph

import (
	"fmt"
	"math"

	"github.com/wdgnn/wdgnn/mat"
)

const (
	sinkhornTolerance = 1e-9   // how far a row or column sum may be from 1
	sinkhornRounds    = 10_000 // scalings of all rows and all columns before giving up
)

// Sinkhorn returns the weights that come from A itself, made doubly stochastic
// by scaling the rows and the columns of A + I in turn:
//
//	W = diag(r) (A + I) diag(c),   r and c positive
//
// Strong links get more weight. W is symmetric if the graph is undirected.
//
// A solution exists if every link of the graph lies on a cycle, as in any
// undirected graph; the links of a directed graph must not lead from one
// strongly connected component to another. It is an error if the sums are not
// within 1e-9 of 1 after 10,000 rounds, for that reason or because weights
// differ by many orders of magnitude.
func Sinkhorn(g *Graph) (*mat.CSR, error) {
	b := withDiagonal(g.adj,
		func(_, _ int, v float64) float64 { return v },
		func(int, float64) float64 { return 1 })
	bt := b
	if g.directed {
		bt = b.T()
	}
	n := g.Nodes()
	r, c, d, sums := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range c {
		c[i] = 1
	}
	for range sinkhornRounds {
		multiply(sums, b, c)
		invert(r, sums) // rows sum to 1
		multiply(sums, bt, r)
		invert(c, sums) // columns sum to 1
		left, right := r, c
		if !g.directed { // r and c agree up to a factor per component: share it out
			for i := range d {
				d[i] = math.Sqrt(r[i]) * math.Sqrt(c[i])
			}
			left, right = d, d
		}
		multiply(sums, b, right)
		if scaledToOne(left, sums) {
			w := mapEntries(b, func(i, j int, v float64) float64 { return v * (left[i] * right[j]) })
			return checked("mixing "+MixingSinkhorn.String(), w)
		}
	}
	return nil, fmt.Errorf("graph: mixing %v: sums of rows and columns are not 1 after %d rounds; "+
		"try %v, or weights closer to each other, or a strongly connected graph", MixingSinkhorn, sinkhornRounds, MixingMetropolis)
}

// invert writes 1/x[i] to dst[i].
func invert(dst, x []float64) {
	for i, v := range x {
		dst[i] = 1 / v
	}
}

// scaledToOne says whether every scale[i]·sums[i] is 1 within the tolerance.
func scaledToOne(scale, sums []float64) bool {
	for i, v := range sums {
		if !(math.Abs(scale[i]*v-1) <= sinkhornTolerance) { // NaN is not 1 either
			return false
		}
	}
	return true
}
