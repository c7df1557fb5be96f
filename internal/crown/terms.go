package crown

import (
	"fmt"
	"slices"

	"github.com/wdgnn/wdgnn/internal/vector"
)

// Term is what one node adds to its outputs for a shifted signal of its own, or of a
// neighbour whom it weights by itself:
//
//	y_i += [SᵏX]_j W        W: F×C by rows
type Term struct {
	Node    int // j
	Hop     int // k
	Weights []float64
}

// GiveTerms gives a node terms and a bias of its own, beside what all share. They are
// those of one S: if it hears others on another, see Network.Perturbed. The network
// keeps both. It panics if a shape is wrong.
func (n *Network) GiveTerms(i int, terms []Term, bias []float64) {
	for _, t := range terms {
		if len(t.Weights) != n.In*n.Outputs || len(bias) != n.Outputs {
			panic(fmt.Sprintf("crown: GiveTerms: %d weights and %d biases for node %d", len(t.Weights), len(bias), i))
		}
	}
	if n.terms == nil {
		n.terms = map[int]nodeTerms{}
	}
	n.terms[i] = nodeTerms{terms, bias}
}

type nodeTerms struct {
	list []Term
	bias []float64
}

// overheard is a term in the cone of an answer: the rows of Sᵏ and |S|ᵏ of its node.
type overheard struct {
	Term
	powers, sizes [][]float64
	direct        int // of a term that a liar sends: its entry; below 0 for others
}

// overhear prepares the terms of the node of a.
func (c *Crown) overhear(a *answer) {
	for _, t := range c.net.terms[a.node].list {
		at, found := slices.BinarySearch(a.cone.nodes, t.Node)
		if !found {
			panic(fmt.Sprintf("crown: node %d has a term of node %d, which is out of its reach", a.node, t.Node))
		}
		o := overheard{Term: t, direct: -1}
		from := cone{nodes: a.cone.nodes, self: at, shift: a.cone.shift}
		o.powers = from.powers(t.Hop)
		from.shift = a.cone.shift.sizes()
		o.sizes = from.powers(t.Hop)
		a.heard = append(a.heard, o)
	}
	if l, ok := c.unknown.(*liar); ok {
		for _, t := range l.direct[a.node] {
			to := slices.IndexFunc(a.enter, func(in entry) bool { return in.local == a.cone.self })
			a.heard = append(a.heard, overheard{Term: t, direct: to})
		}
	}
}

// pullTerms adds the terms of the node of a, weighed by q, to f.
func (c *Crown) pullTerms(f *functional, a *answer, q []float64) {
	for _, o := range a.heard {
		b := make([]float64, c.net.In)
		for i := range b {
			b[i] = vector.Dot(o.Weights[i*len(q):(i+1)*len(q)], q)
		}
		if o.direct >= 0 {
			vector.Axpy(c.unknown.block(f.taint, o.direct, 0, o.Hop), 1, b)
			continue
		}
		taps := make([]float64, (o.Hop+1)*len(b))
		copy(taps[o.Hop*len(b):], b)
		c.spreadRow(f.x, f.taint, &answer{cone: a.cone, enter: a.enter, powers: o.powers}, 0, len(b), taps)
	}
	if bias := c.net.terms[a.node].bias; bias != nil {
		f.c += vector.Dot(q, bias)
	}
}
