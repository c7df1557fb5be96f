package rule

import (
	"fmt"
	"math"
	"slices"

	"github.com/wdgnn/wdgnn/mat"
)

// defaultOutlier is Config.Outlier if that is 0.
const defaultOutlier = 10

func (c *Config) outlier() float64 {
	if c.Outlier == 0 {
		return defaultOutlier
	}
	return c.Outlier
}

// plain is how many times ‖𝒜†‖ taps may be away from 𝒜† before anybody asks
// whether they stand out. Nodes that are told nothing hear of learning from
// neighbours that are far ahead of them, and must follow.
const plain = 10

// begin sets how large 𝒜† is, 1 at least, as reach measures, and up to which ‖x‖
// taps are plain.
func (f *Basis) begin(start []float32) error {
	if start != nil && len(start) != f.TapsLen() {
		return fmt.Errorf("rule: %d taps at the start, want %d", len(start), f.TapsLen())
	}
	steep, sum := 1.0, 0.0 // ‖x Qᵀ‖ = ‖x‖
	for _, v := range start {
		sum += float64(float64(v) * float64(v))
	}
	if w := f.whitening; w != nil {
		sum = 0
		if start != nil {
			effect := make([]float64, f.rows*f.outputs)
			f.Effect(effect, f.coordinates(start))
			sum = w.energy(effect, f.outputs)
		}
		trace := 0.0
		for a := range w.inputs {
			trace += w.sigma[a*w.inputs+a]
		}
		steep = math.Sqrt(trace * dot(f.root, f.root)) // ‖z x R‖ ≤ ‖z‖ ‖x‖ ‖R‖
	}
	f.size = max(math.Sqrt(sum), 1)
	const margin = 0.999                       // for the rounding of both sides
	f.modest = margin * plain * f.size / steep // a readout of zeros moves nothing: infinite
	return nil
}

// coordinates returns 𝒜Q: the part of taps that reaches an output, as x is written.
func (f *Basis) coordinates(taps []float32) []float32 {
	x := make([]float32, f.Len())
	for k := range f.rows {
		for w := range f.width {
			sum := 0.0
			for g, v := range taps[k*f.features : (k+1)*f.features] {
				sum += float64(float64(v) * f.columns[w*f.features+g])
			}
			x[k*f.width+w] = float32(sum)
		}
	}
	return x
}

// energy returns tr(mᵀ Σ m), m inputs×outputs: the mean square of what m makes of
// the observations in training.
func (w *Whitening) energy(m []float64, outputs int) float64 {
	sum, n := 0.0, w.inputs
	for a := range n {
		for b := range n {
			sum += float64(w.sigma[a*n+b] * dot(m[a*outputs:(a+1)*outputs], m[b*outputs:(b+1)*outputs]))
		}
	}
	return max(sum, 0)
}

// Sizes returns how far from 𝒜† the taps are that the rows of x stand for, in
// dst if it has room, and whether one may stand out; few ever do.
//
//	‖𝒜_j - 𝒜†‖, 10‖𝒜†‖ at least      x: nodes×Len
//
// The norm is that in which a step is taken: Euclidean or, of whitened steps,
// the root of the mean square of what taps make of the inputs in training. Some
// directions of taps change outputs a million times less than others: learning
// may go far in them, and it means little.
func (f *Basis) Sizes(dst []float64, x mat.Dense) (sizes []float64, far bool) {
	if x.Contiguous() && wellWithin(x.Data, f.modest) { // all together, then each
		return dst, false
	}
	for j := 0; j < x.Rows && !far; j++ {
		if wellWithin(x.Row(j), f.modest) {
			continue
		}
		far = !(f.Distance(x.Row(j), nil) <= f.modest)
	}
	if !far {
		return dst, false
	}
	effect := f.rows * f.outputs
	dst = slices.Grow(dst[:0], x.Rows+effect)
	sizes = dst[:x.Rows]
	for j := range sizes {
		sizes[j] = max(f.reach(x.Row(j), dst[x.Rows:x.Rows+effect]), plain*f.size)
	}
	return sizes, true
}

// reach returns ‖𝒜 - 𝒜†‖ of the taps that x stands for.
func (f *Basis) reach(x []float32, scratch []float64) float64 {
	if f.whitening == nil {
		return f.Distance(x, nil)
	}
	f.Effect(scratch, x)
	return math.Sqrt(f.whitening.energy(scratch, f.outputs))
}

// trust returns what a node believes of what it heard: all of it, but for what
// is clipped, see Clip, and for neighbours whose taps are more than Config.Outlier times as far from 𝒜† as the
// farther of its own and of what is usual among its other neighbours. Their
// weight stays at home, as if they had not been heard.
//
// What is usual is the lower median without the one that is judged, so that one
// neighbour alone never vouches for itself. The node's own distance counts
// because it may be the one that has learned most; with a single neighbour there
// is nothing else to compare with.
//
// The weight of who is left out goes to the node itself, as that of a silent
// neighbour does: the row still sums to 1. Scaling the others up instead would
// make those who stay pull harder the more liars there are.
func (n *Node) trust(h *Heard) *Heard {
	n.leftOut, n.clipped = 0, 0
	if h.Len() < 2 {
		return h
	}
	return n.clip(n.leaveOut(h))
}

// leaveOut returns h without the neighbours that stand out.
func (n *Node) leaveOut(h *Heard) *Heard {
	if h.Sizes == nil || n.config.Outlier < 0 {
		return h
	}
	limit := n.config.outlier() * n.usual(h)
	for _, row := range h.Rows {
		if !(h.Sizes[row] <= limit) {
			n.leftOut++
		}
	}
	if n.leftOut == 0 {
		return h
	}
	if n.trusted == nil {
		n.trusted = new(Heard)
	}
	t := n.trusted
	t.Vectors, t.Points, t.Rows, t.Weights = h.Vectors, h.Points, t.Rows[:0], t.Weights[:0]
	home := 0.0
	for e, row := range h.Rows {
		switch {
		case e == h.Self:
			t.Self = len(t.Rows)
		case !(h.Sizes[row] <= limit):
			home += float64(h.Weights[e])
			continue
		}
		t.Rows, t.Weights = append(t.Rows, row), append(t.Weights, h.Weights[e])
	}
	t.Weights[t.Self] = float32(float64(t.Weights[t.Self]) + home)
	return t
}

// usual returns the larger of the node's own size and the lower median of all
// its neighbours' but the largest.
func (n *Node) usual(h *Heard) float64 {
	n.sizes = n.sizes[:0]
	for e, row := range h.Rows {
		if e != h.Self {
			n.sizes = append(n.sizes, h.Sizes[row])
		}
	}
	own := h.Sizes[h.Rows[h.Self]]
	if len(n.sizes) < 2 {
		return own
	}
	slices.Sort(n.sizes)
	return math.Max(own, n.sizes[(len(n.sizes)-2)/2])
}

// LeftOut returns how many neighbours the last Step left out of its mixture
// because their parameters are absurdly far from what others have; see
// Config.Outlier.
func (n *Node) LeftOut() int { return n.leftOut }
