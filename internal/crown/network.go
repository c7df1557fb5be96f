package crown

import (
	"fmt"
	"math"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/internal/vector"
	"github.com/wdgnn/wdgnn/mat"
)

// Filter is a graph filter in float64, the map X ↦ 1aᵀ + Σ_k Sᵏ X A_k of
// eq. (3) or of one layer of eq. (4).
type Filter struct {
	Name    string      // "wide", "deep 1", …
	In, Out int         // F, G
	Taps    [][]float64 // A_k, F×G by rows; K+1 of them
	Bias    []float64   // a, G values; empty if there is none
}

// Layer is a filter and its nonlinearity σ.
type Layer struct {
	Filter
	Activation gnn.Activation
}

// Network is a gnn.WideDeep in float64, the Ψ of eq. (2) with its readout.
type Network struct {
	In, Features, Outputs int

	Wide     *Filter // nil without a wide part
	Deep     []Layer
	GainWide float64   // α_W; 1 in a model of one part
	GainDeep float64   // α_D
	GainBias float64   // β
	Readout  []float64 // R, G×C by rows; nil without a readout
	Offset   []float64 // c, the readout's bias; nil if there is none

	// Perturbed is the network on Ŝ of a pair of graphs, where nodes that hear others have
	// other terms of their own; in all else it is this one. Nil if it is in that too.
	Perturbed *Network

	terms map[int]nodeTerms // of nodes' own; see GiveTerms
}

// NewNetwork converts a model. It shares no memory with m.
func NewNetwork(m *gnn.WideDeep) *Network {
	n := &Network{In: m.Config.In, Features: m.Config.Features, Outputs: m.Outputs(), GainWide: 1, GainDeep: 1}
	if m.Config.Wide != nil {
		f := newFilter("wide", &m.Params.Wide)
		n.Wide = &f
	}
	for l := range m.Params.Deep {
		n.Deep = append(n.Deep, Layer{newFilter(fmt.Sprintf("deep %d", l+1), &m.Params.Deep[l]), m.Config.Deep[l].Activation})
	}
	if g := m.Params.Gain; len(g) > 0 {
		n.GainWide, n.GainDeep, n.GainBias = float64(g[gnn.GainWide]), float64(g[gnn.GainDeep]), float64(g[gnn.GainBias])
	}
	if m.Config.Outputs > 0 {
		n.Readout = wide64(m.Params.Readout.Weight)
		for _, v := range m.Params.Readout.Bias {
			n.Offset = append(n.Offset, float64(v))
		}
	}
	return n
}

func newFilter(name string, f *gnn.Filter) Filter {
	out := Filter{Name: name, In: f.In(), Out: f.Out()}
	for _, tap := range f.Taps {
		out.Taps = append(out.Taps, wide64(tap))
	}
	for _, v := range f.Bias {
		out.Bias = append(out.Bias, float64(v))
	}
	return out
}

// wide64 returns the elements of a in float64, by rows.
func wide64(a mat.Dense) []float64 {
	out := make([]float64, 0, a.Rows*a.Cols)
	for i := range a.Rows {
		for _, v := range a.Row(i) {
			out = append(out, float64(v))
		}
	}
	return out
}

// Signal is X in float64, N×F by rows.
func Signal(x mat.Dense) []float64 { return wide64(x) }

// Filters lists the wide filter and those of the layers.
func (n *Network) Filters() []*Filter {
	var all []*Filter
	if n.Wide != nil {
		all = append(all, n.Wide)
	}
	for l := range n.Deep {
		all = append(all, &n.Deep[l].Filter)
	}
	return all
}

// layers returns X_0 = X and the output X_ℓ of every layer.
func (n *Network) Layers(s *Shift, x []float64) [][]float64 {
	out := [][]float64{x}
	for l := range n.Deep {
		h := n.Deep[l].Apply(s, out[l], true)
		activate(n.Deep[l].Activation, h)
		out = append(out, h)
	}
	return out
}

// Forward returns Ψ(X; S), N×C by rows, in float64. X is N×F by rows, as Signal
// makes it.
func (n *Network) Forward(s *Shift, x []float64) []float64 {
	nodes := s.nodes
	if len(x) != nodes*n.In {
		panic(fmt.Sprintf("crown: Forward: a signal of %d numbers for %d nodes with %d features", len(x), nodes, n.In))
	}
	u := make([]float64, nodes*n.Features)
	for i := range u {
		u[i] = n.GainBias
	}
	if n.Wide != nil {
		vector.Axpy(u, n.GainWide, n.Wide.Apply(s, x, true))
	}
	if len(n.Deep) > 0 {
		vector.Axpy(u, n.GainDeep, n.Layers(s, x)[len(n.Deep)])
	}
	y := n.readOut(u)
	if len(n.terms) > 0 {
		n.addOwn(y, shifted(s, x, n.In, n.ownOrder(), 0, nil), true)
	}
	return y
}

// leakySlope is that of gnn.LeakyReLU.
const leakySlope = 0.01

func activate(a gnn.Activation, x []float64) {
	for i, v := range x {
		switch {
		case a == gnn.Tanh:
			x[i] = math.Tanh(v)
		case a == gnn.ReLU && v < 0:
			x[i] = 0
		case a == gnn.LeakyReLU && v < 0:
			x[i] = leakySlope * v
		}
	}
}

// apply returns H(S) X, with the bias if asked.
func (f *Filter) Apply(s *Shift, x []float64, bias bool) []float64 {
	n := s.nodes
	y := make([]float64, n*f.Out)
	if bias && len(f.Bias) > 0 {
		for i := range n {
			copy(y[i*f.Out:(i+1)*f.Out], f.Bias)
		}
	}
	z, next := x, make([]float64, len(x))
	for k, tap := range f.Taps {
		if k > 0 {
			s.Apply(next, z, f.In)
			if k == 1 {
				z, next = next, make([]float64, len(x)) // x is the caller's
			} else {
				z, next = next, z
			}
		}
		AddProduct(y, z, tap, f.In, f.Out)
	}
	return y
}

// addProduct adds X A to y, X: N×in, A: in×out.
func AddProduct(y, x, a []float64, in, out int) {
	for i := range len(x) / in {
		row := y[i*out : (i+1)*out]
		for f, v := range x[i*in : (i+1)*in] {
			if v != 0 {
				vector.Axpy(row, v, a[f*out:(f+1)*out])
			}
		}
	}
}

// transposed returns the filter whose taps are A_kᵀ, without bias: with Sᵀ in
// place of S it is the adjoint of f.
func (f *Filter) Transposed() *Filter {
	t := &Filter{Name: f.Name, In: f.Out, Out: f.In}
	for _, tap := range f.Taps {
		a := make([]float64, len(tap))
		for i := range f.In {
			for j := range f.Out {
				a[j*f.In+i] = tap[i*f.Out+j]
			}
		}
		t.Taps = append(t.Taps, a)
	}
	return t
}

// folded returns the filter scale · A_k R, without bias, R: Out×outputs; a nil
// R stands for I.
func (f *Filter) Folded(scale float64, r []float64, outputs int) *Filter {
	t := &Filter{Name: f.Name, In: f.In, Out: f.Out}
	if r != nil {
		t.Out = outputs
	}
	for _, tap := range f.Taps {
		a := make([]float64, f.In*t.Out)
		if r == nil {
			vector.Axpy(a, scale, tap)
		} else {
			AddProduct(a, tap, r, f.Out, outputs)
			for i := range a {
				a[i] *= scale
			}
		}
		t.Taps = append(t.Taps, a)
	}
	return t
}

// at returns Σ_k λᵏ A_k, F×G: the filter at one frequency.
func (f *Filter) At(lambda float64) []float64 {
	out := make([]float64, f.In*f.Out)
	for k := len(f.Taps) - 1; k >= 0; k-- { // Horner
		for i, a := range f.Taps[k] {
			out[i] = out[i]*lambda + a
		}
	}
	return out
}
