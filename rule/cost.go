package rule

import (
	"fmt"
	"math"
)

// Cost is J_t or J_{i,t}, a cost as a function of the parameters x.
type Cost interface {
	// Gradient writes to dst the direction of steepest ascent at x: the
	// gradient, whitened if the basis has a whitening. It returns J, without
	// the ridge, whose gradient is in dst.
	//
	//	dst: Basis.Len values, overwritten   x: as many, read
	Gradient(dst, x []float32) float64

	// Curvature bounds the curvature C_s of J in the metric of the step, so
	// that steps below 2/C_s do not raise it. It is +Inf where no bound is
	// known.
	Curvature() float64
}

// Gradient implements [Cost].
func (w *Window) Gradient(dst, x []float32) float64 {
	f := w.basis
	if len(dst) != f.Len() || len(x) != f.Len() {
		panic(fmt.Sprintf("rule: Gradient: %d values at %d, want %d", len(dst), len(x), f.Len()))
	}
	cost := 0.0
	if w.held == 0 {
		clear(dst)
	} else {
		f.Effect(w.effective, x)
		clear(w.g)
		if w.current != nil {
			cost = w.together()
		} else {
			cost = w.apart()
		}
		f.ascent(dst, w.g, w.config.ClipNorm, w.scratch, w.projected)
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
	f, n := w.basis, w.count[w.newest]
	first := w.newest * w.per
	y, dy := w.y, w.dy
	if n < y.Rows {
		y, dy = y.View(0, 0, n, f.outputs), dy.View(0, 0, n, f.outputs)
	}
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

// output writes y†_r + z_r x R to y.
func (w *Window) output(y []float32, r int) {
	sum, n := w.scratch, len(y)
	for c, b := range w.base[r*n : (r+1)*n] {
		sum[c] = float64(b)
	}
	addRowTimes(sum, w.row(r), w.effective)
	for c, v := range sum {
		y[c] = float32(v)
	}
}

// gather adds share z_rᵀ dy to the gradient.
func (w *Window) gather(r int, dy []float32, share float64) {
	d := w.scratch
	zero := true
	for c, v := range dy {
		d[c] = float64(share * float64(v))
		zero = zero && v == 0
	}
	if zero {
		return
	}
	addTimes(w.g, w.row(r), d, 1, len(d))
}

// Curvature implements [Cost]. The bound is
//
//	C_s ≤ κ · mean ‖z_r‖² · λmax(ΩᵀΩ) + ridge
//
// with κ the curvature of the cost of a row; in the whitened metric ‖z‖² is
// z P_L zᵀ and the readout's factor 1. Where nothing was observed it is 0,
// whatever the ridge: an automatic step then waits, since one of 1/ridge would
// undo all that was learned.
func (w *Window) Curvature() float64 {
	if w.held == 0 {
		return 0
	}
	if w.judge == nil {
		return math.Inf(1)
	}
	f := w.basis
	steps, mean := 0, 0.0
	for s := range w.slots {
		steps++
		sum := 0.0
		for r := s * w.per; r < s*w.per+w.count[s]; r++ {
			sum += w.squaredLength(r)
		}
		mean += sum / float64(w.count[s])
	}
	return float64(w.judge.Curvature(f.outputs)*mean/float64(steps)*f.steepness) + w.config.Ridge
}

// squaredLength returns ‖z_r‖² in the metric of the step.
func (w *Window) squaredLength(r int) float64 {
	if w.basis.whitening != nil {
		return w.basis.whitening.length(w.row(r))
	}
	sum := 0.0
	for _, z := range w.row(r) {
		sum += float64(z * z)
	}
	return sum
}
