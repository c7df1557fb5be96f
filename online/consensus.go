package online

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/rule"
)

// Consensus is distributed online learning, eq. (9): node i has taps 𝒜_i of its
// own, predicts with them, mixes them with the old ones of its neighbours and
// steps down the gradient of its own cost,
//
//	𝒜_{i,t+1} = Σ_j [W_t]_ij 𝒜_{j,t} - γ ∇J_{i,t}(𝒜_{i,t})
//
// It runs the rule of every node in one process, in ascending order; agents
// that run one each get the same bits. Every sample brings its own S_t and W_t.
// A node without links keeps its taps to itself, W_ii = 1, and learns from its
// own cost alone.
type Consensus struct {
	observer *Observer
	learned  uint64 // the last step that was learned from
	basis    *rule.Basis
	config   rule.Config
	start    []float32 // 𝒜†
	answering

	nodes     []*rule.Node
	now, next []mat.Dense // vectors of all nodes, N×Len each

	refused []int // nodes whose update was, at this step

	heard   rule.Heard
	far     []bool      // whose taps are
	mixing  *mat.CSR    // the W that weights is
	weights diagonal    // W
	mixed   []mat.Dense // W times what the nodes send

	linked *mat.CSR // the S whose links the nodes were told
	links  []int32

	row []float32 // of a node that hears its neighbours one by one
}

// NewConsensus returns a learner whose nodes all begin with the taps of the model
// that o observes.
func NewConsensus(o *Observer, r rule.Config) (*Consensus, error) {
	f, err := NewBasis(o.model, r, o.moment)
	if err != nil {
		return nil, err
	}
	if r.Retrain == rule.RetrainHeard && o.delayed != nil {
		return nil, errDelayedHeard
	}
	l := &Consensus{observer: o, basis: f, config: r}
	l.start = slices.Clone(o.model.Params.Flat[:f.TapsLen()])
	sent, kept := r.Vectors()
	for range sent {
		l.mixed = append(l.mixed, mat.NewDense(o.nodes, f.Len(), nil))
	}
	l.heard.Mixed = make([][]float32, sent)
	for range sent + kept {
		l.now = append(l.now, mat.NewDense(o.nodes, f.Len(), nil))
		l.next = append(l.next, mat.NewDense(o.nodes, f.Len(), nil))
	}
	for i := range o.nodes {
		now, next := make(rule.Vectors, sent+kept), make(rule.Vectors, sent+kept)
		for v := range now {
			now[v], next[v] = l.now[v].Row(i), l.next[v].Row(i)
		}
		c := rule.NodeConfig{Basis: f, Config: &l.config, Rows: 1, Number: i, Now: now, Next: next}
		if _, c.Answers = slices.BinarySearch(o.read, i); c.Answers {
			c.Scores = o.began(i)
		}
		l.nodes = append(l.nodes, rule.NewNode(c))
		if a := l.nodes[i].Answers(); a != nil {
			l.answers = append(l.answers, a)
		}
	}
	if !r.Mixes() {
		l.weights = diagonal{identity(o.nodes), make([]int, o.nodes)}
	}
	return l, nil
}

// Observe implements [Learner].
func (l *Consensus) Observe(sample graph.Sample) error { return l.observer.Observe(sample) }

// Predict implements [Learner]: node i predicts with 𝒜_i, as far as its gate lets
// it.
func (l *Consensus) Predict(y mat.Dense) error {
	return l.observer.each(y, func(r int, yi, base, z []float32) {
		i := l.observer.read[r]
		l.nodes[i].Answer(yi, l.given, base, l.heardRow(i, z))
	})
}

// Update implements [Learner]. The cost must be a [loss.Local]. With gates an update
// that diverges is refused at its node, and the others go on; without them it is
// an error, and nobody moves.
func (l *Consensus) Update(j loss.Loss) error {
	if err := l.ready(j); err != nil {
		return err
	}
	o := l.observer
	l.learned = o.step
	for v := range l.mixed {
		o.engine.SpMM(l.mixed[v], l.weights.CSR, l.now[v])
	}
	if l.config.Mixes() {
		l.far = l.basis.Far(l.far, l.now[0])
		l.heard.Far = l.far
	}
	for r, i := range o.read { // before anybody begins again
		l.nodes[i].Give(nil, l.given, o.base.Row(r), l.metRow(i, o.z.Row(r)))
	}
	l.relink(o.links)
	var failed error
	l.refused = l.refused[:0]
	r := 0
	for i, n := range l.nodes {
		if r < len(o.read) && o.read[r] == i {
			n.Tell(l.given-uint64(l.config.Delay), j, i)
			r++
		}
		if err := n.Step(l.hear(i)); err == nil {
			continue
		} else if l.config.Gate != nil {
			l.refused = append(l.refused, i)
		} else if failed == nil {
			failed = fmt.Errorf("node %d: %w", i, err)
		}
	}
	o.advance()
	l.end(failed)
	return failed
}

// end commits what all nodes stepped to, or, after a failure, nothing.
func (l *Consensus) end(failed error) {
	l.given++
	if failed != nil {
		for _, n := range l.nodes {
			n.Cancel()
		}
		return
	}
	refused := l.refused
	for i, n := range l.nodes {
		if len(refused) > 0 && refused[0] == i {
			n.Refuse()
			refused = refused[1:]
		} else {
			n.Commit()
		}
	}
	l.now, l.next = l.next, l.now
}

// heardRow returns the row that node i predicts and learns from: z, or that of its
// Hearing.
func (l *Consensus) heardRow(i int, z []float32) []float32 {
	h := l.nodes[i].Hearing()
	if h == nil {
		return z[:l.basis.Inputs()]
	}
	l.row = HeardRow(l.row, h, l.observer.links, l.observer.shifted, i)
	return l.row
}

// metRow is heardRow of a node that is about to learn: one that does not know its
// neighbours meets them.
func (l *Consensus) metRow(i int, z []float32) []float32 {
	if n := l.nodes[i]; n.Unmet() {
		n.Meet(neighbors(l.observer.links, i))
	}
	return l.heardRow(i, z)
}

// relink tells nodes that begin again with other links whom they hear: row i of
// S, but for node i itself.
func (l *Consensus) relink(s *mat.CSR) {
	if l.config.Newton == nil || !l.config.Newton.Restart || s == l.linked {
		return
	}
	l.linked = s
	for i, n := range l.nodes {
		l.links = l.links[:0]
		col, _ := s.Row(i)
		for _, j := range col {
			if int(j) != i {
				l.links = append(l.links, j)
			}
		}
		n.Relink(l.links)
	}
}

// ready reports whether an update can begin.
func (l *Consensus) ready(j loss.Loss) error {
	if err := l.observer.accept(j, l.learned, l.nodes[0]); err != nil {
		return err
	}
	if _, ok := j.(loss.Local); !ok {
		return fmt.Errorf("online: distributed learning needs the cost of each node, and a %T has none: it must be a loss.Local", j)
	}
	return l.prepare(l.observer.mixing)
}

// prepare looks at W.
func (l *Consensus) prepare(w *mat.CSR) error {
	if !l.config.Mixes() || w != nil && w == l.mixing {
		return nil
	}
	l.mixing = nil
	if err := l.weights.take(w); err != nil {
		return err
	}
	l.mixing = w
	return nil
}

// diagonal is a mixing matrix that knows where its diagonal is.
type diagonal struct {
	*mat.CSR
	self []int // entry self[i] of row i is W_ii
}

// take looks at w, of which every node must have a part of its own.
func (d *diagonal) take(w *mat.CSR) error {
	if w == nil {
		return errors.New("online: nodes that mix need the sample's mixing matrix")
	}
	self := d.self[:0]
	for i := range w.Rows {
		col, val := w.Row(i)
		at, found := slices.BinarySearch(col, int32(i))
		if !found {
			return fmt.Errorf("online: the mixing matrix gives node %d no weight of its own; every row needs its diagonal", i)
		}
		sum := 0.0
		for _, v := range val {
			sum += float64(v)
		}
		if !(math.Abs(sum-1) <= rowTolerance) {
			return fmt.Errorf("online: row %d of the mixing matrix sums to %v; a node mixes with weights that sum to 1", i, sum)
		}
		self = append(self, at)
	}
	d.CSR, d.self = w, self
	return nil
}

// rowTolerance is how far the sum of a row of W, float32 numbers, may be from
// 1.
const rowTolerance = 1e-4

// identity returns I, n×n.
func identity(n int) *mat.CSR {
	one := &mat.CSR{Rows: n, Cols: n, RowPtr: []int{0}}
	for i := range n {
		one.RowPtr, one.Col, one.Val = append(one.RowPtr, i+1), append(one.Col, int32(i)), append(one.Val, 1)
	}
	return one
}

// hear returns what node i hears at this step.
func (l *Consensus) hear(i int) *rule.Heard {
	l.heard.Vectors = l.now[:len(l.mixed)]
	l.heard.Rows, l.heard.Weights = l.weights.Row(i)
	l.heard.Self = l.weights.self[i]
	for v := range l.mixed {
		l.heard.Mixed[v] = l.mixed[v].Row(i)
	}
	return &l.heard
}

// Nodes returns N.
func (l *Consensus) Nodes() int { return len(l.nodes) }

// Basis returns what the nodes share. 𝒜_i is its Taps of Params(i).
func (l *Consensus) Basis() *rule.Basis { return l.basis }

// Params returns x_i, the parameters of node i as package rule writes them. It
// belongs to the learner.
func (l *Consensus) Params(i int) []float32 { return l.nodes[i].Params() }

// Taps writes 𝒜_i to dst, overwritten: the retrained part of the model's
// parameters, Basis().TapsLen() values in the order of gnn.Params.Flat.
func (l *Consensus) Taps(dst []float32, i int) { l.basis.Taps(dst, l.start, l.nodes[i].Params()) }

// Drift implements [Learner].
func (l *Consensus) Drift() Drift {
	var d Drift
	mean := make([]float32, l.basis.Len())
	for e := range mean {
		sum := 0.0
		for _, n := range l.nodes {
			sum += float64(n.Params()[e])
		}
		mean[e] = float32(sum / float64(len(l.nodes)))
	}
	for _, n := range l.nodes {
		d.Steps = max(d.Steps, n.Steps()) // some may have begun again
		d.Moved = max(d.Moved, l.basis.Distance(n.Params(), nil))
		d.Disagreement = max(d.Disagreement, l.basis.Distance(n.Params(), mean))
	}
	return d
}

// Snapshot implements [Learner].
func (l *Consensus) Snapshot() Snapshot {
	s := Snapshot{Delay: l.observer.memory(), Given: l.given}
	for _, n := range l.nodes {
		s.Nodes = append(s.Nodes, n.State(s.Given))
	}
	return s
}

// Restore implements [Learner].
func (l *Consensus) Restore(s Snapshot) error {
	if len(s.Nodes) != len(l.nodes) {
		return fmt.Errorf("online: restore: a snapshot of %d nodes for %d", len(s.Nodes), len(l.nodes))
	}
	for i, n := range l.nodes {
		if err := n.Fits(s.Nodes[i]); err != nil {
			return fmt.Errorf("online: restore: node %d: %w", i, err)
		}
	}
	if err := l.observer.recall(s.Delay); err != nil {
		return err
	}
	for i, n := range l.nodes {
		if err := n.Restore(s.Nodes[i], s.Given); err != nil {
			return fmt.Errorf("online: restore: node %d: %w", i, err)
		}
	}
	l.linked, l.given, l.learned = nil, s.Given, l.observer.step
	return nil
}

// Reset puts all nodes back to 𝒜† and forgets all observations, those in the
// observer's delay lines too.
func (l *Consensus) Reset() {
	for _, n := range l.nodes {
		n.Reset()
	}
	for _, a := range l.answers {
		a.Reset()
	}
	l.observer.reset()
	l.given, l.learned = 0, l.observer.step
}
