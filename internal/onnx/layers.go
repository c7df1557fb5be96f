package onnx

import (
	"fmt"
	"slices"

	"github.com/wdgnn/wdgnn/gnn"
)

// part is some of the shifted signals Z_0 … Z_K of a filter's input, side by side:
// B×N×(hops·features).
type part struct {
	name        string
	first, hops int // Z_first and the next
}

// shift returns the shifted signals of x, the input of layer l, up to an order:
// Z_k = S Z_{k-1}, or, delayed, S_t Z_{k-1}(t-1).
func (e *exporter) shift(l int, x string, features, order int) []part {
	z := []part{{x, 0, 1}}
	if order == 0 {
		return z
	}
	if e.Delayed {
		return append(z, e.delay(l, x, features, order))
	}
	for k := 1; k <= order; k++ {
		x = e.g.apply(fmt.Sprintf("shift.%d.%d", l, k), "MatMul", "S", x)
		z = append(z, part{x, k, 1})
	}
	return z
}

// delay returns [Z_1(t) … Z_K(t)] of layer l, and lets out what the next step must
// know, [Z_0(t) … Z_{K-1}(t)]:
//
//	[Z_1(t) … Z_K(t)] = S_t [Z_0(t-1) … Z_{K-1}(t-1)]
//	next              = X_t [I 0 … 0] + [Z_1(t) … Z_K(t)] P
//
// P moves every signal one place to the right and drops the last. A product with
// zeros and ones changes no bit.
func (e *exporter) delay(l int, x string, features, order int) part {
	name, width := fmt.Sprintf("line.%d", l), order*features
	before := e.input(name, e.rows(width)...)
	z := e.g.apply(fmt.Sprintf("shift.%d", l), "MatMul", "S", before)
	first := make([]float32, features*width)
	for j := range features {
		first[j*width+j] = 1
	}
	next := e.g.apply(name+".first", "MatMul", x, e.g.constant(name+".begin", first, features, width))
	if order > 1 {
		move := make([]float32, width*width)
		for j := range width - features {
			move[j*width+j+features] = 1
		}
		rest := e.g.apply(name+".rest", "MatMul", z, e.g.constant(name+".move", move, width, width))
		next = e.g.apply(name+".both", "Add", next, rest)
	}
	e.g.rename(next, fmt.Sprintf("next.%d", l))
	e.lines = append(e.lines, line{fmt.Sprintf("next.%d", l), width})
	return part{z, 1, order}
}

// filter returns 1aᵀ + Σ_k Z_k A_k, eq. (3). There may be more shifted signals than
// taps.
func (e *exporter) filter(name string, f *gnn.Filter, z []part) string {
	sum := ""
	for _, p := range z {
		if p.first > f.Order() {
			break
		}
		taps := make([]float32, 0, p.hops*f.In()*f.Out())
		for k := p.first; k <= f.Order() && k < p.first+p.hops; k++ {
			for j := range f.In() {
				taps = append(taps, f.Taps[k].Row(j)...)
			}
		}
		taps = taps[:cap(taps)] // those that the filter does not have are 0
		tap := e.g.constant(fmt.Sprintf("%s.tap.%d", name, p.first), taps, p.hops*f.In(), f.Out())
		term := e.g.apply(fmt.Sprintf("%s.term.%d", name, p.first), "MatMul", p.name, tap)
		switch {
		case sum != "":
			sum = e.g.apply(fmt.Sprintf("%s.sum.%d", name, p.first), "Add", sum, term)
		case len(f.Bias) > 0:
			sum = e.g.apply(name+".sum.0", "Add", term, e.g.constant(name+".bias", f.Bias, len(f.Bias)))
		default:
			sum = term
		}
	}
	return sum
}

// activate returns σ(x).
func (e *exporter) activate(name string, a gnn.Activation, x string) string {
	name += ".out"
	switch a {
	case gnn.ReLU:
		return e.g.apply(name, "Relu", x)
	case gnn.Tanh:
		return e.g.apply(name, "Tanh", x)
	case gnn.LeakyReLU: // max(x, 0) - 0.01 max(-x, 0)
		minus := e.g.apply(name+".minus", "Mul", x, e.g.constant("minus", []float32{-1}))
		below := e.g.apply(name+".below", "Relu", minus)
		slope := e.g.apply(name+".slope", "Mul", below, e.g.constant("slope", []float32{-0.01}))
		return e.g.apply(name, "Add", e.g.apply(name+".above", "Relu", x), slope)
	}
	return x // the identity
}

// blend returns U = α_W A + α_D Φ + β, or the part that there is.
func (e *exporter) blend(wide, deep string) string {
	gain := e.Network.Params.Gain
	switch {
	case deep == "":
		return wide
	case wide == "":
		return deep
	}
	wide = e.g.apply("wide.weighed", "Mul", wide, e.g.constant("gain.wide", gain[gnn.GainWide:gnn.GainWide+1]))
	deep = e.g.apply("deep.weighed", "Mul", deep, e.g.constant("gain.deep", gain[gnn.GainDeep:gnn.GainDeep+1]))
	both := e.g.apply("blend.sum", "Add", wide, deep)
	return e.g.apply("blend", "Add", both, e.g.constant("gain.bias", gain[gnn.GainBias:gnn.GainBias+1]))
}

// readout returns U R + 1cᵀ, or U if there is none.
func (e *exporter) readout(u string) string {
	r := &e.Network.Params.Readout
	if r.Weight.Empty() {
		return u
	}
	weight := make([]float32, 0, r.Weight.Rows*r.Weight.Cols)
	for j := range r.Weight.Rows {
		weight = append(weight, r.Weight.Row(j)...)
	}
	y := e.g.apply("readout.product", "MatMul", u, e.g.constant("readout.weight", weight, r.Weight.Rows, r.Weight.Cols))
	if len(r.Bias) == 0 {
		return y
	}
	return e.g.apply("readout", "Add", y, e.g.constant("readout.bias", r.Bias, len(r.Bias)))
}

// own adds to y what nodes with taps of their own add, Σ_k z_ik Δ_ik + δ_i. The
// operators have no product that is another one for every node, so with W columns
// of shifted signals it is
//
//	(Z R ∘ D) T      Z: N×W   R: W×(W·C)   D: N×(W·C)   T: (W·C)×C
//
// where row i of D is Δ_i flat, R repeats every column of Z for the C outputs, and T
// adds up what belongs to the same one.
func (e *exporter) own(y string, z []part) (string, error) {
	if len(e.Own) == 0 {
		return y, nil
	}
	f, outputs := &e.Network.Params.Wide, e.Network.Outputs()
	inputs := len(f.Taps) * f.In()
	delta := make([]float32, e.Nodes*(inputs+1)*outputs)
	for i, values := range e.Own {
		if i < 0 || i >= e.Nodes || len(values) != (inputs+1)*outputs {
			return "", fmt.Errorf("onnx: node %d of %d has %d numbers of its own, want %d", i, e.Nodes, len(values), (inputs+1)*outputs)
		}
		for k, v := range values {
			delta[i*len(values)+k] = float32(v)
		}
	}
	for _, p := range z {
		if p.first > f.Order() {
			break
		}
		columns := p.hops * f.In()
		d := e.columns(delta, (inputs+1)*outputs, p.first*f.In()*outputs, columns*outputs, inputs*outputs)
		y = e.ownPart(y, p, columns, outputs, d)
	}
	bias := e.columns(delta, (inputs+1)*outputs, inputs*outputs, outputs, (inputs+1)*outputs)
	return e.g.apply("own", "Add", y, e.g.constant("own.bias", bias, e.Nodes, outputs)), nil
}

// ownPart adds (Z R ∘ D) T of some columns of Z.
func (e *exporter) ownPart(y string, p part, columns, outputs int, d []float32) string {
	repeat, total := make([]float32, columns*columns*outputs), make([]float32, columns*outputs*outputs)
	for j := range columns {
		for c := range outputs {
			repeat[j*columns*outputs+j*outputs+c] = 1
			total[(j*outputs+c)*outputs+c] = 1
		}
	}
	name := fmt.Sprintf("own.%d", p.first)
	r := e.g.constant(fmt.Sprintf("own.repeat.%d", columns), repeat, columns, columns*outputs)
	t := e.g.constant(fmt.Sprintf("own.total.%d", columns), total, columns*outputs, outputs)
	wide := e.g.apply(name+".repeated", "MatMul", p.name, r)
	term := e.g.apply(name+".weighed", "Mul", wide, e.g.constant(name+".delta", d, e.Nodes, columns*outputs))
	return e.g.apply(name+".sum", "Add", y, e.g.apply(name+".total", "MatMul", term, t))
}

// columns cuts columns from, from+1, … of every node's row out of delta; those at end
// and beyond are 0.
func (e *exporter) columns(delta []float32, row, from, count, end int) []float32 {
	cut := make([]float32, 0, e.Nodes*count)
	for i := range e.Nodes {
		have := delta[i*row+from : i*row+min(from+count, end)]
		cut = append(append(cut, have...), slices.Repeat([]float32{0}, count-len(have))...)
	}
	return cut
}
