package rule

import (
	"slices"

	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
)

// newton is the part of a node that learns by second derivatives.
type newton struct {
	frame *frame
	set   *Newton
	limit float64

	now, next *learnt
	changed   bool // next differs from now

	laplace *laplace  // nil before the first answer: most nodes may never be told any
	room    []float64 // r·p
	raw, z  []float64
	eta, y  []float64
	judge   judge

	brought []batch // by the step, until it is learned from

	refused int
}

// batch is answers that one cost judges: row rows[r] of it is that of inputs and
// base outputs r.
type batch struct {
	inputs, bases mat.Dense
	rows          []int32 // nil if there is one alone
	first         int     // which it is then
	cost          loss.Loss
}

// rowOf returns which row of the cost the r-th answer is.
func (b *batch) rowOf(r int) int {
	if b.rows == nil {
		return b.first
	}
	return int(b.rows[r])
}

// learnt is what a node remembers of it between steps.
type learnt struct {
	scale  float64 // of features, where no moment is known; 0 before the first answer
	tau    float64 // τ, which depends on the cost
	told   int     // answers since the start
	main   belief
	fresh  belief     // who may take its place
	age    int        // answers that both were judged by; -1 if there is only one
	costs  [2]float64 // of main and fresh in that time
	links  []int32    // at the last Relink
	linked bool       // there was one
}

func newNewton(g *frame, c *Config) *newton {
	return &newton{
		frame: g, set: c.Newton, limit: c.limit(), now: &learnt{age: -1}, next: &learnt{age: -1},
		room: make([]float64, g.r*g.p),
		raw:  make([]float64, g.p), z: make([]float64, g.p), eta: make([]float64, g.r), y: make([]float64, g.outputs),
	}
}

// knows says whether the node has learned from an answer.
func (n *newton) knows() bool { return n.now.main.mean != nil }

// predict writes y† + Eᵀ Yᵀ z̃ to y.
func (n *newton) predict(y, base, z []float32) {
	n.frame.features(n.z, n.raw, z, n.now.scale)
	for a := range n.eta {
		n.eta[a] = dot(n.now.main.mean[a*n.frame.p:(a+1)*n.frame.p], n.z)
	}
	n.frame.outputsOf(n.y, base, n.eta)
	for c, v := range n.y {
		y[c] = float32(v)
	}
}

// observe keeps what the step brought.
func (n *newton) observe(z, base mat.Dense, rows []int32, j loss.Loss) {
	n.release()
	n.brought = append(n.brought, batch{inputs: z, bases: base, rows: rows, cost: j})
}

// observeMore keeps one more row.
func (n *newton) observeMore(z, base []float32, row int, j loss.Loss) {
	n.brought = append(n.brought, batch{
		inputs: mat.NewDense(1, len(z), z), bases: mat.NewDense(1, len(base), base), first: row, cost: j,
	})
}

// release drops what belongs to the caller.
func (n *newton) release() {
	clear(n.brought)
	n.brought = n.brought[:0]
	n.judge.release()
}

// step computes what the node knows at t+1, and writes x to next[0]: it follows the
// answers one after the other.
func (n *newton) step(next Vectors, s *Step) {
	copy(next[0], s.Now[0])
	n.changed, n.refused = false, 0
	for k := range n.brought {
		b := &n.brought[k]
		for r := range b.inputs.Rows {
			if n.frame.r == 0 || !n.judge.set(b.cost, b.rowOf(r), n.frame.outputs) {
				continue
			}
			n.open(b.inputs.Row(r))
			n.answer(b.inputs.Row(r), b.bases.Row(r))
		}
	}
	if n.changed {
		n.frame.params(next[0], n.next.main.mean, n.room, n.next.scale)
	}
	n.release()
}

// begin makes next a copy of now, to be changed.
func (n *newton) begin() {
	if !n.changed {
		n.next.copyFrom(n.now)
		n.changed = true
	}
}

// open is begin before an answer to z. The first of all makes room for what will
// be known.
func (n *newton) open(z []float32) {
	if n.laplace == nil {
		n.prepare()
	}
	if !n.knows() {
		n.frame.features(n.z, n.raw, z, 1)
		if n.now.scale = n.frame.scaleOf(n.raw); n.frame.ear != nil {
			n.now.scale = n.frame.ear.scaleOf(z)
		}
		n.now.make(n.laplace)
		n.next.make(n.laplace)
		n.now.tau = n.laplace.tau
		n.now.main.begin(n.now.tau)
	}
	n.begin()
}

// prepare makes the solver for the costs of the present judge. What is known
// already says which kind of P it has.
func (n *newton) prepare() {
	g := n.frame
	full := g.r > 1 && g.r*g.p <= fullMost && !n.judge.square() && g.ear == nil
	if n.knows() {
		full = len(n.now.main.cov) != g.p*g.p
	}
	s := newLaplace(g, full)
	s.tau, s.doubt, s.forget, s.limit = n.now.tau, n.set.Doubt, n.set.forget(), n.limit
	if !n.knows() {
		s.tau = n.set.prior(&n.judge, g.outputs, g.ear != nil)
	}
	n.laplace = s
}

// answer learns from what was told of one row.
func (n *newton) answer(z, base []float32) {
	l, s := n.next, n.laplace
	n.frame.features(s.z, n.raw, z, l.scale)
	if !mat.Finite(s.z...) {
		n.refused++
		return
	}
	if f := n.set.Fresh; f > 0 && l.told > 0 && l.told%f == 0 {
		l.fresh.begin(s.tau)
		l.age, l.costs = 0, [2]float64{}
	}
	l.told++
	cost, ok := s.absorb(&l.main, base, &n.judge)
	if !ok {
		n.refused++
	}
	if l.age < 0 {
		return
	}
	l.costs[0] += cost
	cost, _ = s.absorb(&l.fresh, base, &n.judge)
	l.costs[1] += cost
	l.age++
	if ahead(l.age, l.costs[0], l.costs[1], n.judge.classes) {
		l.main, l.fresh, l.age = l.fresh, l.main, -1
	}
}

// make makes room for beliefs.
func (l *learnt) make(s *laplace) { l.main, l.fresh = s.newBelief(), s.newBelief() }

// copyFrom makes l what o is.
func (l *learnt) copyFrom(o *learnt) {
	main, fresh, links := l.main, l.fresh, l.links
	*l = *o
	l.main, l.fresh, l.links = main, fresh, append(links[:0], o.links...)
	l.main.copyFrom(&o.main)
	if o.age >= 0 {
		l.fresh.copyFrom(&o.fresh)
	}
}

// commit makes what was computed the node's own.
func (n *newton) commit() {
	if n.changed {
		n.now, n.next = n.next, n.now
		n.changed = false
	}
}

// reset forgets everything but the links.
func (n *newton) reset() {
	n.release()
	l := n.now
	l.scale, l.told, l.age, l.main, l.fresh = 0, 0, -1, belief{}, belief{}
	n.laplace = nil
}

// relink begins again from the trained taps if links differ from those before.
// What was learned may still come back: it stays as the one who takes over when it
// is ahead, unless one that has learned from more answers is there already.
func (n *newton) relink(links []int32) bool {
	l := n.now
	if l.linked && slices.Equal(l.links, links) {
		return false
	}
	first := !l.linked
	l.links, l.linked = append(l.links[:0], links...), true
	if first || !n.knows() {
		return false
	}
	if l.age < 0 || l.fresh.told < l.main.told {
		l.main, l.fresh = l.fresh, l.main
	}
	l.main.begin(l.tau)
	l.told, l.age, l.costs = 0, 0, [2]float64{}
	return true
}
