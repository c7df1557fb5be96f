package crown

import (
	"math"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/internal/vector"
)

// rounding bounds what float32 makes of an answer. With the standard model of
// rounding, fl(a ∘ b) = (a ∘ b)(1 + δ), |δ| ≤ u = 2⁻²⁴, a sum of products in any
// order, with or without fused steps, is off by at most γ_n Σ|terms|, γ_n = n u/(1 - n u),
// where no term is rounded more than n times. So a filter that reads the numbers
// X̂ that were computed before it gives
//
//	ĥ = 1bᵀ + Σ_k Sᵏ X̂ B_k + e        |e| ≤ γ_n (1|b|ᵀ + Σ_k |S|ᵏ |X̂| |B_k|)
//
// and e is one more unknown, with a bound of its own for every number: Crown carries
// it through all later layers as it does noise. A term is rounded K times with a row of
// S, once with its tap, with (K+1)F others, and where only some nodes are read with all nodes within K hops
// instead of hop by hop. tanh errs by 4 units in the last place, 8u, and the slope of a leaky ReLU is
// rounded, then its product: |σ̂ - σ| ≤ 8u|σ|, which is carried in e of the next filter.
//
// Crown itself is computed in float64. Its terms are at most those of |Ψ|, the
// network with the sizes of all parameters and no activations, and it rounds each
// as often as float32 does a few times over: γ of u = 2⁻⁵⁰ covers it.
type rounding struct {
	filters []Filter  // |B_ℓ|, |b_ℓ|
	gamma   []float64 // of each layer
	last    float64   // γ of wide part, gains and readout
	shift   *Shift    // |S|

	whole *Network  // |Ψ|
	tiny  float64   // γ in float64
	grow  []float64 // |Ψ| of unknowns of size 1, without biases, N×C
	first []float64 // |H_1| of unknowns of size 1, N×F_1
}

// sizesOfRow returns Σ_k |S|ᵏ |X| of the node of a, one row of F for every k: X are numbers
// of at most the given sizes, by nodes of the graph.
func (c *Crown) sizesOfRow(a *answer, sizes [][]float64, most []float64, features, order, layer int) [][]float64 {
	var out [][]float64
	for k := range order + 1 {
		z := make([]float64, features)
		for m, p := range sizes[k] {
			if p != 0 {
				i := a.cone.nodes[m]
				vector.Axpy(z, p, most[i*features:(i+1)*features])
			}
		}
		for _, in := range a.enter {
			for hop := range k {
				sent := math.Abs(in.weight) * sizes[k-1-hop][in.local] * c.unknown.most(layer, hop)
				for f := range z {
					z[f] += sent
				}
			}
		}
		out = append(out, z)
	}
	return out
}

// errors returns what float32 adds to the pre-activations of layer ℓ at the node
// of a, ℓ > 1, given the sizes of what it reads.
func (c *Crown) errors(a *answer, layer int, most []float64) []float64 {
	f := &c.round.filters[layer-1]
	e := f.sum(c.sizesOfRow(a, a.sizes, most, f.In, len(f.Taps)-1, layer-1), 1)
	vector.Scale(e, c.round.gamma[layer-1])
	return e
}

// slack bounds the error of every output of the node of a beside those of the
// layers, given the sizes of signal and unknowns together and of the last layer's
// outputs at the node.
//
//	|e_c| ≤ γ (Σ_g |R_gc| (|α_W| W_g + |α_D| |X_L|_g + |β|) + |c_c|)      W = |a| + Σ_k [|S|ᵏ|X|]_i |A_k|
func (c *Crown) slack(a *answer, most, deep []float64) []float64 {
	w := c.round.whole
	u := make([]float64, w.Features)
	for g := range u {
		u[g] = w.GainBias
	}
	if deep != nil {
		vector.Axpy(u, w.GainDeep, deep)
	}
	if w.Wide != nil {
		vector.Axpy(u, w.GainWide, w.Wide.sum(c.sizesOfRow(a, a.sizes, most, w.In, w.wideOrder(), 0), 1))
	}
	e := append([]float64(nil), w.readOut(u)...)
	for _, o := range a.heard {
		row := make([]float64, w.In)
		if o.direct >= 0 {
			for f := range row {
				row[f] = c.unknown.most(0, o.Hop)
			}
		} else {
			row = c.sizesOfRow(a, o.sizes, most, w.In, o.Hop, 0)[o.Hop]
		}
		AddProduct(e, row, absolute(o.Weights), w.In, len(e))
	}
	if bias := c.net.terms[a.node].bias; bias != nil {
		vector.Axpy(e, 1, absolute(bias))
	}
	vector.Scale(e, c.round.last)
	return e
}

// Units of rounding, and how often a result that is stored is rounded beside sums.
const (
	unit32 = 0x1p-24
	unit64 = 0x1p-50
	beside = 12
)

func Gamma(ops int, unit float64) float64 {
	n := float64(ops) * unit
	if n >= 1 {
		return math.Inf(1)
	}
	return n / (1 - n)
}

func newRounding(c *Crown) rounding {
	r := rounding{shift: c.shift.sizes(), whole: c.net.sizes(true)}
	degree, within := 0, 0
	for i := range c.shift.nodes {
		degree = max(degree, c.shift.rowPtr[i+1]-c.shift.rowPtr[i]+1) // a liar's message is one more
	}
	for i, a := range c.read {
		if order := c.net.Order(len(c.net.Deep) - 1); order == c.net.reach(len(c.net.Deep)) {
			within = max(within, len(a.cone.nodes))
		} else {
			within = max(within, len(newCone(c.shift, i, order).nodes))
		}
	}
	all := 0
	count := func(f *Filter) int {
		order := len(f.Taps) - 1
		ops := order*(degree+1) + (order+1)*f.In + beside
		all += ops + within
		return ops
	}
	for l := range c.net.Deep {
		ops := count(&c.net.Deep[l].Filter)
		if l == len(c.net.Deep)-1 && l > 0 {
			ops += within
		}
		r.filters = append(r.filters, r.whole.Deep[l].Filter)
		r.gamma = append(r.gamma, Gamma(ops, unit32))
	}
	ops := c.net.Features + beside
	if c.net.Wide != nil {
		ops += count(c.net.Wide)
	}
	r.last, r.tiny = Gamma(ops, unit32), Gamma(all+ops, unit64)
	pre, grow := c.net.sizes(false).run(r.shift, c.unknown.inputs(c.shift.nodes*c.net.In), nil)
	if r.grow = grow; len(pre) > 0 {
		r.first = pre[0]
	}
	return r
}

// sizes returns |Ψ|, with the sizes of biases or without any.
func (n *Network) sizes(bias bool) *Network {
	out := &Network{
		In: n.In, Features: n.Features, Outputs: n.Outputs,
		GainWide: math.Abs(n.GainWide), GainDeep: math.Abs(n.GainDeep), Readout: absolute(n.Readout),
	}
	if bias {
		out.GainBias, out.Offset = math.Abs(n.GainBias), absolute(n.Offset)
	}
	filter := func(f *Filter) Filter {
		g := Filter{Name: f.Name, In: f.In, Out: f.Out}
		for _, tap := range f.Taps {
			g.Taps = append(g.Taps, absolute(tap))
		}
		if bias {
			g.Bias = absolute(f.Bias)
		}
		return g
	}
	if n.Wide != nil {
		f := filter(n.Wide)
		out.Wide = &f
	}
	for l := range n.Deep {
		out.Deep = append(out.Deep, Layer{filter(&n.Deep[l].Filter), gnn.Identity})
	}
	for i, t := range n.terms {
		sizes := nodeTerms{}
		for _, term := range t.list {
			sizes.list = append(sizes.list, Term{term.Node, term.Hop, absolute(term.Weights)})
		}
		if bias {
			sizes.bias = absolute(t.bias)
		}
		if out.terms == nil {
			out.terms = map[int]nodeTerms{}
		}
		out.terms[i] = sizes
	}
	return out
}

func absolute(x []float64) []float64 {
	if x == nil {
		return nil
	}
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = math.Abs(v)
	}
	return out
}

// sizes returns |S|.
func (s *Shift) sizes() *Shift {
	return &Shift{nodes: s.nodes, rowPtr: s.rowPtr, col: s.col, val: absolute(s.val)}
}
