package online

import (
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
// It runs the same rules as Consensus, as one node that hears nobody else. With
// a window or an automatic step size J_t is the mean of the costs J_{i,t} of
// the nodes that carry one; otherwise it is whatever the loss says.
type Centralized struct {
	*lone
	observer *Observer
	learned  uint64 // the last step that was learned from
	scatter  scatter
}

// NewCentralized returns a learner that begins with the taps of the model that o
// observes. Whitened steps need its Config.Moment.
func NewCentralized(o *Observer, r rule.Config) (*Centralized, error) {
	l, err := newLone(o.model, r, o.moment, len(o.read))
	if err != nil {
		return nil, err
	}
	return &Centralized{lone: l, observer: o}, nil
}

// Observe implements [Learner].
func (l *Centralized) Observe(sample graph.Sample) error { return l.observer.Observe(sample) }

// Predict implements [Learner].
func (l *Centralized) Predict(y mat.Dense) error {
	return l.observer.each(y, func(_ int, yi, base, z []float32) { l.node.Predict(yi, base, z) })
}

// Update implements [Learner].
func (l *Centralized) Update(j loss.Loss) error {
	o := l.observer
	if err := o.accept(j, l.learned, l.node); err != nil {
		return err
	}
	l.learned = o.step
	if l.config.Window > 1 || l.config.StepSize.Schedule == rule.Automatic {
		l.node.Observe(o.z, o.base, o.rows, j)
	} else {
		l.node.ObserveAll(o.z, o.base, l.all(j))
	}
	err := l.step()
	l.scatter.cost = nil
	o.advance()
	return err
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

// Snapshot implements [Learner].
func (l *Centralized) Snapshot() Snapshot {
	return Snapshot{Nodes: []rule.Memory{l.node.Memory()}, Delay: l.observer.memory()}
}

// Restore implements [Learner].
func (l *Centralized) Restore(s Snapshot) error {
	if err := restore(l.observer, []*rule.Node{l.node}, s); err != nil {
		return err
	}
	l.learned = l.observer.step
	return nil
}

// Reset goes back to 𝒜† and forgets all observations, those in the observer's
// delay lines too.
func (l *Centralized) Reset() {
	l.node.Reset()
	l.observer.reset()
	l.learned = l.observer.step
}
