package mat

import (
	"fmt"

	"github.com/wdgnn/wdgnn/internal/kernel"
)

// job is one product or elementwise operation, cut by rows of its destination.
type job struct {
	op         operation
	y, a, b    Dense
	s          *CSR
	bias       []float32 // what every row of a product starts from; empty for zeros
	panels     int       // of a, one below the other
	p, q, r    float32
	accumulate bool
}

type operation uint8

const (
	opSpMM operation = iota
	opMul
	opMulATB
	opMulABT
	opAddScaled
	opScale
	opBlend
	opLeakyReLU
	opLeakyReLUBack
	opTanh
	opTanhBack
)

// run does rows lo ≤ i < hi of the destination.
func (j *job) run(lo, hi int) {
	if lo >= hi || j.y.Cols == 0 {
		return
	}
	switch y, a, b := &j.y, &j.a, &j.b; j.op {
	case opSpMM:
		kernels.SpMM(y.Data, y.Stride, j.s.RowPtr, j.s.Col, j.s.Val, a.Data, a.Stride, lo, hi, y.Cols)
	case opMul:
		rows := a.Rows / j.panels
		j.gemm(kernel.Product{A: a.Data[lo*a.Stride:], ARow: a.Stride, ACol: 1, APanel: rows * a.Stride, K: a.Cols, Panels: j.panels}, lo, hi)
	case opMulATB:
		j.gemm(kernel.Product{A: a.Data[lo:], ARow: 1, ACol: a.Stride, K: a.Rows, Panels: 1}, lo, hi)
	case opMulABT:
		kernels.GemmBT(y.Data[lo*y.Stride:], y.Stride, a.Data[lo*a.Stride:], a.Stride, b.Data, b.Stride, hi-lo, y.Cols, a.Cols, j.accumulate)
	default:
		j.elementwise(lo, hi)
	}
}

// gemm completes a product by what its forms have in common.
func (j *job) gemm(g kernel.Product, lo, hi int) {
	y, b := j.y, j.b
	g.C, g.LDC, g.B, g.LDB, g.M, g.N = y.Data[lo*y.Stride:], y.Stride, b.Data, b.Stride, hi-lo, y.Cols
	switch {
	case j.accumulate:
		g.Start, g.StartLD = g.C, g.LDC
	case len(j.bias) > 0:
		g.Start = j.bias
	}
	kernels.Gemm(g)
}

// SpMM computes Y = S X, the graph shift of eq. (1).
//
//	S: N×M   X: M×F   Y: N×F, overwritten
//
// Each element of Y is summed over the stored columns of its row in ascending
// order. A row computed alone, as an agent does, therefore equals the same row
// of the full product bit for bit.
//
// SpMM panics if shapes disagree, if Y shares memory with X or if an entry lies
// outside S.
func (e *Engine) SpMM(y Dense, s *CSR, x Dense) {
	if s.Rows != y.Rows || s.Cols != x.Rows || y.Cols != x.Cols {
		panic(fmt.Sprintf("mat: SpMM: %s = %d×%d sparse times %s", y.shape(), s.Rows, s.Cols, x.shape()))
	}
	apart("SpMM", &y, &x)
	s.trust()
	if work := s.NNZ() * x.Cols; e.alone(work) {
		if y.Cols > 0 {
			kernels.SpMM(y.Data, y.Stride, s.RowPtr, s.Col, s.Val, x.Data, x.Stride, 0, y.Rows, y.Cols)
		}
		return
	}
	e.do(&job{op: opSpMM, y: y, s: s, a: x}, y.Rows, s.NNZ()*x.Cols)
}

// Mul computes C = A B, C overwritten.
//
//	A: M×K   B: K×N   C: M×N
//
// The sum over K runs in ascending order. Mul panics if shapes disagree or if
// C shares memory with A or B.
func (e *Engine) Mul(c, a, b Dense) { e.mul("Mul", c, nil, 1, a, b, false) }

// AddMul computes C += A B, adding the terms of the sum to C one by one. So
// Σ_k Z_k A_k as a chain of AddMul equals the one product of the Z_k side by
// side with the A_k stacked, bit for bit.
func (e *Engine) AddMul(c, a, b Dense) { e.mul("AddMul", c, nil, 1, a, b, true) }

// MulBias computes C = 1aᵀ + A B, C overwritten: every row starts from the
// bias a, N values. An empty bias stands for zeros.
func (e *Engine) MulBias(c Dense, bias []float32, a, b Dense) {
	if len(bias) != 0 && len(bias) != c.Cols {
		panic(fmt.Sprintf("mat: MulBias: a bias of %d for %s", len(bias), c.shape()))
	}
	e.mul("MulBias", c, bias, 1, a, b, false)
}

// AddMulStacked computes C += Σ_t A_t B_t in one pass over C, where the A_t
// and the B_t stand one below the other in A and B:
//
//	A: (T·M)×K   B: (T·K)×N   C: M×N
//
// It gives the bits of a chain of AddMul.
func (e *Engine) AddMulStacked(c Dense, panels int, a, b Dense) {
	e.mul("AddMulStacked", c, nil, panels, a, b, true)
}

// MulBiasStacked computes C = 1aᵀ + Σ_t A_t B_t, C overwritten, of operands as
// AddMulStacked has them. It gives the bits of MulBias and a chain of AddMul.
func (e *Engine) MulBiasStacked(c Dense, bias []float32, panels int, a, b Dense) {
	if len(bias) != 0 && len(bias) != c.Cols {
		panic(fmt.Sprintf("mat: MulBiasStacked: a bias of %d for %s", len(bias), c.shape()))
	}
	e.mul("MulBiasStacked", c, bias, panels, a, b, false)
}

func (e *Engine) mul(op string, c Dense, bias []float32, panels int, a, b Dense, accumulate bool) {
	if panels < 1 || c.Rows*panels != a.Rows || c.Cols != b.Cols || a.Cols*panels != b.Rows {
		panic(fmt.Sprintf("mat: %s: %s = %s times %s", op, c.shape(), a.shape(), b.shape()))
	}
	apart(op, &c, &a)
	apart(op, &c, &b)
	if a.Empty() {
		c.start(bias, accumulate)
		return
	}
	e.do(&job{op: opMul, y: c, a: a, b: b, bias: bias, panels: panels, accumulate: accumulate}, c.Rows, c.Rows*c.Cols*b.Rows)
}

// start writes what a product without terms leaves.
func (a Dense) start(bias []float32, accumulate bool) {
	switch {
	case accumulate:
	case len(bias) > 0:
		FillRows(a, bias)
	default:
		a.Zero()
	}
}

// MulATB computes C = Aᵀ B, C overwritten.
//
//	A: K×M   B: K×N   C: M×N
func (e *Engine) MulATB(c, a, b Dense) { e.mulATB("MulATB", c, a, b, false) }

// AddMulATB computes C += Aᵀ B, the form of a filter tap's gradient.
func (e *Engine) AddMulATB(c, a, b Dense) { e.mulATB("AddMulATB", c, a, b, true) }

func (e *Engine) mulATB(op string, c, a, b Dense, accumulate bool) {
	if c.Rows != a.Cols || c.Cols != b.Cols || a.Rows != b.Rows {
		panic(fmt.Sprintf("mat: %s: %s = (%s)ᵀ times %s", op, c.shape(), a.shape(), b.shape()))
	}
	apart(op, &c, &a)
	apart(op, &c, &b)
	if a.Empty() {
		c.start(nil, accumulate)
		return
	}
	e.do(&job{op: opMulATB, y: c, a: a, b: b, accumulate: accumulate}, c.Rows, c.Rows*c.Cols*a.Rows)
}

// MulABT computes C = A Bᵀ, C overwritten.
//
//	A: M×K   B: N×K   C: M×N
func (e *Engine) MulABT(c, a, b Dense) { e.mulABT("MulABT", c, a, b, false) }

// AddMulABT computes C += A Bᵀ, the form of an input's gradient.
func (e *Engine) AddMulABT(c, a, b Dense) { e.mulABT("AddMulABT", c, a, b, true) }

func (e *Engine) mulABT(op string, c, a, b Dense, accumulate bool) {
	if c.Rows != a.Rows || c.Cols != b.Rows || a.Cols != b.Cols {
		panic(fmt.Sprintf("mat: %s: %s = %s times (%s)ᵀ", op, c.shape(), a.shape(), b.shape()))
	}
	apart(op, &c, &a)
	apart(op, &c, &b)
	if a.Empty() {
		c.start(nil, accumulate)
		return
	}
	e.do(&job{op: opMulABT, y: c, a: a, b: b, accumulate: accumulate}, c.Rows, c.Rows*c.Cols*a.Cols)
}

// AddColumnSums computes y[j] += Σ_i x[i,j], i ascending: the gradient of a
// bias that was added to every row.
func (e *Engine) AddColumnSums(y []float32, x Dense) {
	if len(y) != x.Cols {
		panic(fmt.Sprintf("mat: AddColumnSums: %d sums of %s", len(y), x.shape()))
	}
	if !x.Empty() {
		kernels.ColumnSums(y, x.Data, x.Stride, x.Rows, x.Cols)
	}
}
