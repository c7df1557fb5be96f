package gnn

import (
	"github.com/wdgnn/wdgnn/mat"
)

// Layer is one layer of eq. (4): a filter and a pointwise nonlinearity,
//
//	X_ℓ = σ(1bᵀ + Σ_k Sᵏ X_{ℓ-1} B_ℓk)      X_{ℓ-1}: (N·B)×F_{ℓ-1}   X_ℓ: (N·B)×F_ℓ
type Layer struct {
	Filter
	Activation Activation
}

// LayerTape is what Layer.Forward leaves for Layer.Backward.
type LayerTape struct {
	FilterTape
	Out  mat.Dense // X_ℓ
	read mat.Dense // Q_0 over Q_1 over …, where only some rows are read
}

// Forward computes the layer's output, which it leaves in tape.Out.
func (l *Layer) Forward(s *mat.CSR, x mat.Dense, tape *LayerTape) {
	tape.Out = tape.Out.Resize(x.Rows, l.Filter.Out())
	l.Filter.Forward(tape.Out, s, x, &tape.FilterTape)
	l.Activation.forward(tape.Engine, tape.Out)
}

// Backward adds the gradients of one pass to grad and, unless dx is empty,
// overwrites dx with the gradient of the layer's input. It overwrites dy.
func (l *Layer) Backward(grad *Filter, dx mat.Dense, st *mat.CSR, dy mat.Dense, tape *LayerTape) {
	l.Activation.backward(tape.Engine, dy, tape.Out, 1)
	l.Filter.Backward(grad, dx, st, dy, &tape.FilterTape)
}

// forwardShifted is Forward on signals that were shifted before.
func (l *Layer) forwardShifted(z mat.Dense, tape *LayerTape) {
	tape.Out = tape.Out.Resize(z.Rows, l.Filter.Out())
	l.Filter.forwardShifted(tape.Engine, tape.Out, z)
	l.Activation.forward(tape.Engine, tape.Out)
}

// forwardRead is Forward at the rows that are read: with P the rows of
// S⁰, …, Sᴷ that belong to them,
//
//	[Q_0; …; Q_K] = P X_{ℓ-1}       Y = σ(1bᵀ + Σ_k Q_k B_ℓk)
func (l *Layer) forwardRead(r *Rows, x mat.Dense, tape *LayerTape) {
	n := r.powers.Cols
	b := x.Rows / n
	taps, rows := len(l.Taps), len(r.Nodes)*b
	tape.read = tape.read.Resize(taps*rows, x.Cols)
	tape.Engine.Mul(tape.read.Reshape(taps*len(r.Nodes), b*x.Cols), r.powers.View(0, 0, taps*len(r.Nodes), n), x.Reshape(n, b*x.Cols))
	tape.Out = tape.Out.Resize(rows, l.Filter.Out())
	l.sumStacked(tape.Engine, tape.Out, tape.read)
	l.Activation.forward(tape.Engine, tape.Out)
}

// backwardRead is the adjoint of forwardRead:
//
//	dB_ℓk += Q_kᵀ dY      dQ_k = dY B_ℓkᵀ      dX_{ℓ-1} = Pᵀ [dQ_0; …; dQ_K]
//
// dy is the gradient before the nonlinearity.
func (l *Layer) backwardRead(grad *Filter, dx mat.Dense, r *Rows, dy mat.Dense, tape *LayerTape) {
	e := tape.Engine
	if len(l.Bias) > 0 {
		e.AddColumnSums(grad.Bias, dy)
	}
	for k := range l.Taps {
		q := tape.read.View(k*dy.Rows, 0, dy.Rows, tape.read.Cols)
		e.AddMulATB(grad.Taps[k], q, dy)
		e.MulABT(q, dy, l.Taps[k]) // Q_k is not needed any more: dQ_k takes its place
	}
	n := r.powers.Cols
	b := dx.Rows / n
	taps := len(l.Taps) * len(r.Nodes)
	e.MulATB(dx.Reshape(n, b*dx.Cols), r.powers.View(0, 0, taps, n), tape.read.Reshape(taps, b*dx.Cols))
}
