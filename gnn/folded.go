package gnn

import "github.com/wdgnn/wdgnn/mat"

// folded is what Tape.Fold keeps: with the readout R behind a wide part that is
// linear, eq. (2) is
//
//	Y = Z M + Φ D + 1mᵀ      M = α_W A R   D = α_D R   mᵀ = α_W aᵀR + β 1ᵀR + cᵀ
//
//	Z: (N·B)×((K+1)·F)   M: ((K+1)·F)×C   Φ: (N·B)×G   D: G×C
//
// and with H = Zᵀ dY, P = Φᵀ dY and s the sum of the rows of dY,
//
//	dA += α_W H Rᵀ      da += α_W R s      dR += α_W (AᵀH + a sᵀ) + α_D P + β 1sᵀ      dc += s
//	dα_W += ⟨A R, H⟩ + ⟨aᵀR, s⟩      dα_D += ⟨R, P⟩      dβ += ⟨1ᵀR, s⟩
type folded struct {
	m, d  mat.Dense // M, D
	bias  []float32 // m
	h, p  mat.Dense // H, and AᵀH or P
	s     []float32
	dWide mat.Dense // H Rᵀ, the shape of 𝒜
}

// canFold says whether Tape.Fold makes a difference.
func (m *WideDeep) canFold() bool { return m.Config.Outputs > 0 && m.Config.Wide != nil }

// gains returns α_W, α_D and β; 1, 1 and 0 in a model of one part.
func (m *WideDeep) gains() (wide, deep, bias float32) {
	if g := m.Params.Gain; len(g) > 0 {
		return g[GainWide], g[GainDeep], g[GainBias]
	}
	return 1, 1, 0
}

// finishFolded reads Y out of shifted inputs and the deep part's output.
func (m *WideDeep) finishFolded(y, z, deep mat.Dense, tape *Tape) {
	f, e := &tape.folded, tape.Engine
	wide, r := &m.Params.Wide, m.Params.Readout
	alphaWide, alphaDeep, beta := m.gains()
	f.m = f.m.Resize(wide.stack.Rows, y.Cols)
	e.Mul(f.m, wide.stack, r.Weight)
	e.Scale(f.m, alphaWide)
	f.bias = append(f.bias[:0], make([]float32, y.Cols)...)
	copy(f.bias, r.Bias)
	for g := range r.Weight.Rows {
		shift := beta
		if len(wide.Bias) > 0 {
			shift += float32(alphaWide * wide.Bias[g])
		}
		for c, v := range r.Weight.Row(g) {
			f.bias[c] += float32(shift * v)
		}
	}
	e.MulBias(y, f.bias, wide.columns(z), f.m)
	if !deep.Empty() {
		f.d = f.d.Resize(r.Weight.Rows, r.Weight.Cols)
		f.d.CopyFrom(r.Weight)
		e.Scale(f.d, alphaDeep)
		e.AddMul(y, deep, f.d)
	}
}

// backwardFolded adds the gradients of 𝒜, readout and gains to grad, and
// overwrites du with the gradient of U unless it is empty.
func (m *WideDeep) backwardFolded(grad *Params, du, dy mat.Dense, in *Input, tape *Tape) {
	f, e := &tape.folded, tape.Engine
	wide, r := &m.Params.Wide, m.Params.Readout
	alphaWide, alphaDeep, beta := m.gains()
	f.h, f.s = f.h.Resize(wide.stack.Rows, dy.Cols), append(f.s[:0], make([]float32, dy.Cols)...)
	e.MulATB(f.h, wide.columns(in.outputs()), dy)
	e.AddColumnSums(f.s, dy)

	f.dWide = f.dWide.Resize(wide.stack.Rows, wide.stack.Cols)
	e.MulABT(f.dWide, f.h, r.Weight)
	e.AddScaled(grad.Wide.stack, alphaWide, f.dWide)
	f.p = f.p.Resize(r.Weight.Rows, r.Weight.Cols)
	e.MulATB(f.p, wide.stack, f.h)
	e.AddScaled(grad.Readout.Weight, alphaWide, f.p)
	dWide, dDeep, dBias := e.Dot(f.dWide, wide.stack), 0.0, 0.0
	if n := len(m.Params.deep.Layers); n > 0 {
		e.MulATB(f.p, tape.deep.Layers[n-1].Out, dy)
		e.AddScaled(grad.Readout.Weight, alphaDeep, f.p)
		dDeep = e.Dot(r.Weight, f.p)
	}
	if !du.Empty() {
		e.MulABT(du, dy, r.Weight)
	}
	for g := range r.Weight.Rows {
		sum := 0.0 // of the gradients of U's feature g
		shift := beta
		if len(wide.Bias) > 0 {
			shift += float32(alphaWide * wide.Bias[g])
		}
		for c, v := range r.Weight.Row(g) {
			sum += float64(float64(v) * float64(f.s[c]))
			grad.Readout.Weight.Row(g)[c] += float32(shift * f.s[c])
		}
		dBias += sum
		if len(wide.Bias) > 0 {
			grad.Wide.Bias[g] += float32(float64(alphaWide) * sum)
			dWide += float64(float64(wide.Bias[g]) * sum)
		}
	}
	for c := range grad.Readout.Bias {
		grad.Readout.Bias[c] += f.s[c]
	}
	if len(grad.Gain) > 0 {
		grad.Gain[GainWide] += float32(dWide)
		grad.Gain[GainDeep] += float32(dDeep)
		grad.Gain[GainBias] += float32(dBias)
	}
}
