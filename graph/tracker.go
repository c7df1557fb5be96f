package graph

import (
	"math"

	"github.com/wdgnn/wdgnn/mat"
)

// Tracker finds the largest eigenvalue λmax of a sequence of undirected graphs
// of which each resembles the one before, such as those of moving robots at
// successive time steps. It starts from the eigenvector of the previous graph
// and allocates nothing once it has seen a graph of that size.
//
// The relative error of an eigenvalue is about 1e-9 and never more than 1e-5;
// the latter can occur when two separate parts of a graph have nearly the same
// λmax. Within that error it depends on the graphs seen before; where a run must repeat to the last bit,
// begin each trajectory with a zero Tracker, which is ready to use. A Tracker
// is not safe for concurrent use.
type Tracker struct {
	x, y []float64 // x: the latest eigenvector, positive, of length 1
}

const (
	trackerFresh = 1e-3 // share of the constant vector in the start
	trackerError = 1e-9 // relative error, estimated, that ends the iteration
	trackerBound = 1e-5 // relative distance to an upper bound that ends the iteration
	trackerSteps = 200  // products with A before LargestEigenvalue takes over
)

// Largest returns λmax of g, 0 for a graph without edges. It runs the power
// method on A + cI, c the largest weight (so A + I where there are no
// weights), whose eigenvalues are those of A plus c. The shift keeps -λmax,
// which bipartite graphs have, from being as large as λmax.
//
// With x the current vector of length 1 and y = (A + cI) x,
//
//	xᵀ y  ≤  λmax + c  ≤  max_i y_i / x_i
//
// The left side approaches λmax + c at twice the rate of x and is the result.
// The right side tells when x has settled on another eigenvector, as it would
// after the larger of two separate swarms became the smaller.
//
// Directed graphs, and graphs on which the method is slow, are handed to
// LargestEigenvalue.
func (k *Tracker) Largest(g *Graph) float64 {
	a := g.adj
	if a.NNZ() == 0 {
		return 0
	}
	if g.directed {
		return LargestEigenvalue(a)
	}
	k.start(a.Rows)
	high, plain := a.Val[0], true
	for _, v := range a.Val {
		plain = plain && v == 1
		if v > high {
			high = v
		}
	}
	c := float64(high)
	last, lastGrowth := 0.0, math.Inf(1)
	for range trackerSteps {
		value, upper := k.step(a, c, plain)
		growth := value - last
		if settled(value, upper, growth, lastGrowth, c) {
			return value - c
		}
		last, lastGrowth = value, growth
	}
	return LargestEigenvalue(a)
}

// Spectral returns ShiftSpectral of g, A / λmax, with the λmax of Largest. It
// shares the pattern of the adjacency of g; neither must be changed.
func (k *Tracker) Spectral(g *Graph) *mat.CSR { return dividedBy(g.adj, k.Largest(g)) }

// start prepares x for a graph of n nodes: the latest eigenvector with a share
// of the constant vector, so that no part of the graph is forgotten.
func (k *Tracker) start(n int) {
	if len(k.x) != n {
		k.x, k.y = make([]float64, n), make([]float64, n)
	}
	fresh := trackerFresh / math.Sqrt(float64(n))
	for i := range k.x {
		k.x[i] += fresh
	}
	scale(k.x, 1/norm(k.x))
}

// step moves x one product on and returns the bounds of λmax + c at the x that
// it began with. Plain says that there are no weights: all are 1.
func (k *Tracker) step(a *mat.CSR, c float64, plain bool) (value, upper float64) {
	x, y := k.x, k.y
	squares := 0.0
	for i, xi := range x {
		sum, lo, hi := float64(c*xi), a.RowPtr[i], a.RowPtr[i+1]
		col := a.Col[lo:hi]
		if plain {
			for ; len(col) >= 4; col = col[4:] { // a sum waits for itself alone, not for what it adds
				sum = sum + x[col[0]] + x[col[1]] + x[col[2]] + x[col[3]]
			}
			for _, j := range col {
				sum += x[j]
			}
		} else {
			for e, v := range a.Val[lo:hi] {
				sum += float64(float64(v) * x[col[e]])
			}
		}
		y[i] = sum
		value += float64(xi * sum)
		squares += float64(sum * sum)
		if sum > upper*xi {
			upper = sum / xi
		}
	}
	scale(y, 1/math.Sqrt(squares))
	k.x, k.y = y, x
	return value, upper
}

// settled says whether value is λmax + c within the tolerance. Growth shrinks
// by a constant factor per step in the end, so what is still to come is the
// rest of a geometric series.
func settled(value, upper, growth, lastGrowth, c float64) bool {
	allowed := trackerError * (value - c)
	if upper-value <= allowed {
		return true
	}
	if upper-value > trackerBound*(value-c) || growth > lastGrowth {
		return false
	}
	rest := growth * growth / (lastGrowth - growth)
	return growth <= allowed && !(rest > allowed)
}
