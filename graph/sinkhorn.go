package graph

import (
	"fmt"
	"math"

	"github.com/wdgnn/wdgnn/mat"
)

const (
	sinkhornTolerance = 1e-9   // how far a row or column sum may be from 1
	sinkhornRounds    = 10_000 // scalings of all rows and columns before giving up
)

// Sinkhorn returns the weights that come from A itself, made doubly stochastic
// by scaling the rows and the columns of A + I in turn until all sum to 1:
//
//	W = diag(r) (A + I) diag(c),   r and c positive
//
// Strong links get more weight. In an undirected graph each round divides row
// i and column i by the square root of their common sum, so r = c and W is
// symmetric.
//
// A solution exists if every link of the graph lies on a cycle, as in any
// undirected graph; the links of a directed graph must not lead from one
// strongly connected component to another. It is an error if the sums are not
// within 1e-9 of 1 after 10,000 rounds, for that reason or because weights
// differ by orders of magnitude.
func Sinkhorn(g *Graph) (*mat.CSR, error) {
	b := withDiagonal(g.adj,
		func(_, _ int, v float64) float64 { return v },
		func(int, float64) float64 { return 1 })
	var r, c []float64
	var ok bool
	if g.directed {
		r, c, ok = scaleInTurn(b)
	} else {
		r, ok = scaleTogether(b)
		c = r
	}
	if !ok {
		return nil, fmt.Errorf("graph: mixing %v: sums of rows and columns are not 1 after %d rounds; try %v of an undirected graph, "+
			"weights closer to each other, or a strongly connected graph", MixingSinkhorn, sinkhornRounds, MixingMetropolis)
	}
	w := mapEntries(b, func(i, j int, v float64) float64 { return v * (r[i] * c[j]) })
	return checked("mixing "+MixingSinkhorn.String(), w)
}

// scaleInTurn finds r and c such that diag(r) B diag(c) is doubly stochastic.
func scaleInTurn(b *mat.CSR) (r, c []float64, ok bool) {
	n, bt := b.Rows, b.T()
	r, c = ones(n), ones(n)
	sums := make([]float64, n)
	for range sinkhornRounds {
		multiply(sums, bt, r)
		for j, s := range sums {
			c[j] = 1 / s // columns sum to 1
		}
		multiply(sums, b, c)
		if sumToOne(sums, r) { // rows too
			return r, c, true
		}
		for i, s := range sums {
			r[i] = 1 / s
		}
	}
	return r, c, false
}

// scaleTogether finds d such that diag(d) B diag(d) is doubly stochastic, for
// a symmetric B.
func scaleTogether(b *mat.CSR) (d []float64, ok bool) {
	d = ones(b.Rows)
	sums := make([]float64, b.Rows)
	for range sinkhornRounds {
		multiply(sums, b, d)
		if sumToOne(sums, d) {
			return d, true
		}
		for i, s := range sums {
			d[i] = math.Sqrt(d[i] / s)
		}
	}
	return d, false
}

// sumToOne says whether every scale[i]·sums[i] is 1 within the tolerance.
func sumToOne(sums, scale []float64) bool {
	for i, s := range sums {
		if !(math.Abs(float64(scale[i]*s)-1) <= sinkhornTolerance) { // NaN is not 1 either
			return false
		}
	}
	return true
}

func ones(n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = 1
	}
	return x
}
