package rule

import (
	"fmt"
	"math"

	"github.com/wdgnn/wdgnn/mat"
)

// FrameConfig says which parameters are retrained and what is frozen behind
// them.
type FrameConfig struct {
	Inputs   int       // (K+1)·F, rows of the stacked taps
	Features int       // G, columns of a tap
	Bias     bool      // the wide part's bias is retrained too: 𝒜 has one more row, whose input is 1
	Gain     float32   // α_W; 1 in a model without a deep part
	Readout  mat.Dense // R, G×C; empty if outputs are the G features

	// Whitening, if set, is the metric of a step. Its inputs must be those
	// of the frame, and the bias's 1 where that is retrained.
	Whitening *Whitening
}

// Frame is what all nodes of a network share: the frozen map behind the
// retrained taps, and the metric in which a step is measured. It is read-only
// and safe for concurrent use.
type Frame struct {
	inputs  int       // of an observation
	rows    int       // of x: inputs, and one more if the bias is retrained
	outputs int       // C, columns of x
	omega   []float64 // Ω, G×C
	gram    []float64 // ΩᵀΩ, C×C

	stretch float64 // largest eigenvalue of ΩᵀΩ: ‖xΩᵀ‖² ≤ stretch ‖x‖²

	whitening *Whitening
	inverse   []float64 // (ΩᵀΩ)⁺, C×C, with a whitening only
	steepness float64   // stretch, as the metric of the step sees it: 1 with a whitening
}

// NewFrame returns the frame of a model.
func NewFrame(c FrameConfig) (*Frame, error) {
	if c.Inputs < 1 || c.Features < 1 {
		return nil, fmt.Errorf("rule: a wide part of %d inputs and %d features: there is nothing to retrain", c.Inputs, c.Features)
	}
	if !c.Readout.Empty() && c.Readout.Rows != c.Features {
		return nil, fmt.Errorf("rule: a readout of %d×%d behind %d features", c.Readout.Rows, c.Readout.Cols, c.Features)
	}
	f := &Frame{inputs: c.Inputs, rows: c.Inputs, outputs: c.Features, whitening: c.Whitening}
	if c.Bias {
		f.rows++
	}
	if !c.Readout.Empty() {
		f.outputs = c.Readout.Cols
	}
	f.omega = make([]float64, c.Features*f.outputs)
	for g := range c.Features {
		for k := range f.outputs {
			r := 0.0
			if !c.Readout.Empty() {
				r = float64(c.Readout.At(g, k))
			} else if g == k {
				r = 1
			}
			f.omega[g*f.outputs+k] = float64(c.Gain) * r
		}
	}
	f.gram = make([]float64, f.outputs*f.outputs)
	for g := range c.Features {
		row := f.omega[g*f.outputs : (g+1)*f.outputs]
		for a, va := range row {
			for b, vb := range row {
				f.gram[a*f.outputs+b] += float64(va * vb)
			}
		}
	}
	for _, v := range f.gram {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("rule: the readout or the gain behind the taps is not finite")
		}
	}
	return f, f.measure()
}

// measure prepares the metric.
func (f *Frame) measure() error {
	inverse, largest, err := pseudoInverse(f.gram, f.outputs)
	if err != nil {
		return fmt.Errorf("rule: the readout: %w", err)
	}
	f.stretch, f.steepness = largest, largest
	if f.whitening == nil {
		return nil
	}
	if f.whitening.inputs != f.rows {
		return fmt.Errorf("rule: a whitening of %d inputs for %d rows of taps", f.whitening.inputs, f.rows)
	}
	f.inverse, f.steepness = inverse, 1
	return nil
}

// Len returns the length of x: rows times C.
func (f *Frame) Len() int { return f.rows * f.outputs }

// Inputs returns the length of an observation z.
func (f *Frame) Inputs() int { return f.inputs }

// Outputs returns C.
func (f *Frame) Outputs() int { return f.outputs }

// TapsLen returns how many numbers of 𝒜 are retrained.
func (f *Frame) TapsLen() int { return f.rows * len(f.omega) / f.outputs }

// Taps writes 𝒜† + x Ωᵀ to dst, overwritten: the taps that x stands for. start
// is 𝒜†, TapsLen values.
func (f *Frame) Taps(dst, start, x []float32) {
	features := len(f.omega) / f.outputs
	if len(x) != f.Len() || len(dst) != f.rows*features || len(start) != len(dst) {
		panic(fmt.Sprintf("rule: Taps: %d taps and %d from %d parameters, want %d and %d", len(dst), len(start), len(x), f.TapsLen(), f.Len()))
	}
	for k := range f.rows {
		for g := range features {
			sum := float64(start[k*features+g])
			for c, w := range f.omega[g*f.outputs : (g+1)*f.outputs] {
				sum += float64(float64(x[k*f.outputs+c]) * w)
			}
			dst[k*features+g] = float32(sum)
		}
	}
}

// Distance returns ‖𝒜_a - 𝒜_b‖, the Euclidean distance between the taps that a
// and b stand for. A nil b stands for 𝒜†.
func (f *Frame) Distance(a, b []float32) float64 {
	n, sum := f.outputs, 0.0
	at := func(e int) float64 {
		if b == nil {
			return float64(a[e])
		}
		return float64(a[e]) - float64(b[e])
	}
	for k := range f.rows {
		row := 0.0
		for c := range n {
			v := at(k*n + c)
			for d, g := range f.gram[c*n : (c+1)*n] {
				row += float64(v * float64(g*at(k*n+d)))
			}
		}
		sum += row
	}
	return math.Sqrt(max(sum, 0))
}

// squared returns d ΩᵀΩ dᵀ for one row d of x.
func (f *Frame) squared(d []float64) float64 {
	sum := 0.0
	for a, va := range d {
		for b, vb := range d {
			sum += float64(va * float64(f.gram[a*f.outputs+b]*vb))
		}
	}
	return sum
}

// effective writes (x ΩᵀΩ)ᵀ to m, C×rows, by which an observation is
// multiplied.
func (f *Frame) effective(m []float64, x []float32) {
	n := f.outputs
	for k := range f.rows {
		xk := x[k*n : (k+1)*n]
		for b := range n {
			sum := 0.0
			for c, g := range f.gram[b*n : (b+1)*n] {
				sum += float64(float64(xk[c]) * g)
			}
			m[b*f.rows+k] = sum
		}
	}
}

// Predict writes y† + z x ΩᵀΩ to y, overwritten: the output at one node with
// parameters x. scratch has room for Outputs values.
//
//	y, base: C   z: Inputs   x: Len
func (f *Frame) Predict(y, base, z, x []float32, scratch []float64) {
	n := f.outputs
	v := scratch[:n]
	clear(v)
	for k := range f.rows {
		zk := 1.0 // of the bias
		if k < f.inputs {
			zk = float64(z[k])
		}
		for c, xc := range x[k*n : (k+1)*n] {
			v[c] += float64(zk * float64(xc))
		}
	}
	for c := range y {
		sum := float64(base[c])
		for a, va := range v {
			sum += float64(va * f.gram[a*n+c])
		}
		y[c] = float32(sum)
	}
}
