package rule

import (
	"fmt"
	"math"
	"slices"

	"github.com/wdgnn/wdgnn/mat"
)

// Clip says how much a single neighbour may move a node when it mixes. It is
// written as text in JSON. What node i takes from its neighbours,
//
//	x_i + Σ_j W_ij (x_j - x_i)        j ≠ i
//
// is a sum of differences, and one neighbour that sends nonsense can be most of
// it. Clipping shortens single differences, so that none counts for more than is
// usual among the node's neighbours. Lengths are measured in the metric of the
// step, see Basis.Points. What is taken off a neighbour's weight stays at home:
// the row of W still sums to 1 and has no negative weight, so that an automatic
// step is as safe as without.
//
// Columns of W do not sum to 1 any more, and the mean of all nodes moves: one
// neighbour's word is worth less than the agreement of all.
type Clip int

// How mixing is clipped.
const (
	// ClipOff, "off", believes everybody: eq. (9).
	ClipOff Clip = iota

	// ClipMedian, "median", shortens every difference to the lower median of the
	// lengths of all, or to a hundredth of ‖𝒜†‖ if that is longer: where most
	// neighbours have learned nothing yet, the median is 0, and nobody would ever
	// hear of what the others found. A node with one neighbour has no median but
	// that neighbour's, and takes what it is given.
	ClipMedian

	// ClipTrimmed, "trimmed", leaves the farthest quarter of the neighbours out,
	// rounded up; of two the farther. Of equals the one with the higher number
	// goes. A node with one neighbour believes it.
	ClipTrimmed
)

var clipNames = []string{"off", "median", "trimmed"}

const (
	clipFloor = 0.01 // of ‖𝒜†‖: differences up to there are no pull worth clipping
	trimShare = 4    // one of so many neighbours is trimmed
	clipFar   = 4    // times the median from where on Node.Clipped counts
)

// String returns the name that UnmarshalText reads.
func (c Clip) String() string {
	if c < 0 || int(c) >= len(clipNames) {
		return fmt.Sprintf("Clip(%d)", int(c))
	}
	return clipNames[c]
}

// MarshalText returns the name of c.
func (c Clip) MarshalText() ([]byte, error) { return marshal("clip", int(c), clipNames) }

// UnmarshalText sets c by name.
func (c *Clip) UnmarshalText(text []byte) error {
	i, err := unmarshal("clip", string(text), clipNames)
	if err == nil {
		*c = Clip(i)
	}
	return err
}

// Points writes what the rows of x stand for to dst, grown if it has no room, as
// points whose Euclidean distances are those in which a step is taken:
//
//	without a whitening x itself, ‖𝒜_i - 𝒜_j‖
//	with one            Lᵀ x R, Σ = L Lᵀ: the root of the mean square by which
//	                    outputs on the inputs in training differ
//
//	x: nodes×Len   dst: nodes×(rows·C), or nodes×Len
//
// It is what [Heard.Points] holds. A point depends on its row alone, so that a
// node has the same bits for its neighbours as a simulation has for all nodes.
func (f *Basis) Points(dst []float64, x mat.Dense) []float64 {
	width := f.pointLen()
	dst = slices.Grow(dst[:0], x.Rows*width)[:x.Rows*width]
	for j := range x.Rows {
		p := dst[j*width : (j+1)*width]
		if f.whitening == nil {
			for e, v := range x.Row(j) {
				p[e] = float64(v)
			}
			continue
		}
		f.Effect(p, x.Row(j))
		f.whitening.unfold(p, f.outputs)
	}
	return dst
}

// pointLen returns how many numbers a point has.
func (f *Basis) pointLen() int {
	if f.whitening == nil {
		return f.Len()
	}
	return f.rows * f.outputs
}

// unfold overwrites m, inputs×outputs, with Lᵀ m. Row a of it is a sum over rows
// a and after, so that rows are overwritten in ascending order.
func (w *Whitening) unfold(m []float64, outputs int) {
	n := w.inputs
	for a := range n {
		to := m[a*outputs : (a+1)*outputs]
		for c := range to {
			to[c] *= w.root[a*n+a]
		}
		for b := a + 1; b < n; b++ {
			l := w.root[b*n+a]
			for c, v := range m[b*outputs : (b+1)*outputs] {
				to[c] += float64(l * v)
			}
		}
	}
}

// lowerRoot returns the L with Σ = L Lᵀ, L lower triangular, n×n, of a moment that
// may be singular: where nothing is left of a column, within rounding, it is 0.
func lowerRoot(sigma []float64, n int) []float64 {
	l := make([]float64, n*n)
	for a := range n {
		left := sigma[a*n+a] - dot(l[a*n:a*n+a], l[a*n:a*n+a])
		if !(left > 1e-12*sigma[a*n+a]) {
			continue
		}
		pivot := math.Sqrt(left)
		l[a*n+a] = pivot
		for b := a + 1; b < n; b++ {
			l[b*n+a] = (sigma[b*n+a] - dot(l[b*n:b*n+a], l[a*n:a*n+a])) / pivot
		}
	}
	return l
}

// clip returns h with the weights of neighbours that pull too hard lowered; see
// Clip. Where none is, it is h itself.
func (n *Node) clip(h *Heard) *Heard {
	if n.config.Clip == ClipOff || h.Points == nil || h.Len() < 3 {
		return h
	}
	n.measure(h)
	if n.config.Clip == ClipTrimmed {
		return n.trim(h)
	}
	limit := max(n.sizes[(len(n.sizes)-1)/2], clipFloor*n.basis.size)
	if n.sizes[len(n.sizes)-1] <= limit {
		return h
	}
	h = n.mine(h)
	home := 0.0
	for e, length := range n.lengths {
		if length > limit {
			home += h.lower(e, limit/length)
			if length > clipFar*limit {
				n.clipped++
			}
		}
	}
	h.Weights[h.Self] = float32(float64(h.Weights[h.Self]) + home)
	return h
}

// measure sets the lengths of all differences, by place and in their order.
func (n *Node) measure(h *Heard) {
	width := n.basis.pointLen()
	point := func(e int) []float64 { return h.Points[int(h.Rows[e])*width : (int(h.Rows[e])+1)*width] }
	own := point(h.Self)
	n.lengths, n.sizes = n.lengths[:0], n.sizes[:0]
	for e := range h.Rows {
		sum := 0.0
		for k, v := range point(e) {
			d := v - own[k]
			sum += float64(d * d)
		}
		n.lengths = append(n.lengths, math.Sqrt(sum)) // 0 of the node itself
		if e != h.Self {
			n.sizes = append(n.sizes, n.lengths[e])
		}
	}
	slices.Sort(n.sizes)
}

// trim leaves the farthest out. Of those as far as the nearest of them, the ones
// with the lowest numbers stay.
func (n *Node) trim(h *Heard) *Heard {
	count := len(n.sizes)
	first := count - (count+trimShare-1)/trimShare // of those that go
	bound, middle := n.sizes[first], n.sizes[(count-1)/2]
	if n.sizes[count-1] == 0 {
		return h
	}
	nearer, _ := slices.BinarySearch(n.sizes, bound)
	equals := first - nearer // that stay
	h = n.mine(h)
	home := 0.0
	for e, length := range n.lengths {
		switch {
		case length < bound || e == h.Self:
			continue
		case length == bound && equals > 0:
			equals--
			continue
		}
		home += h.lower(e, 0)
		if length > clipFar*middle {
			n.clipped++
		}
	}
	h.Weights[h.Self] = float32(float64(h.Weights[h.Self]) + home)
	return h
}

// mine returns a copy of h whose weights are the node's own to change.
func (n *Node) mine(h *Heard) *Heard {
	if h == n.trusted {
		return h
	}
	if n.trusted == nil {
		n.trusted = new(Heard)
	}
	t := n.trusted
	t.Vectors, t.Points, t.Self = h.Vectors, h.Points, h.Self
	t.Rows, t.Weights = append(t.Rows[:0], h.Rows...), append(t.Weights[:0], h.Weights...)
	return t
}

// lower leaves a share of the e-th weight and returns what was taken off.
func (h *Heard) lower(e int, share float64) float64 {
	was := float64(h.Weights[e])
	h.Weights[e] = float32(was * share)
	return was - float64(h.Weights[e])
}

// Clipped returns how many neighbours the last Step clipped that differ from the
// node by more than 4 times what is usual among them; see Config.Clip. Half of
// all neighbours differ by more than the median, and mean nothing bad by it.
func (n *Node) Clipped() int { return n.clipped }
