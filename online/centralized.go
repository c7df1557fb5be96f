package online

import (
	"fmt"
	"slices"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/rule"
)

// Centralized is online learning with access to everything, eq. (7): one set of
// taps for all nodes steps down the gradient of the cost of the network,
//
//	𝒜_{t+1} = 𝒜_t - γ ∇J_t(𝒜_t)
//
// It runs the same rules as Consensus, as one node that hears nobody else. J_t is
// whatever the loss says. With rule.Newton it learns from one J_{i,t} after the other.
type Centralized struct {
	answering
	observer   *Observer
	config     rule.Config
	node       *rule.Node
	start      []float32 // 𝒜†
	learned    uint64    // the last step that was learned from
	scatter    scatter
	adapted, y []float32
	z, base    mat.Dense // late: what the answers that are judged were made with
}

// NewCentralized returns a learner that begins with the taps of the model that o
// observes.
func NewCentralized(o *Observer, r rule.Config) (*Centralized, error) {
	n, err := newNode(o.model, r, o.moment, len(o.read))
	if err != nil {
		return nil, err
	}
	f := n.Basis()
	l := &Centralized{
		observer: o, config: r, node: n, start: slices.Clone(o.model.Params.Flat[:f.TapsLen()]),
		adapted: make([]float32, f.Outputs()), y: make([]float32, f.Outputs()),
	}
	for _, i := range o.read {
		if a := rule.NewAnswers(f, &l.config, o.began(i)); a != nil {
			l.answers = append(l.answers, a)
		}
	}
	return l, nil
}

// Observe implements [Learner].
func (l *Centralized) Observe(sample graph.Sample) error { return l.observer.Observe(sample) }

// Predict implements [Learner].
func (l *Centralized) Predict(y mat.Dense) error {
	return l.observer.each(y, func(r int, yi, base, z []float32) {
		if l.answers == nil {
			l.node.Predict(yi, base, z)
			return
		}
		l.node.Predict(l.adapted, base, z)
		l.answers[r].Answer(l.given, yi, l.adapted, base)
	})
}

// Update implements [Learner].
func (l *Centralized) Update(j loss.Loss) error {
	o := l.observer
	err := o.accept(j, l.learned, l.node)
	if err != nil {
		return err
	}
	l.learned = o.step
	z, base, rows := o.z, o.base, o.rows
	if l.answers != nil {
		if z, base, err = l.judgeAll(j); err != nil {
			return err
		}
		rows = rows[:z.Rows]
	}
	if l.config.Newton != nil || z.Rows == 0 {
		l.node.Observe(z, base, rows, j)
	} else {
		l.node.ObserveAll(z, base, l.all(j))
	}
	if err = l.node.Step(nil); err != nil {
		l.node.Cancel()
	} else {
		l.node.Commit()
	}
	l.scatter.cost = nil
	o.advance()
	return l.restart(err)
}

// judgeAll gives the answers of this step and takes in what those that j is about
// cost. It returns what these were made with, nothing if they were given before
// the first step.
func (l *Centralized) judgeAll(j loss.Loss) (z, base mat.Dense, err error) {
	local, ok := j.(loss.Local)
	if !ok {
		return z, base, fmt.Errorf("online: a gate and late answers need the cost of each node, and a %T has none: it must be a loss.Local", j)
	}
	o := l.observer
	z, base = o.z, o.base
	delay := uint64(l.config.Delay)
	if delay > 0 {
		l.z, l.base = l.z.Resize(len(o.read), o.z.Cols), l.base.Resize(len(o.read), o.base.Cols)
		z, base = l.z, l.base
	}
	for r := range o.read {
		if delay > 0 && l.given >= delay {
			if g := l.answers[r].At(l.given - delay); g != nil {
				copy(z.Row(r), g.Inputs)
				copy(base.Row(r), g.Base)
			}
		}
		l.node.Predict(l.adapted, o.base.Row(r), o.z.Row(r))
		l.answers[r].Give(l.given, l.y, l.adapted, o.base.Row(r), o.z.Row(r))
		l.answers[r].Judge(l.given-delay, local, o.read[r])
	}
	if l.given < delay {
		return mat.Dense{}, mat.Dense{}, nil
	}
	return z, base, nil
}

// restart ends an update whose step failed with the given error. With gates it is
// refused, and counts at every node. If what was learned keeps losing at more
// than half of the nodes that are judged, it begins again at 𝒜†.
func (l *Centralized) restart(failed error) error {
	l.given++
	if l.config.Gate == nil {
		return failed
	}
	judged, losing := 0, 0
	for _, a := range l.answers {
		if failed != nil {
			a.Refuse()
		}
		if a.Gate().Judged > 0 {
			judged++
		}
		if a.Losing() {
			losing++
		}
	}
	if losing > 0 && 2*losing > judged {
		l.node.Reset()
		for _, a := range l.answers {
			a.Anew()
		}
	}
	return nil
}

// all is j as a cost of the rows that are read.
func (l *Centralized) all(j loss.Loss) loss.Loss {
	o := l.observer
	if len(o.read) == o.nodes {
		return j
	}
	l.scatter.cost, l.scatter.read, l.scatter.nodes = j, o.read, o.nodes
	return &l.scatter
}

// Basis returns the coordinates of Params. 𝒜 is its Taps of them.
func (l *Centralized) Basis() *rule.Basis { return l.node.Basis() }

// Params returns x, the parameters as package rule writes them. It belongs to
// the learner.
func (l *Centralized) Params() []float32 { return l.node.Params() }

// Taps writes 𝒜 to dst, overwritten: the retrained part of the model's
// parameters, Basis().TapsLen() values in the order of gnn.Params.Flat.
func (l *Centralized) Taps(dst []float32) { l.Basis().Taps(dst, l.start, l.Params()) }

// Drift implements [Learner].
func (l *Centralized) Drift() Drift {
	return Drift{Steps: l.node.Steps(), Moved: l.Basis().Distance(l.Params(), nil)}
}

// Snapshot implements [Learner].
func (l *Centralized) Snapshot() Snapshot {
	s := Snapshot{Nodes: []rule.State{l.node.State(0)}, Delay: l.observer.memory(), Given: l.given}
	for _, a := range l.answers {
		s.Nodes = append(s.Nodes, a.State(l.given))
	}
	return s
}

// Restore implements [Learner].
func (l *Centralized) Restore(s Snapshot) error {
	if len(s.Nodes) != 1 && len(s.Nodes) != 1+len(l.answers) {
		return fmt.Errorf("online: restore: %d states for one set of taps and the answers of %d nodes", len(s.Nodes), len(l.answers))
	}
	if err := l.node.Fits(s.Nodes[0]); err != nil {
		return fmt.Errorf("online: restore: %w", err)
	}
	for r, m := range s.Nodes[1:] {
		if err := l.answers[r].Fits(m); err != nil {
			return fmt.Errorf("online: restore: node %d: %w", l.observer.read[r], err)
		}
	}
	if err := l.observer.recall(s.Delay); err != nil {
		return err
	}
	if err := l.node.Restore(s.Nodes[0], 0); err != nil {
		return fmt.Errorf("online: restore: %w", err)
	}
	for r, m := range s.Nodes[1:] {
		if err := l.answers[r].Restore(m, s.Given); err != nil {
			return fmt.Errorf("online: restore: node %d: %w", l.observer.read[r], err)
		}
	}
	if len(s.Nodes) == 1 {
		l.forget()
	}
	l.given, l.learned = s.Given, l.observer.step
	return nil
}

// forget lets answers begin anew.
func (l *Centralized) forget() {
	for _, a := range l.answers {
		a.Reset()
	}
}

// Reset goes back to 𝒜† and forgets all observations, those in the observer's
// delay lines too.
func (l *Centralized) Reset() {
	l.node.Reset()
	l.forget()
	l.observer.reset()
	l.given, l.learned = 0, l.observer.step
}
