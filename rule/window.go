package rule

import (
	"fmt"
	"math"

	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
)

// Cost is J_t or J_{i,t}, a cost as a function of the parameters x.
type Cost interface {
	// Gradient writes to dst the direction of steepest ascent at x: the
	// gradient, whitened if the frame has a whitening. It returns J, without
	// the ridge, whose gradient is in dst.
	//
	//	dst: Frame.Len values, overwritten   x: as many, read
	Gradient(dst, x []float32) float64

	// Curvature bounds the curvature C_s of J in the metric of the step, so
	// that steps below 2/C_s do not raise it. It is +Inf where no bound is
	// known.
	Curvature() float64
}

// Window is the cost of the last m steps of one node, or of a whole network:
//
//	J(x) = mean over the steps that brought a cost, of the mean over their rows,
//	       of J_r(y†_r + z_r x ΩᵀΩ)
//
// With m = 1 it is the cost of the current step alone, and any cost will do;
// then nothing of it is kept afterwards. A longer window keeps targets and
// needs a [loss.Targeted].
//
// A Window allocates nothing once it is full. It is not safe for concurrent
// use.
type Window struct {
	frame  *Frame
	config *Config
	length int // m
	per    int // rows per step at most

	z       []float32 // slot·per·inputs
	base    []float32 // slot·per·C
	target  []float32 // slot·per·targetLen
	count   []int     // rows of each slot
	newest  int       // slot of the current step
	filled  int       // slots in use, the newest included
	targets int       // numbers per target
	row     []float32 // one target

	judge   loss.Targeted // costs a row with its target
	current loss.Loss     // costs the rows of the newest slot; set during one update with m = 1

	effective, g, scratch, zr []float64
	y, dy                     mat.Dense
}

func newWindow(f *Frame, c *Config, rows int) *Window {
	m := max(c.Window, 1)
	return &Window{
		frame: f, config: c, length: m, per: rows,
		count:     make([]int, m),
		effective: make([]float64, f.Len()), g: make([]float64, f.Len()), scratch: make([]float64, f.outputs), zr: make([]float64, f.rows),
		y: mat.NewDense(rows, f.outputs, nil), dy: mat.NewDense(rows, f.outputs, nil),
	}
}

// begin opens the slot of a new step and forgets the one m steps ago.
func (w *Window) begin() {
	if w.filled < w.length {
		w.newest = w.filled
		w.filled++
	} else {
		w.newest = (w.newest + 1) % w.length
	}
	w.count[w.newest] = 0
}

// add puts an observation into the newest slot and returns where its target
// goes.
func (w *Window) add(z, base []float32) (target []float32) {
	if w.z == nil { // most nodes of a network may never see a cost
		w.z = make([]float32, w.length*w.per*w.frame.inputs)
		w.base = make([]float32, w.length*w.per*w.frame.outputs)
	}
	if len(w.target) == 0 && w.targets > 0 {
		w.target = make([]float32, w.length*w.per*w.targets)
	}
	r := w.newest*w.per + w.count[w.newest]
	copy(w.z[r*w.frame.inputs:(r+1)*w.frame.inputs], z)
	copy(w.base[r*w.frame.outputs:(r+1)*w.frame.outputs], base)
	w.count[w.newest]++
	return w.target[r*w.targets : (r+1)*w.targets]
}

// take puts the observations of a step into the window: rows of z and base,
// those whose cost the loss carries. Row r is row rows[r] of the loss.
func (w *Window) take(z, base mat.Dense, rows []int32, j loss.Targeted) {
	if n := j.TargetLen(w.frame.outputs); n != w.targets {
		w.targets, w.target, w.filled = n, nil, 0 // another kind of cost: the old targets mean nothing to it
	}
	w.judge = j
	w.begin()
	if len(w.row) != w.targets {
		w.row = make([]float32, w.targets)
	}
	for r := range z.Rows {
		if j.TargetOf(int(rows[r]), w.row) {
			copy(w.add(z.Row(r)[:w.frame.inputs], base.Row(r)), w.row)
		}
	}
}

// takeAll puts all rows of a step into the window, to be judged by j together
// until the update is over.
func (w *Window) takeAll(z, base mat.Dense, j loss.Loss) {
	w.targets, w.target = 0, nil
	w.begin()
	for r := range z.Rows {
		w.add(z.Row(r)[:w.frame.inputs], base.Row(r))
	}
	w.current = j
}

// release drops what belongs to the caller.
func (w *Window) release() {
	if w.current != nil {
		w.current, w.filled = nil, 0
	}
	w.judge = nil
}

// empty says whether no observation is in the window.
func (w *Window) empty() bool {
	for s := range w.filled {
		if w.count[s] > 0 {
			return false
		}
	}
	return true
}

// slots yields the slots that hold observations, the oldest first.
func (w *Window) slots(yield func(slot int) bool) {
	for k := range w.filled {
		s := (w.newest + 1 + k) % w.filled // if filled < m, the newest is the last
		if w.count[s] > 0 && !yield(s) {
			return
		}
	}
}

// Gradient implements [Cost].
func (w *Window) Gradient(dst, x []float32) float64 {
	f := w.frame
	if len(dst) != f.Len() || len(x) != f.Len() {
		panic(fmt.Sprintf("rule: Gradient: %d values at %d, want %d", len(dst), len(x), f.Len()))
	}
	cost := 0.0
	if w.empty() {
		clear(dst)
	} else {
		f.effective(w.effective, x)
		clear(w.g)
		if w.current != nil {
			cost = w.together()
		} else {
			cost = w.apart()
		}
		w.direction(dst)
	}
	if ridge := float32(w.config.Ridge); ridge != 0 {
		for e, v := range x {
			dst[e] += float32(ridge * v)
		}
	}
	return cost
}

// together judges the newest slot as a whole.
func (w *Window) together() float64 {
	f, n := w.frame, w.count[w.newest]
	first := w.newest * w.per
	y, dy := w.y.View(0, 0, n, f.outputs), w.dy.View(0, 0, n, f.outputs)
	for r := range n {
		w.output(y.Row(r), first+r)
	}
	cost := w.current.Eval(dy, y)
	for r := range n {
		w.gather(first+r, dy.Row(r), 1)
	}
	return cost
}

// apart judges every row with its own target.
func (w *Window) apart() float64 {
	steps := 0
	for range w.slots {
		steps++
	}
	cost := 0.0
	y, dy := w.y.Row(0), w.dy.Row(0)
	for s := range w.slots {
		share := 1 / float64(steps*w.count[s])
		for r := s * w.per; r < s*w.per+w.count[s]; r++ {
			w.output(y, r)
			j := w.judge.EvalTarget(dy, y, w.target[r*w.targets:(r+1)*w.targets])
			cost += float64(share * j)
			w.gather(r, dy, share)
		}
	}
	return cost
}

// output writes y†_r + z_r x ΩᵀΩ to y.
func (w *Window) output(y []float32, r int) {
	f := w.frame
	n := f.outputs
	v := w.scratch
	for c, b := range w.base[r*n : (r+1)*n] {
		v[c] = float64(b)
	}
	for k, z := range w.z[r*f.inputs : (r+1)*f.inputs] {
		for c, m := range w.effective[k*n : (k+1)*n] {
			v[c] += float64(float64(z) * m)
		}
	}
	if f.rows > f.inputs {
		for c, m := range w.effective[f.inputs*n:] {
			v[c] += m
		}
	}
	for c, s := range v {
		y[c] = float32(s)
	}
}

// gather adds share z_rᵀ dy to the gradient.
func (w *Window) gather(r int, dy []float32, share float64) {
	f := w.frame
	n := f.outputs
	d := w.scratch
	zero := true
	for c, v := range dy {
		d[c] = float64(share * float64(v))
		zero = zero && v == 0
	}
	if zero {
		return
	}
	for k, z := range w.z[r*f.inputs : (r+1)*f.inputs] {
		for c, v := range d {
			w.g[k*n+c] += float64(float64(z) * v)
		}
	}
	if f.rows > f.inputs {
		for c, v := range d {
			w.g[f.inputs*n+c] += v
		}
	}
}

// direction writes the gathered gradient to dst: clipped, and whitened.
func (w *Window) direction(dst []float32) {
	f := w.frame
	if limit := w.config.ClipNorm; limit > 0 {
		sum := 0.0
		for k := range f.rows {
			sum += f.squared(w.g[k*f.outputs : (k+1)*f.outputs])
		}
		if norm := math.Sqrt(max(sum, 0)); norm > limit {
			for e := range w.g {
				w.g[e] *= limit / norm
			}
		}
	}
	if f.whitening != nil {
		f.whitening.apply(dst, w.g, f.inverse, w.scratch, f.outputs)
		return
	}
	for e, v := range w.g {
		dst[e] = float32(v)
	}
}

// Curvature implements [Cost]. The bound is
//
//	C_s ≤ κ · mean ‖z_r‖² · λmax(ΩᵀΩ) + ridge
//
// with κ the curvature of the cost of a row; in the whitened metric ‖z‖² is
// z P_L zᵀ and the readout's factor 1.
func (w *Window) Curvature() float64 {
	if w.empty() {
		return w.config.Ridge
	}
	if w.judge == nil {
		return math.Inf(1)
	}
	f := w.frame
	steps, mean := 0, 0.0
	for s := range w.slots {
		steps++
		sum := 0.0
		for r := s * w.per; r < s*w.per+w.count[s]; r++ {
			sum += w.squaredLength(r)
		}
		mean += sum / float64(w.count[s])
	}
	return w.judge.Curvature(f.outputs)*mean/float64(steps)*f.steepness + w.config.Ridge
}

// squaredLength returns ‖z_r‖² in the metric of the step.
func (w *Window) squaredLength(r int) float64 {
	f := w.frame
	for k, z := range w.z[r*f.inputs : (r+1)*f.inputs] {
		w.zr[k] = float64(z)
	}
	if f.rows > f.inputs {
		w.zr[f.inputs] = 1
	}
	if f.whitening != nil {
		return f.whitening.length(w.zr)
	}
	sum := 0.0
	for _, z := range w.zr {
		sum += float64(z * z)
	}
	return sum
}
