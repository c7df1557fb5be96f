package rule

import (
	"fmt"
	"math"
	"slices"

	"github.com/wdgnn/wdgnn/mat"
)

// plain is how many times ‖𝒜†‖ parameters may be away from 𝒜† to be mixed in.
// Nodes that are told nothing hear of learning from neighbours that are far ahead
// of them, and must follow.
const plain = 10

// begin sets ‖x‖ up to which parameters are mixed in: 10‖𝒜†‖, 10 at least.
func (f *Basis) begin(start []float32) error {
	if start != nil && len(start) != f.TapsLen() {
		return fmt.Errorf("rule: %d taps at the start, want %d", len(start), f.TapsLen())
	}
	sum := 0.0
	for _, v := range start {
		sum += float64(float64(v) * float64(v))
	}
	f.most = plain * max(math.Sqrt(sum), 1)
	return nil
}

// Far says which rows of x, parameters of nodes, are farther from 𝒜† than 10‖𝒜†‖,
// in dst if it has room; nil if none is. Nodes hear nothing from them.
//
// Deviation: eq. (9) believes everybody.
//
//	x: nodes×Len
func (f *Basis) Far(dst []bool, x mat.Dense) []bool {
	if x.Contiguous() && wellWithin(x.Data, f.most) { // all together, then each
		return nil
	}
	dst, any := slices.Grow(dst[:0], x.Rows)[:x.Rows], false
	for j := range dst {
		dst[j] = !wellWithin(x.Row(j), f.most) && !(f.Distance(x.Row(j), nil) <= f.most)
		any = any || dst[j]
	}
	if !any {
		return nil
	}
	return dst
}

// near returns what a node believes of what it heard: all but neighbours that are
// far. Their weight goes to the node itself, as that of a silent neighbour does:
// the row still sums to 1.
func (n *Node) near(h *Heard) *Heard {
	n.leftOut = 0
	for e, row := range h.Rows {
		if e != h.Self && h.Far != nil && h.Far[row] {
			n.leftOut++
		}
	}
	if n.leftOut == 0 {
		return h
	}
	if n.believed == nil {
		n.believed = new(Heard)
	}
	t := n.believed
	t.Vectors, t.Rows, t.Weights = h.Vectors, t.Rows[:0], t.Weights[:0]
	home := 0.0
	for e, row := range h.Rows {
		if e == h.Self {
			t.Self = len(t.Rows)
		} else if h.Far[row] {
			home += float64(h.Weights[e])
			continue
		}
		t.Rows, t.Weights = append(t.Rows, row), append(t.Weights, h.Weights[e])
	}
	t.Weights[t.Self] = float32(float64(t.Weights[t.Self]) + home)
	return t
}

// LeftOut returns how many neighbours the last Step heard nothing from because
// their parameters are farther from 𝒜† than 10‖𝒜†‖.
func (n *Node) LeftOut() int { return n.leftOut }
