package online

import (
	"slices"

	"github.com/wdgnn/wdgnn/gnn"
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
	net    network
	frame  *rule.Frame
	config rule.Config
	start  []float32
	node   *rule.Node
	heard  rule.Heard
	own    []mat.Dense
}

// NewCentralized returns a learner that begins with the taps of m.
func NewCentralized(m *gnn.WideDeep, c Config) (*Centralized, error) {
	f, err := c.Frame(m)
	if err != nil {
		return nil, err
	}
	l := &Centralized{net: newNetwork(m, c), frame: f, config: c.Rule}
	l.start = slices.Clone(m.Params.Flat[:f.TapsLen()])
	sent, _ := c.Rule.Vectors()
	l.node = rule.NewNode(f, &l.config, len(l.net.read), nil, nil)
	l.own = make([]mat.Dense, sent)
	l.heard = rule.Heard{Weights: []float32{1}, Rows: []int32{0}, Vectors: l.own}
	return l, nil
}

// Predict implements [Learner].
func (l *Centralized) Predict(y mat.Dense, sample graph.Sample) error {
	if err := l.net.observe(y, sample); err != nil {
		return err
	}
	l.net.blank(y)
	for r, i := range l.net.read {
		l.node.Predict(y.Row(i), l.net.base.Row(r), l.net.z.Row(r))
	}
	return nil
}

// Update implements [Learner].
func (l *Centralized) Update(j loss.Loss) error {
	if err := l.net.accept(j, l.node); err != nil {
		return err
	}
	if l.config.Window > 1 || l.config.StepSize.Schedule == rule.Automatic {
		l.node.Observe(l.net.z, l.net.base, l.net.rows, j)
	} else {
		l.node.ObserveAll(l.net.z, l.net.base, l.all(j))
	}
	for v := range l.own {
		l.own[v] = mat.NewDense(1, l.frame.Len(), l.node.State()[v])
	}
	err := l.node.Step(&l.heard)
	l.net.scatter.cost = nil
	l.net.advance()
	if err != nil {
		l.node.Cancel()
		return err
	}
	l.node.Commit()
	return nil
}

// all is j as a cost of the rows that are read.
func (l *Centralized) all(j loss.Loss) loss.Loss {
	if len(l.net.read) == l.net.nodes {
		return j
	}
	l.net.scatter.cost, l.net.scatter.read, l.net.scatter.nodes = j, l.net.read, l.net.nodes
	return &l.net.scatter
}

// Frame returns the coordinates of Params. 𝒜 is its Taps of them.
func (l *Centralized) Frame() *rule.Frame { return l.frame }

// Params returns x, the parameters as package rule writes them. It belongs to
// the learner.
func (l *Centralized) Params() []float32 { return l.node.Params() }

// Taps writes 𝒜 to dst, overwritten: the retrained part of the model's
// parameters, Frame().TapsLen() values in the order of gnn.Params.Flat.
func (l *Centralized) Taps(dst []float32) { l.frame.Taps(dst, l.start, l.node.Params()) }

// Drift implements [Learner].
func (l *Centralized) Drift() Drift {
	return Drift{Steps: l.node.Steps(), Moved: l.frame.Distance(l.node.Params(), nil)}
}

// Snapshot implements [Learner].
func (l *Centralized) Snapshot() Snapshot {
	return Snapshot{Nodes: []rule.Memory{l.node.Memory()}, Delay: l.net.memory()}
}

// Restore implements [Learner].
func (l *Centralized) Restore(s Snapshot) error { return restore(&l.net, []*rule.Node{l.node}, s) }

// Reset goes back to 𝒜† and forgets all observations.
func (l *Centralized) Reset() {
	l.node.Reset()
	l.net.reset()
}
