package graph

import (
	"math"
	"math/cmplx"

	gonum "gonum.org/v1/gonum/mat"

	"github.com/wdgnn/wdgnn/mat"
)

const (
	radiusTolerance = 1e-10 // relative width of the bounds that ends the iteration
	radiusSteps     = 50    // products with the matrix, per row, before it is factorised instead
)

// spectralRadius returns the largest absolute eigenvalue of a square matrix
// that need not be symmetric. With its nodes sorted by strongly connected
// component the matrix is block triangular, so its eigenvalues are those of
// the blocks.
func spectralRadius(a *mat.CSR) float64 {
	component, count := components(a)
	members := make([][]int, count)
	for i, c := range component {
		members[c] = append(members[c], i)
	}
	radius := 0.0
	for _, nodes := range members {
		radius = max(radius, blockRadius(block(a, nodes, component)))
	}
	return radius
}

// block returns the rows and columns of a that belong to one component, whose
// nodes are ascending.
func block(a *mat.CSR, nodes, component []int) *mat.CSR {
	index := make(map[int32]int32, len(nodes))
	for k, i := range nodes {
		index[int32(i)] = int32(k)
	}
	var arcs []arc
	for k, i := range nodes {
		col, val := a.Row(i)
		for e, j := range col {
			if component[j] == component[i] {
				arcs = append(arcs, arc{row: int32(k), col: index[j], val: val[e]})
			}
		}
	}
	return compress(len(nodes), arcs)
}

// blockRadius returns the largest absolute eigenvalue of a matrix whose nodes
// all reach each other, or that has one node.
func blockRadius(a *mat.CSR) float64 {
	if a.Rows == 1 {
		return math.Abs(float64(a.At(0, 0)))
	}
	negative := false
	for _, v := range a.Val {
		negative = negative || v < 0
	}
	if a.Rows > smallMatrix && !negative {
		if radius, ok := perronRoot(a); ok {
			return radius
		}
	}
	var eigen gonum.Eigen
	if !eigen.Factorize(gonum.NewDense(a.Rows, a.Cols, float64s(a)), gonum.EigenNone) {
		panic("graph: LargestEigenvalue: no eigenvalues; the matrix has entries that are not finite")
	}
	radius := 0.0
	for _, v := range eigen.Values(nil) {
		radius = max(radius, cmplx.Abs(v))
	}
	return radius
}

// perronRoot returns the largest eigenvalue of a non-negative matrix whose
// nodes all reach each other, by the power method on A + cI, which has no
// other eigenvalue of that size. For any positive x the ratios bound it on
// both sides:
//
//	min_i [A x]_i / x_i  ≤  λmax  ≤  max_i [A x]_i / x_i
//
// It gives up, and says so, where they approach each other too slowly.
func perronRoot(a *mat.CSR) (radius float64, ok bool) {
	x, y := make([]float64, a.Rows), make([]float64, a.Rows)
	for i := range x {
		x[i] = 1
	}
	for range radiusSteps * a.Rows {
		multiply(y, a, x)
		lo, hi := math.Inf(1), 0.0
		for i, v := range y {
			lo, hi = min(lo, v/x[i]), max(hi, v/x[i])
		}
		if hi-lo <= radiusTolerance*hi {
			return lo + float64((hi-lo)/2), true
		}
		addScaled(y, lo+float64((hi-lo)/2), x) // c is about λmax: ±λ and cycles of any length are told apart
		scale(y, 1/norm(y))
		x, y = y, x
	}
	return 0, false
}
