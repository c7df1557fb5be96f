package agent

import (
	"math"

	"github.com/wdgnn/wdgnn/graph"
)

// neighbor is a link of the current step.
type neighbor struct {
	Link
	heard  bool    // its message of exchange 0 is in
	lost   bool    // it was given up in this step
	links  uint32  // neighbours that it hears
	degree float64 // its weighted degree
}

// shiftRow computes the node's row of S over the links that are alive: places
// among own and neighbours in ascending order of nodes, with their values. The
// arithmetic is that of package graph, to the same bits.
//
// What a lost link changes follows from what each operator promises. A
// row-stochastic row is a mean, and stays one: of those who were heard. In the
// others weights and degrees are those of the graph that the world named, and a
// lost link is a term less. Degrees of neighbours come with their first message:
// of one who was not heard then, but is later in the same step, the degree is
// not known, and where the row needs it the weight is 0.
func (n *Node) shiftRow() {
	n.scratch.col, n.scratch.val = n.scratch.col[:0], n.scratch.val[:0]
	put := func(place int, v float64) {
		n.scratch.col, n.scratch.val = append(n.scratch.col, int32(place)), append(n.scratch.val, float32(v))
	}
	own := inverseRoot(n.degree)
	alive := 0.0
	for k, nb := range n.links {
		if n.alive(k) {
			alive += float64(nb.Weight)
		}
	}
	diagonal := func() {
		switch {
		case n.plan.Operator == graph.ShiftLaplacian && n.degree != 0:
			put(n.self, n.degree)
		case n.plan.Operator == graph.ShiftNormalizedLaplacian && len(n.links) > 0:
			put(n.self, 1)
		}
	}
	for k := range n.links {
		if k == n.self {
			diagonal()
		}
		nb := &n.links[k]
		if !n.alive(k) {
			continue
		}
		place, a := k, float64(nb.Weight)
		if k >= n.self {
			place++
		}
		switch n.plan.Operator {
		case graph.ShiftRowStochastic:
			put(place, a/alive)
		case graph.ShiftSymmetric:
			put(place, a*(own*inverseRoot(trusted(nb.degree, a))))
		case graph.ShiftLaplacian:
			put(place, -a)
		case graph.ShiftNormalizedLaplacian:
			put(place, -a*(own*inverseRoot(trusted(nb.degree, a))))
		case graph.ShiftSpectral:
			put(place, a/n.plan.Scale)
		default:
			put(place, a)
		}
	}
	if n.self == len(n.links) {
		diagonal()
	}
}

// alive says whether a link takes part in the present exchange.
func (n *Node) alive(k int) bool { return !n.links[k].lost && n.inbox[n.exchange].got[k] }

func inverseRoot(d float64) float64 {
	if d > 0 {
		return 1 / math.Sqrt(d)
	}
	return 0
}

// mixingRow computes the node's row of W, the Metropolis weights of
// the links whose parameters came, and returns the node's own place in it. What
// others would have had stays at home:
//
//	W_ij = 1/(1 + max(links of i, links of j))      W_ii = 1 - Σ_j W_ij over those heard
//
// Both ends of a link compute the same weight from the numbers of links that the
// step began with, which is why messages carry them, and why a message that is
// lost elsewhere does not change it. W is then symmetric, its columns sum to 1
// like its rows, and mixing keeps the mean of all parameters. If a message is
// lost in one direction, the row of the node that missed it still sums to 1: the
// node keeps more of its own and never invents anything. The columns of that step
// do not, and the mean moves; doc/deviations.md says so, one_way_loss.txt how much.
func (n *Node) mixingRow() (self int) {
	n.scratch.rows, n.scratch.weights = n.scratch.rows[:0], n.scratch.weights[:0]
	rest := 1.0
	self = -1
	put := func(place int, w float32) {
		n.scratch.rows, n.scratch.weights = append(n.scratch.rows, int32(place)), append(n.scratch.weights, w)
	}
	for k := range n.links {
		if k == n.self {
			self = len(n.scratch.rows)
			put(k, 0)
		}
		nb := &n.links[k]
		if !nb.heard {
			continue
		}
		w := float32(1 / float64(1+max(len(n.links), int(nb.links))))
		rest -= float64(w)
		place := k
		if k >= n.self {
			place++
		}
		put(place, w)
	}
	if self < 0 {
		self = len(n.scratch.rows)
		put(n.self, 0)
	}
	n.scratch.weights[self] = float32(rest)
	return self
}
