package gnn

import (
	"fmt"
	"math/rand/v2"

	"github.com/wdgnn/wdgnn/mat"
)

// WideDeep is the wide and deep graph neural network of eq. (2) with a local
// readout:
//
//	U = α_W A(X; S, 𝒜) + α_D Φ(X; S, ℬ) + β      Y = U R + 1cᵀ
//
// A model without a deep part is the graph filter of eq. (3), one without a
// wide part the GNN of eq. (4); then U is that part.
//
// Reading a WideDeep is safe for any number of goroutines, a tape each.
type WideDeep struct {
	Config Config
	Params Params
}

// New returns a model with all parameters zero.
func New(c Config) (*WideDeep, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return &WideDeep{Config: c, Params: NewParams(c, nil)}, nil
}

// NewRandom returns a model with starting values drawn from rng.
func NewRandom(c Config, rng *rand.Rand) (*WideDeep, error) {
	m, err := New(c)
	if err != nil {
		return nil, err
	}
	m.Params.Init(c, rng)
	return m, nil
}

// Deep returns the deep part, which shares the model's parameters.
func (m *WideDeep) Deep() *Deep { return &m.Params.deep }

// Outputs returns the number of columns of Y: C, or G without a readout.
func (m *WideDeep) Outputs() int {
	if m.Config.Outputs > 0 {
		return m.Config.Outputs
	}
	return m.Config.Features
}

// InputOrder returns the order up to which an Input must be shifted: the
// larger of the wide part's and the first layer's.
func (m *WideDeep) InputOrder() int {
	order := m.Params.Wide.Order() // -1 without a wide part
	if len(m.Params.Deep) > 0 {
		order = max(order, m.Params.Deep[0].Order())
	}
	return order
}

// LastOrder returns the order of the last filter that NewRows must know.
func (m *WideDeep) LastOrder() int {
	if n := len(m.Params.Deep); n > 0 {
		return m.Params.Deep[n-1].Order()
	}
	return 0
}

// Tape is what WideDeep.Forward leaves for WideDeep.Backward. The zero Tape
// works on one thread.
type Tape struct {
	Engine *mat.Engine

	// Fold multiplies taps of the wide part by the readout before the signal,
	// Z (A R) instead of (Z A) R: far fewer operations where there are few
	// outputs. Results agree within rounding. Without a readout it is ignored.
	Fold bool

	folded  folded
	deep    DeepTape
	wide    mat.Dense // A(X; S, 𝒜), one row per output row, and then U
	u       mat.Dense // U
	du      mat.Dense
	dWide   mat.Dense // Zᵀ dU, the shape of 𝒜
	colSums []float32 // Σ rows of dU
	dz      mat.Dense
	shifter Shifter
}

// Deep gives access to what the deep part left on the tape.
func (t *Tape) Deep() *DeepTape { return &t.deep }

// Forward writes Ψ to y, overwritten: a row per node and sample, or per node
// read and sample, (N·B)×C or (R·B)×C.
func (m *WideDeep) Forward(y mat.Dense, in *Input, tape *Tape) {
	z := in.outputs()
	if y.Rows != z.Rows || y.Cols != m.Outputs() || z.Cols < (m.InputOrder()+1)*m.Config.In {
		panic(fmt.Sprintf("gnn: Forward: outputs %d×%d of inputs %d×%d, shifted to order %d of %d features",
			y.Rows, y.Cols, z.Rows, z.Cols, m.InputOrder(), m.Config.In))
	}
	fold := tape.Fold && m.canFold()
	if !fold {
		m.forwardWide(z, tape)
	}
	var deep mat.Dense
	if len(m.Params.deep.Layers) > 0 {
		tape.deep.Engine = tape.Engine
		deep = m.Params.deep.Forward(in, &tape.deep)
	}
	if fold {
		m.finishFolded(y, z, deep, tape)
		return
	}
	m.finish(y, deep, tape)
}

// Predict writes Ψ(X; S, 𝒜, ℬ) to y, overwritten: the answer of every node to
// one signal, or to a batch of B.
//
//	S: N×N   X: (N·B)×F   Y: (N·B)×C
//
// It is a Forward of the shifted signal, to the same bits, with memory of its
// own. Where signals come at a rate, a Shifter and a Tape that are kept save
// that; nodes that learn are a matter of package online.
//
// Predict panics if shapes disagree.
func (m *WideDeep) Predict(y mat.Dense, s *mat.CSR, x mat.Dense) {
	if s.Rows != s.Cols || s.Rows == 0 || x.Rows%s.Rows != 0 || x.Cols != m.Config.In || y.Rows != x.Rows || y.Cols != m.Outputs() {
		panic(fmt.Sprintf("gnn: Predict: outputs %d×%d of a signal %d×%d on a shift %d×%d, for a model of %d features and %d outputs",
			y.Rows, y.Cols, x.Rows, x.Cols, s.Rows, s.Cols, m.Config.In, m.Outputs()))
	}
	in := Input{Shift: s, Shifted: mat.NewDense(x.Rows, (m.InputOrder()+1)*x.Cols, nil)}
	new(Shifter).Shift(in.Shifted, s, x)
	m.Forward(y, &in, new(Tape))
}

// forwardWide computes A(X; S, 𝒜) from shifted inputs, if there is a wide part.
func (m *WideDeep) forwardWide(z mat.Dense, tape *Tape) {
	if m.Config.Wide != nil {
		tape.wide = tape.wide.Resize(z.Rows, m.Config.Features)
		m.Params.Wide.forwardShifted(tape.Engine, tape.wide, z)
	}
}

// finish blends the wide part on the tape with the deep part's output and
// reads Y out.
func (m *WideDeep) finish(y, deep mat.Dense, tape *Tape) {
	switch {
	case len(m.Params.deep.Layers) == 0:
		tape.u = tape.wide
	case m.Config.Wide == nil:
		tape.u = deep
	default:
		g := m.Params.Gain
		tape.Engine.Blend(tape.wide, g[GainWide], tape.wide, g[GainDeep], deep, g[GainBias])
		tape.u = tape.wide
	}
	if m.Config.Outputs > 0 {
		m.Params.Readout.Forward(tape.Engine, y, tape.u)
	} else {
		y.CopyFrom(tape.u)
	}
}

// Backward adds the gradients of the pass that tape holds to grad, given dy,
// the gradient of Y. Unless dx is empty it overwrites dx, (N·B)×F, with the
// gradient of the signal; that needs Input.ShiftT and every node read.
//
// With dU the gradient of U and Z the shifted inputs:
//
//	dA   += α_W Zᵀ dU          dα_W += ⟨dU, A(X)⟩ = ⟨Zᵀ dU, A⟩ + ⟨Σ rows of dU, a⟩
//	dΦ    = α_D dU             dα_D += ⟨dU, Φ⟩
//	dβ   += Σ dU
func (m *WideDeep) Backward(grad *Params, dx mat.Dense, dy mat.Dense, in *Input, tape *Tape) {
	e := tape.Engine
	fold := tape.Fold && m.canFold()
	var du mat.Dense
	if !fold || len(m.Params.deep.Layers) > 0 || !dx.Empty() {
		tape.du = tape.du.Resize(dy.Rows, m.Config.Features)
		du = tape.du
	}
	alphaWide, alphaDeep, _ := m.gains()
	switch {
	case fold:
		m.backwardFolded(grad, du, dy, in, tape)
	case m.Config.Outputs > 0:
		m.Params.Readout.Backward(e, &grad.Readout, du, dy, tape.u)
	default:
		du.CopyFrom(dy)
	}
	if !fold {
		if m.Config.Wide != nil {
			m.backwardWide(grad, alphaWide, du, in, tape)
		}
		if len(m.Params.Gain) > 0 {
			grad.Gain[GainDeep] += float32(e.Dot(du, tape.deep.Layers[len(m.Params.deep.Layers)-1].Out))
		}
	}
	if m.Config.FixedGains {
		clear(grad.Gain)
	}
	m.startInputGrad(dx, alphaWide, du, in, tape)
	if len(m.Params.deep.Layers) > 0 {
		first := m.Params.deep.Backward(grad.Deep, in, du, alphaDeep, &tape.deep)
		if !dx.Empty() {
			f := &m.Params.Deep[0]
			e.AddMulABT(f.columns(tape.dz), first, f.stack)
		}
	}
	if !dx.Empty() {
		tape.shifter.Engine = e
		tape.shifter.back(dx, in.ShiftT, tape.dz)
	}
}

// backwardWide adds the gradients of 𝒜, α_W and β.
func (m *WideDeep) backwardWide(grad *Params, alpha float32, du mat.Dense, in *Input, tape *Tape) {
	e, wide := tape.Engine, &m.Params.Wide
	tape.dWide = tape.dWide.Resize(wide.stack.Rows, wide.stack.Cols)
	e.MulATB(tape.dWide, wide.columns(in.outputs()), du)
	e.AddScaled(grad.Wide.stack, alpha, tape.dWide)
	if len(tape.colSums) != du.Cols {
		tape.colSums = make([]float32, du.Cols)
	}
	clear(tape.colSums)
	e.AddColumnSums(tape.colSums, du)
	var dAlpha, dBeta float64
	for j, s := range tape.colSums {
		dBeta += float64(s)
		if len(wide.Bias) > 0 {
			grad.Wide.Bias[j] += float32(alpha * s)
			dAlpha += float64(float64(s) * float64(wide.Bias[j]))
		}
	}
	if len(grad.Gain) > 0 {
		grad.Gain[GainWide] += float32(dAlpha + e.Dot(tape.dWide, wide.stack))
		grad.Gain[GainBias] += float32(dBeta)
	}
}

// startInputGrad begins dZ, the gradient of the shifted inputs, with the wide
// part's.
func (m *WideDeep) startInputGrad(dx mat.Dense, alpha float32, du mat.Dense, in *Input, tape *Tape) {
	if dx.Empty() {
		return
	}
	if in.Read != nil || in.ShiftT == nil {
		panic("gnn: Backward: the gradient of the signal needs every node read and the transposed shift")
	}
	tape.dz = tape.dz.Resize(in.Shifted.Rows, (m.InputOrder()+1)*m.Config.In)
	tape.dz.Zero()
	if m.Config.Wide != nil {
		wide := &m.Params.Wide
		tape.Engine.AddMulABT(wide.columns(tape.dz), du, wide.stack)
		tape.Engine.Scale(tape.dz, alpha)
	}
}
