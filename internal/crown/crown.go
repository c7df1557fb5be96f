package crown

import (
	"fmt"
	"math"

	"github.com/wdgnn/wdgnn/internal/vector"
)

// Crown bounds the answers of single nodes where something that they read is not
// known: noise at the sensors, or the messages of a node that lies. It is linear
// bound propagation backwards (CROWN): a linear function of outputs is carried
// through readout, activations and filters to the unknowns, each activation
// replaced by the straight line that bounds it on the right side,
//
//	qᵀy  ≥  c + ⟨Λ_0, X⟩ + ⟨T, r⟩        for all unknowns in their sets
//
// and what the unknowns can do to the right side is a dual norm of its coefficients.
// The intervals on which activations are replaced come from the same propagation,
// layer by layer; those of the first layer are exact. doc/theory.md derives it.
//
// Bounds hold for answers computed in float32 as well: see rounding.
//
// A Crown is safe for concurrent use; the Cases that it makes are not.
type Crown struct {
	net     *Network
	shift   *Shift // without the columns of a liar
	unknown unknown
	read    map[int]*answer
	inner   []map[int]*answer // by layer ℓ-1 < L-1: nodes whose pre-activations are bounded by a pass of their own
	first   map[int][]float64 // by node, how far unknowns of size 1 move the pre-activations of layer 1
	round   rounding
}

// answer is a row that is bounded: its cone, and the rows of Sᵏ in it.
type answer struct {
	node     int
	features int // F, of the signal
	cone     *cone
	powers   [][]float64
	sizes    [][]float64 // the rows of |S|ᵏ
	enter    []entry     // what a liar sends into the cone
	heard    []overheard // terms of the node's own
}

// NewCrown prepares bounds of the answers of the nodes of read, nil for all, under
// noise. It panics if weights have another shape than signals.
func NewCrown(n *Network, s *Shift, read []int, noise Noise) *Crown {
	if noise.Weights != nil && len(noise.Weights) != s.nodes*n.In {
		panic(fmt.Sprintf("crown: NewCrown: %d weights for %d nodes with %d features", len(noise.Weights), s.nodes, n.In))
	}
	return newCrown(n, s, read, &noise)
}

func newCrown(n *Network, s *Shift, read []int, u unknown) *Crown {
	c := &Crown{net: n, shift: s, unknown: u, read: map[int]*answer{}}
	if read == nil {
		for i := range s.nodes {
			read = append(read, i)
		}
	}
	for _, i := range read {
		c.read[i] = c.row(i, n.reach(len(n.Deep)), max(n.Order(len(n.Deep)-1), n.wideOrder()))
		c.overhear(c.read[i])
	}
	c.round = newRounding(c)
	c.prepare(read)
	return c
}

// prepare finds the nodes whose pre-activations matter, layer by layer from the
// last, and what does not depend on signals: the cones of inner layers, and how far
// unknowns of size 1 move the pre-activations of the first.
func (c *Crown) prepare(read []int) {
	layers := len(c.net.Deep)
	if layers == 0 {
		return
	}
	c.inner = make([]map[int]*answer, layers)
	need := map[int]bool{}
	for _, i := range read {
		need[i] = true
	}
	for l := layers; l >= 1; l-- {
		order := c.net.Order(l - 1)
		c.inner[l-1] = map[int]*answer{}
		wider := map[int]bool{}
		for i := range need {
			if a := c.read[i]; l == layers {
				c.inner[l-1][i] = a
			} else {
				c.inner[l-1][i] = c.row(i, c.net.reach(l), order)
			}
			if l > 1 {
				for _, j := range newCone(c.shift, i, order).nodes {
					wider[j] = true
				}
			}
		}
		if l > 1 {
			need = wider
		}
	}
	c.first = map[int][]float64{}
	var s scratch
	for i, a := range c.inner[0] {
		out := c.net.Deep[0].Out
		spread := make([]float64, out)
		w := make([]float64, out)
		for g := range out {
			w[g] = 1
			f := s.begin(c, a)
			c.backward(f, a, 1, w, nil, &s)
			spread[g] = c.unknown.spread(f, a)
			w[g] = 0
		}
		c.first[i] = spread
	}
}

// row prepares the row of a node.
func (c *Crown) row(node, hops, order int) *answer {
	a := &answer{node: node, features: c.net.In, cone: newCone(c.shift, node, hops)}
	a.powers = a.cone.powers(order)
	a.sizes = (&cone{nodes: a.cone.nodes, self: a.cone.self, shift: a.cone.shift.sizes()}).powers(order)
	a.enter = c.unknown.enter(a.cone)
	return a
}

// reach returns how many hops away the pre-activations of layer ℓ read, those of
// the last one with what the wide part and terms of nodes' own read.
func (n *Network) reach(layer int) int {
	hops := 0
	for l := range layer {
		hops += len(n.Deep[l].Taps) - 1
	}
	if layer == len(n.Deep) {
		hops = max(hops, n.wideOrder())
		for i, t := range n.terms {
			for _, term := range t.list {
				if term.Node != i {
					hops = max(hops, term.Hop+1)
				}
				hops = max(hops, term.Hop)
			}
		}
	}
	return hops
}

func (n *Network) wideOrder() int {
	if n.Wide == nil {
		return 0
	}
	return len(n.Wide.Taps) - 1
}

// functional is a linear function of signal and unknowns, over the nodes of a cone.
type functional struct {
	x     []float64 // Λ_0, nodes×F
	taint []float64 // T, coefficients of what a liar sends
	c     float64
}

// scratch is memory of one pass.
type scratch struct {
	f              functional
	lam, next, sum []float64
	taps           []float64
}

// begin returns an empty functional on the cone of a.
func (s *scratch) begin(c *Crown, a *answer) *functional {
	s.f.x = zeros(s.f.x, len(a.cone.nodes)*c.net.In)
	s.f.taint = zeros(s.f.taint, len(a.enter)*c.unknown.width())
	s.f.c = 0
	return &s.f
}

// zeros returns n zeros, in x if it has room.
func zeros(x []float64, n int) []float64 {
	if cap(x) < n {
		return make([]float64, n)
	}
	x = x[:n]
	clear(x)
	return x
}

// inside is what is known of the pre-activations of a layer, N×F_ℓ each.
type inside struct {
	lines []lines   // σ between straight lines
	error []float64 // what float32 adds to them; nil for nothing
	most  []float64 // sizes of what the layer gives
	ready []bool    // by node, what is known
}

// insides is what is known of all layers. Row m of a cone stands at at[m], or
// at its own number in the graph if at is nil.
type insides struct {
	layers []inside
	at     []int
}

// backward adds a lower bound of wᵀh_ℓ to f: h_ℓ are the pre-activations of layer
// ℓ at the node of a, and in says what is known of the layers below.
//
//	b_k  = B_ℓk w                             F_{ℓ-1}
//	Λ    = Σ_k [Sᵏ]_iᵀ b_kᵀ                   coefficients of X_{ℓ-1}, nodes×F_{ℓ-1}
//	Λ'   = Λ ∘ D,  c += ⟨Λ, intercepts⟩       lower lines where Λ > 0, upper ones where Λ < 0
//	c   += ⟨Λ', 1bᵀ⟩ - ⟨|Λ'|, errors⟩         biases, and what float32 rounds
//	Λ    ← Σ_k (Sᵀ)ᵏ Λ' B_{l,k}ᵀ              for l = ℓ-1, …, 1
func (c *Crown) backward(f *functional, a *answer, layer int, w []float64, in *insides, s *scratch) {
	filter := &c.net.Deep[layer-1].Filter
	f.c += dotBias(w, filter.Bias)
	s.taps = zeros(s.taps, len(filter.Taps)*filter.In)
	for k, tap := range filter.Taps {
		for i := range filter.In {
			s.taps[k*filter.In+i] = vector.Dot(tap[i*filter.Out:(i+1)*filter.Out], w)
		}
	}
	if layer == 1 {
		c.spreadRow(f.x, f.taint, a, 0, filter.In, s.taps)
		return
	}
	s.lam = zeros(s.lam, len(a.cone.nodes)*filter.In)
	c.spreadRow(s.lam, f.taint, a, layer-1, filter.In, s.taps)
	for l := layer - 1; l >= 1; l-- {
		below := &c.net.Deep[l-1]
		f.c += bend(s.lam, below, &in.layers[l-1], a.cone.nodes, in.at)
		s.next = zeros(s.next, len(a.cone.nodes)*below.In)
		c.adjoint(s.next, f.taint, a, l-1, &below.Filter, s)
		s.lam, s.next = s.next, s.lam
	}
	vector.Axpy(f.x, 1, s.lam)
}

// spreadRow adds Σ_k [Sᵏ]_iᵀ b_kᵀ to lam, nodes×F, and to taint what enters on the
// way at exchanges of the given layer.
func (c *Crown) spreadRow(lam, taint []float64, a *answer, layer, features int, taps []float64) {
	orders := len(taps) / features
	for m := range a.cone.nodes {
		row := lam[m*features : (m+1)*features]
		for k := range orders {
			if p := a.powers[k][m]; p != 0 {
				vector.Axpy(row, p, taps[k*features:(k+1)*features])
			}
		}
	}
	for e, in := range a.enter {
		for k := 1; k < orders; k++ { // the coefficients of row Z_k of the node that hears
			block := c.unknown.block(taint, e, layer, k-1)
			for more := k; more < orders; more++ {
				if p := a.powers[more-k][in.local]; p != 0 {
					vector.Axpy(block, in.weight*p, taps[more*features:(more+1)*features])
				}
			}
		}
	}
}

// bend replaces activations by the lines that bound them from below: it multiplies
// lam by slopes and returns what intercepts, biases and roundings of the layer add.
func bend(lam []float64, layer *Layer, in *inside, nodes, at []int) float64 {
	sum, features := 0.0, layer.Out
	for m, node := range nodes {
		if at != nil {
			node = at[m]
		}
		row := lam[m*features : (m+1)*features]
		ln := in.lines[node*features : (node+1)*features]
		for g, v := range row {
			switch {
			case v > 0:
				row[g] = v * ln[g].lowSlope
				sum += v * ln[g].low
			case v < 0:
				row[g] = v * ln[g].highSlope
				sum += v * ln[g].high
			}
		}
		sum += dotBias(row, layer.Bias)
		if in.error != nil {
			for g, e := range in.error[node*features : (node+1)*features] {
				sum -= math.Abs(row[g]) * e
			}
		}
	}
	return sum
}

func dotBias(w, bias []float64) float64 {
	if len(bias) == 0 {
		return 0
	}
	return vector.Dot(w, bias)
}

// adjoint adds Σ_k (Sᵀ)ᵏ Λ B_kᵀ to out by Horner's rule, Λ = s.lam, and to taint
// what enters on the way: with G_k the coefficients of Z_k,
//
//	G_K = Λ B_Kᵀ      G_k = Sᵀ G_{k+1} + Λ B_kᵀ      out = G_0
func (c *Crown) adjoint(out, taint []float64, a *answer, layer int, f *Filter, s *scratch) {
	last := len(f.Taps) - 1
	for k := last; k >= 0; k-- {
		if k < last {
			s.sum = zeros(s.sum, len(out))
			a.cone.shift.adopt(s.sum, out, f.In)
			copy(out, s.sum)
		}
		AddTransposed(out, s.lam, f.Taps[k], f.In, f.Out)
		if k > 0 {
			for e, in := range a.enter {
				vector.Axpy(c.unknown.block(taint, e, layer, k-1), in.weight, out[in.local*f.In:(in.local+1)*f.In])
			}
		}
	}
}

// addTransposed adds Y Aᵀ to x, Y: N×out, A: in×out.
func AddTransposed(x, y, a []float64, in, out int) {
	for i := range len(y) / out {
		row := y[i*out : (i+1)*out]
		if isZero(row) {
			continue
		}
		for f := range in {
			x[i*in+f] += vector.Dot(row, a[f*out:(f+1)*out])
		}
	}
}

// goal is a linear function qᵀy of the outputs of one node, split at the last
// activation: what the deep part is weighed with, and all that is linear.
type goal struct {
	q    []float64
	deep []float64 // α_D R q, weights of X_L
	taps []float64 // (K+1)×F of the wide part and of the node's own taps
	c    float64
}

// goal returns qᵀy at a node, but for its terms of its own.
func (c *Crown) goal(q []float64) goal {
	n := c.net
	v := q
	g := goal{q: q}
	if n.Readout != nil {
		v = make([]float64, n.Features)
		for i := range v {
			v[i] = vector.Dot(n.Readout[i*n.Outputs:(i+1)*n.Outputs], q)
		}
		g.c = dotBias(q, n.Offset)
	}
	for _, x := range v {
		g.c += n.GainBias * x
	}
	if len(n.Deep) > 0 {
		g.deep = make([]float64, len(v))
		vector.Axpy(g.deep, n.GainDeep, v)
	}
	if n.Wide == nil {
		return g
	}
	g.c += n.GainWide * dotBias(v, n.Wide.Bias)
	for _, tap := range n.Wide.Taps {
		for f := range n.In {
			g.taps = append(g.taps, n.GainWide*vector.Dot(tap[f*n.Features:(f+1)*n.Features], v))
		}
	}
	return g
}

// pull adds a lower bound of the goal at the node of a to f.
func (c *Crown) pull(f *functional, a *answer, g goal, in *insides, s *scratch) {
	f.c += g.c
	if len(g.taps) > 0 {
		c.spreadRow(f.x, f.taint, a, 0, c.net.In, g.taps)
	}
	c.pullTerms(f, a, g.q)
	if layers := len(c.net.Deep); layers > 0 {
		w := append([]float64(nil), g.deep...)
		node := a.node
		if in.at != nil {
			node = in.at[a.cone.self]
		}
		last := &c.net.Deep[layers-1]
		f.c += bend(w, last, &in.layers[layers-1], []int{node}, nil)
		f.c -= dotBias(w, last.Bias) // backward adds it
		c.backward(f, a, layers, w, in, s)
	}
}

// value returns f at a signal, given over all nodes of the graph, and without
// anything unknown.
func (f *functional) value(a *answer, x []float64, features int) float64 {
	sum := f.c
	for m, i := range a.cone.nodes {
		sum += vector.Dot(f.x[m*features:(m+1)*features], x[i*features:(i+1)*features])
	}
	return sum
}

// worst returns the least value of a functional where unknowns have the given size.
func (c *Crown) worst(f *functional, a *answer, x []float64, size float64) float64 {
	v := f.value(a, x, c.net.In)
	if size > 0 {
		v -= size * c.unknown.spread(f, a)
	}
	if math.IsNaN(v) {
		return math.Inf(-1)
	}
	return v
}
