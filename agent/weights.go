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
func (n *Node) shiftRow() {
	n.col, n.val = n.col[:0], n.val[:0]
	put := func(place int, v float64) { n.col, n.val = append(n.col, int32(place)), append(n.val, float32(v)) }
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
			put(place, a*(own*inverseRoot(nb.degree)))
		case graph.ShiftLaplacian:
			put(place, -a)
		case graph.ShiftNormalizedLaplacian:
			put(place, -a*(own*inverseRoot(nb.degree)))
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

// mixingRow computes the node's row of (1-η)I + ηW, W the Metropolis weights of
// the links whose parameters came, and returns the node's own place in it. What
// others would have had stays at home.
func (n *Node) mixingRow() (self int) {
	n.rows, n.weights = n.rows[:0], n.weights[:0]
	rest := 1.0
	self = -1
	put := func(place int, w float32) { n.rows, n.weights = append(n.rows, int32(place)), append(n.weights, w) }
	for k := range n.links {
		if k == n.self {
			self = len(n.rows)
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
		self = len(n.rows)
		put(n.self, 0)
	}
	n.weights[self] = float32(rest)
	n.plan.Rule.Weights(n.weights, n.weights, self)
	return self
}
