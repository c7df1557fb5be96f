package mat

import (
	"fmt"

	"github.com/wdgnn/wdgnn/internal/kernel"
)

// elementwise runs an operation whose operands have one shape: in one call
// where rows follow each other, row by row where they do not.
func (j *job) elementwise(lo, hi int) {
	y, a, b := &j.y, &j.a, &j.b
	if y.Contiguous() && a.Contiguous() && b.Contiguous() {
		from, to := lo*y.Cols, hi*y.Cols
		j.loop(y.Data[from:to], part(a, from, to), part(b, from, to))
		return
	}
	for i := lo; i < hi; i++ {
		j.loop(y.Row(i), optionalRow(a, i), optionalRow(b, i))
	}
}

func part(a *Dense, from, to int) []float32 {
	if a.Empty() {
		return nil
	}
	return a.Data[from:to]
}

func optionalRow(a *Dense, i int) []float32 {
	if a.Empty() {
		return nil
	}
	return a.Row(i)
}

func (j *job) loop(y, a, b []float32) {
	switch j.op {
	case opAddScaled:
		kernels.Axpy(y, j.p, a)
	case opScale:
		kernels.Scale(y, j.p)
	case opBlend:
		kernels.Blend(y, j.p, a, j.q, b, j.r)
	case opLeakyReLU:
		kernels.LeakyReLU(y, a, j.p)
	case opLeakyReLUBack:
		kernels.LeakyReLUBack(y, a, b, j.p, j.q)
	case opTanh:
		kernels.Tanh(y, a)
	case opTanhBack:
		kernels.TanhBack(y, a, b, j.q)
	}
}

func (e *Engine) each(j *job, cost int) { e.do(j, j.y.Rows, j.y.Rows*j.y.Cols*cost) }

// AddScaled computes Y += a X.
func (e *Engine) AddScaled(y Dense, a float32, x Dense) {
	sameShape("AddScaled", y, x)
	e.each(&job{op: opAddScaled, y: y, p: a, a: x}, 1)
}

// Scale computes X = a X.
func (e *Engine) Scale(x Dense, a float32) { e.each(&job{op: opScale, y: x, p: a}, 1) }

// Blend computes Y = a U + b V + c, the sum of eq. (2). Y may be U or V.
func (e *Engine) Blend(y Dense, a float32, u Dense, b float32, v Dense, c float32) {
	sameShape("Blend", y, u, v)
	e.each(&job{op: opBlend, y: y, p: a, a: u, q: b, b: v, r: c}, 1)
}

// LeakyReLU computes y = x where x ≥ 0 and slope·x elsewhere. Slope 0 is the
// ReLU. Y may be X.
func (e *Engine) LeakyReLU(y, x Dense, slope float32) {
	sameShape("LeakyReLU", y, x)
	e.each(&job{op: opLeakyReLU, y: y, a: x, p: slope}, 1)
}

// LeakyReLUBack computes dX from scale·dY and the output Y of LeakyReLU,
// slope ≥ 0. The derivative at 0 is taken as slope. dX may be dY.
func (e *Engine) LeakyReLUBack(dx, dy, y Dense, slope, scale float32) {
	sameShape("LeakyReLUBack", dx, dy, y)
	e.each(&job{op: opLeakyReLUBack, y: dx, a: dy, b: y, p: slope, q: scale}, 1)
}

// Tanh computes y = tanh x, within four units in the last place. Y may be X.
func (e *Engine) Tanh(y, x Dense) {
	sameShape("Tanh", y, x)
	e.each(&job{op: opTanh, y: y, a: x}, 4)
}

// TanhBack computes dX = scale·dY (1 - Y²) from the output Y of Tanh. dX may be
// dY.
func (e *Engine) TanhBack(dx, dy, y Dense, scale float32) {
	sameShape("TanhBack", dx, dy, y)
	e.each(&job{op: opTanhBack, y: dx, a: dy, b: y, q: scale}, 1)
}

// dotBlock is how many products Dot sums in float32 before it continues in
// float64.
const dotBlock = 4096

// Dot returns Σ x[i,j]·y[i,j]. Blocks of a row are summed in float32, their
// sums in float64, so the result does not depend on the number of threads.
func (e *Engine) Dot(x, y Dense) float64 {
	sameShape("Dot", x, y)
	if x.Contiguous() && y.Contiguous() {
		n := x.Rows * x.Cols
		x, y = x.Reshape(1, n), y.Reshape(1, n)
	}
	sum := 0.0
	for i := range x.Rows {
		xi, yi := x.Row(i), y.Row(i)
		for len(xi) > 0 {
			n := min(len(xi), dotBlock)
			sum += float64(kernels.Dot(xi[:n], yi[:n]))
			xi, yi = xi[n:], yi[n:]
		}
	}
	return sum
}

// FillRows copies row into every row of y.
func FillRows(y Dense, row []float32) {
	if len(row) != y.Cols {
		panic(fmt.Sprintf("mat: FillRows: a row of %d into %s", len(row), y.shape()))
	}
	for i := range y.Rows {
		copy(y.Data[i*y.Stride:i*y.Stride+y.Cols], row)
	}
}

// GatherRows copies rows[i] of x to row i of y.
func GatherRows(y, x Dense, rows []int) {
	fits("GatherRows", "the destination", y, len(rows), x.Cols)
	for i, r := range rows {
		copy(y.Row(i), x.Row(r))
	}
}

// Softmax writes p[i] = exp(x[i] - m) / Σ_j exp(x[j] - m), m the largest of x,
// and returns log Σ_j exp x[j]. P may be x. It panics if lengths differ or are
// 0.
func Softmax(p, x []float32) (logSum float64) {
	if len(p) != len(x) || len(x) == 0 {
		panic(fmt.Sprintf("mat: Softmax: %d values into %d", len(x), len(p)))
	}
	largest, sum := kernels.Softmax(p, x)
	kernels.Scale(p, 1/sum)
	return float64(largest) + kernel.Log(sum)
}
