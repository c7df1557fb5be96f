package rule

import (
	"fmt"
	"math"

	"github.com/wdgnn/wdgnn/mat"
)

// BasisConfig says which parameters are retrained and what is frozen behind
// them.
type BasisConfig struct {
	Inputs   int       // (K+1)·F, rows of the stacked taps
	Features int       // G, columns of a tap
	Bias     bool      // the wide part's bias is retrained too: 𝒜 has one more row, whose input is 1
	Gain     float32   // α_W; 1 in a model without a deep part
	Readout  mat.Dense // G×C; empty if outputs are the G features

	// Start is 𝒜†, the taps that are retrained, by rows; nil counts as of length 1
	// where Far measures.
	Start []float32

	// Newton says that nodes learn by second derivatives, in features that are
	// whitened by Moment, if there is one.
	Newton bool
	Moment *SecondMoment

	// Hearing, if set, says that nodes hear their neighbours one by one, and how
	// one does of which nothing is known but its neighbours. Of others it is in
	// Moment.
	Hearing *Hearing
}

// Basis is the coordinates of what learns, the same at all nodes of a network,
// with the frozen map behind the retrained taps and the metric in which a step is
// measured. It is read-only and safe for concurrent use.
type Basis struct {
	inputs   int       // of an observation
	rows     int       // of x: inputs, and one more if the bias is retrained
	features int       // G
	outputs  int       // C
	width    int       // columns of x: the rank of Ω, at least 1
	columns  []float64 // Q, by columns of G values
	root     []float64 // R = QᵀΩ, width×C

	most float64 // ‖x‖ up to which parameters are mixed in

	across []float64 // Rᵀ, C×width

	frame *frame // of those who learn by second derivatives

	common *Hearing     // of nodes that hear, without neighbours; nil if none does
	ears   map[int]*ear // of those that training knew
}

// NewBasis returns the basis of a model.
func NewBasis(c BasisConfig) (*Basis, error) {
	if c.Inputs < 1 || c.Features < 1 {
		return nil, fmt.Errorf("rule: a wide part of %d inputs and %d features: there is nothing to retrain", c.Inputs, c.Features)
	}
	if !c.Readout.Empty() && c.Readout.Rows != c.Features {
		return nil, fmt.Errorf("rule: a readout of %d×%d behind %d features", c.Readout.Rows, c.Readout.Cols, c.Features)
	}
	f := &Basis{inputs: c.Inputs, rows: c.Inputs, features: c.Features, outputs: c.Features}
	if c.Bias {
		f.rows++
	}
	if !c.Readout.Empty() {
		f.outputs = c.Readout.Cols
	}
	omega := make([]float64, f.features*f.outputs)
	for g := range f.features {
		for k := range f.outputs {
			r := 0.0
			if !c.Readout.Empty() {
				r = float64(c.Readout.At(g, k))
			} else if g == k {
				r = 1
			}
			v := float64(c.Gain) * r
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, fmt.Errorf("rule: the readout or the gain behind the taps is not finite")
			}
			omega[g*f.outputs+k] = v
		}
	}
	if err := f.measure(omega, c.Newton, c.Moment); err != nil {
		return nil, err
	}
	if err := f.hear(c.Hearing, c.Moment); err != nil {
		return nil, err
	}
	return f, f.begin(c.Start)
}

// rankTolerance is the share of the largest column of Ω below which what is left
// of another counts as 0. A readout is float32, which knows no more of it: a
// direction below that is rounding, and a whitened step, which divides by its
// length, would be long in a direction that means nothing.
const rankTolerance = 1e-6

// measure finds the coordinates for Ω.
func (f *Basis) measure(omega []float64, newton bool, moment *SecondMoment) error {
	q := factorize(omega, f.features, f.outputs, rankTolerance)
	f.width = max(q.r, 1)
	if newton {
		var err error
		if f.frame, err = newFrame(f, q, moment); err != nil {
			return err
		}
	}
	if q.r == 0 { // nothing that the taps do reaches an output
		q.r, q.q, q.root = 1, make([]float64, f.features), make([]float64, f.outputs)
		q.q[0] = 1
	}
	f.columns, f.root, f.across = q.q, q.root, q.transposed()
	return nil
}

// hear prepares how nodes hear.
func (f *Basis) hear(common *Hearing, m *SecondMoment) error {
	if f.common = common; common == nil || m == nil {
		return nil
	}
	f.ears = make(map[int]*ear, len(m.Heard))
	for i, h := range m.Heard {
		if h.Inputs != common.Inputs || h.Features != common.Features || h.Hops != common.Hops {
			return fmt.Errorf("rule: hearing: node %d heard %d hops of %d features, want %d of %d; try a model trained again",
				i, h.Hops, h.Features, common.Hops, common.Features)
		}
		var err error
		if f.ears[i], err = newEar(h); err != nil {
			return fmt.Errorf("%w: node %d", err, i)
		}
	}
	return nil
}

// Hears says whether a node weights its neighbours one by one by what training
// knew of them.
func (f *Basis) Hears(node int) bool { return f.ears[node] != nil }

// Hearing says whether nodes weight their neighbours one by one.
func (f *Basis) Hearing() bool { return f.common != nil }

// Len returns the length of x: rows times the rank of Ω.
func (f *Basis) Len() int { return f.rows * f.width }

// Inputs returns the length of an observation z.
func (f *Basis) Inputs() int { return f.inputs }

// Outputs returns C.
func (f *Basis) Outputs() int { return f.outputs }

// TapsLen returns how many numbers of 𝒜 are retrained.
func (f *Basis) TapsLen() int { return f.rows * f.features }

// Taps writes 𝒜† + x Qᵀ to dst, overwritten: the taps that x stands for. start
// is 𝒜†, TapsLen values.
func (f *Basis) Taps(dst, start, x []float32) {
	n := f.features
	if len(x) != f.Len() || len(dst) != f.TapsLen() || len(start) != len(dst) {
		panic(fmt.Sprintf("rule: Taps: %d taps and %d from %d parameters, want %d and %d", len(dst), len(start), len(x), f.TapsLen(), f.Len()))
	}
	for k := range f.rows {
		for g := range n {
			sum := float64(start[k*n+g])
			for c, v := range x[k*f.width : (k+1)*f.width] {
				sum += float64(float64(v) * f.columns[c*n+g])
			}
			dst[k*n+g] = float32(sum)
		}
	}
}

// Distance returns ‖𝒜_a - 𝒜_b‖, the Euclidean distance between the taps that a
// and b stand for, which is ‖a - b‖. A nil b stands for 𝒜†.
func (f *Basis) Distance(a, b []float32) float64 {
	sum := 0.0
	for e, v := range a {
		d := float64(v)
		if b != nil {
			d -= float64(b[e])
		}
		sum += float64(d * d)
	}
	return math.Sqrt(sum)
}

// Effect writes x R to dst, overwritten: by how much an output changes per unit
// of an input, y = y† + z (x R).
//
//	dst: rows×C   x: Len
func (f *Basis) Effect(dst []float64, x []float32) {
	if len(dst) != f.rows*f.outputs || len(x) != f.Len() {
		panic(fmt.Sprintf("rule: Effect: %d numbers from %d parameters, want %d from %d", len(dst), len(x), f.rows*f.outputs, f.Len()))
	}
	clear(dst)
	addTimes(dst, x, f.root, f.width, f.outputs)
}

// Predict writes y† + z x R to y, overwritten: the output at one node with
// parameters x. scratch has room for Outputs values.
//
//	y, base: C   z: Inputs   x: Len
func (f *Basis) Predict(y, base, z, x []float32, scratch []float64) {
	n := f.width
	v := scratch[:n]
	clear(v)
	addRowTimes(v, z[:f.inputs], x)
	for c, xc := range x[f.inputs*n:] { // of the bias
		v[c] += float64(xc)
	}
	for c := range y {
		sum := float64(base[c])
		for k, vk := range v {
			sum += float64(vk * f.root[k*f.outputs+c])
		}
		y[c] = float32(sum)
	}
}

// ascent writes the gradient zᵀdy in g to dst, in the coordinates of x: zᵀdy Rᵀ,
// shortened to the limit if the gradient of 𝒜 is longer, unless that is 0. It may
// change g. projected has room for Len values.
func (f *Basis) ascent(dst []float32, g []float64, limit float64, projected []float64) {
	clear(projected)
	addTimes(projected, g, f.across, f.outputs, f.width)
	if limit > 0 && !wellWithin64(projected, limit) {
		if norm := f.steepest(projected); norm > limit {
			for e := range g {
				g[e] *= limit / norm
			}
			clear(projected)
			addTimes(projected, g, f.across, f.outputs, f.width)
		}
	}
	for e, v := range projected {
		dst[e] = float32(v)
	}
}

// steepest returns ‖zᵀdy Ωᵀ‖, the length of the gradient of 𝒜, given zᵀdy Rᵀ: its
// rows one after the other.
func (f *Basis) steepest(projected []float64) float64 {
	sum := 0.0
	for n := f.width; len(projected) > 0; projected = projected[n:] {
		sum += dot(projected[:n], projected[:n])
	}
	return math.Sqrt(sum)
}
