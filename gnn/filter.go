package gnn

import (
	"fmt"

	"github.com/wdgnn/wdgnn/mat"
)

// Filter is a graph filter of order K, the wide part A(X; S, 𝒜) of eq. (3),
// with an optional bias a per output feature:
//
//	Y = 1aᵀ + Σ_{k=0..K} Sᵏ X A_k      S: N×N   X: (N·B)×F   A_k: F×G   Y: (N·B)×G
//
// A filter of order K has K+1 taps. Sums run from the bias through the taps in
// ascending order, so that a node that computes its row alone gets its bits.
//
// Deviation: eq. (3) has no bias. Without one, source localization and movie
// recommendation fail; with an empty Bias the filter is eq. (3) to the letter.
type Filter struct {
	Taps []mat.Dense // A_k, F×G each: windows into one stack
	Bias []float32   // a, G values; empty if there is none

	stack mat.Dense // A_0 over A_1 over …, ((K+1)·F)×G
}

// NewFilter returns a filter of order K with all parameters zero.
func NewFilter(in, out, order int, bias bool) *Filter {
	if in < 1 || out < 1 || order < 0 {
		panic(fmt.Sprintf("gnn: NewFilter: %d inputs, %d outputs, order %d", in, out, order))
	}
	var a []float32
	if bias {
		a = make([]float32, out)
	}
	f := filterOver(in, out, order, make([]float32, (order+1)*in*out), a)
	return &f
}

// filterOver cuts the taps of a filter out of stack.
func filterOver(in, out, order int, stack, bias []float32) Filter {
	f := Filter{Bias: bias, stack: mat.NewDense((order+1)*in, out, stack)}
	for k := range order + 1 {
		f.Taps = append(f.Taps, f.stack.View(k*in, 0, in, out))
	}
	return f
}

// Order returns K.
func (f *Filter) Order() int { return len(f.Taps) - 1 }

// In returns F.
func (f *Filter) In() int { return f.Taps[0].Rows }

// Out returns G.
func (f *Filter) Out() int { return f.Taps[0].Cols }

// FilterTape is what Filter.Forward leaves for Filter.Backward.
type FilterTape struct {
	Engine *mat.Engine

	x       mat.Dense    // Z_0 = X, the caller's
	shifted mat.Dense    // Z_1 over Z_2 over …, Z_k = Sᵏ X, (K·N·B)×F
	back    [2]mat.Dense // Backward's Horner scheme, Apply's shifts
	apply   apply
}

// z returns Z_k.
func (t *FilterTape) z(k int) mat.Dense {
	if k == 0 {
		return t.x
	}
	return t.shifted.View((k-1)*t.x.Rows, 0, t.x.Rows, t.x.Cols)
}

// batch returns B, the number of signals that x holds for the nodes of s.
func batch(op string, s *mat.CSR, x mat.Dense) int {
	if s.Rows != s.Cols || s.Rows == 0 || x.Rows%s.Rows != 0 {
		panic(fmt.Sprintf("gnn: %s: a signal of %d rows on a shift of %d×%d", op, x.Rows, s.Rows, s.Cols))
	}
	return x.Rows / s.Rows
}

// shift computes z = S x for every sample of a batch at once.
func shift(e *mat.Engine, z mat.Dense, s *mat.CSR, x mat.Dense, b int) {
	if b == 1 {
		e.SpMM(z, s, x)
		return
	}
	e.SpMM(z.Reshape(s.Rows, b*z.Cols), s, x.Reshape(s.Rows, b*x.Cols))
}

// Forward writes the filter's output to y, overwritten. The tape refers to x,
// which must not change before Backward.
func (f *Filter) Forward(y mat.Dense, s *mat.CSR, x mat.Dense, tape *FilterTape) {
	b := batch("Filter.Forward", s, x)
	tape.x = x
	tape.shifted = tape.shifted.Resize(f.Order()*x.Rows, x.Cols)
	last := x
	for k := 1; k <= f.Order(); k++ {
		next := tape.z(k)
		shift(tape.Engine, next, s, last, b) // Z_k = S Z_{k-1}
		last = next
	}
	f.sum(tape.Engine, y, x, tape.shifted)
}

// sum writes the filter's output for signals that were shifted before: Z_0,
// and Z_1 over Z_2 over ….
func (f *Filter) sum(e *mat.Engine, y, z0, shifted mat.Dense) {
	e.MulBias(y, f.Bias, z0, f.Taps[0])
	if k := f.Order(); k > 0 {
		e.AddMulStacked(y, k, shifted, f.stack.View(f.In(), 0, k*f.In(), f.Out()))
	}
}

// sumStacked is sum of shifted signals that all stand one below the other, Z_0 first.
func (f *Filter) sumStacked(e *mat.Engine, y, z mat.Dense) {
	e.MulBiasStacked(y, f.Bias, len(f.Taps), z, f.stack)
}

// Backward adds the gradients of one pass to those of grad and, unless dx is
// empty, overwrites dx with the gradient of the input. It is the adjoint of
// Forward, with st = Sᵀ:
//
//	dA_k += Z_kᵀ dY
//	da   += Σ rows of dY
//	dX    = Σ_k (Sᵀ)ᵏ dY A_kᵀ      by Horner's rule, one shift per tap
func (f *Filter) Backward(grad *Filter, dx mat.Dense, st *mat.CSR, dy mat.Dense, tape *FilterTape) {
	e := tape.Engine
	for k := range f.Taps {
		e.AddMulATB(grad.Taps[k], tape.z(k), dy)
	}
	if len(f.Bias) > 0 {
		e.AddColumnSums(grad.Bias, dy)
	}
	if dx.Empty() {
		return
	}
	b := batch("Filter.Backward", st, dx)
	next, sum := &tape.back[0], &tape.back[1]
	for k := f.Order(); k >= 0; k-- {
		*sum = sum.Resize(dx.Rows, dx.Cols)
		if k == f.Order() {
			e.MulABT(*sum, dy, f.Taps[k])
		} else {
			shift(e, *sum, st, *next, b)
			e.AddMulABT(*sum, dy, f.Taps[k])
		}
		next, sum = sum, next
	}
	dx.CopyFrom(*next)
}

// forwardShifted is Forward on signals that were shifted before: z holds
// Z_0 Z_1 … side by side, perhaps more of them than the filter has taps.
func (f *Filter) forwardShifted(e *mat.Engine, y, z mat.Dense) {
	e.MulBias(y, f.Bias, f.columns(z), f.stack)
}

// backwardShifted is the part of Backward that concerns parameters.
func (f *Filter) backwardShifted(e *mat.Engine, grad *Filter, dy, z mat.Dense) {
	e.AddMulATB(grad.stack, f.columns(z), dy)
	if len(f.Bias) > 0 {
		e.AddColumnSums(grad.Bias, dy)
	}
}

// columns returns the columns of z that the filter's taps read.
func (f *Filter) columns(z mat.Dense) mat.Dense { return z.View(0, 0, z.Rows, f.stack.Rows) }
