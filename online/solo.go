package online

import (
	"slices"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/rule"
)

// Solo is eq. (7) on rows that come one at a time, for those who have z and y†
// of a row themselves and need no network to compute them: a recommender, whose
// rows are the K+1 numbers of one user at one movie. It has no gate: whoever has
// the rows decides what is answered. It is not safe for concurrent use.
type Solo struct {
	*lone
	row [1]int32 // the row of a loss that is learned from: 0
}

// NewSolo returns a learner that begins with the taps of m. The moment is
// [Config.Moment], nil if nobody knows it.
func NewSolo(m *gnn.WideDeep, r rule.Config, moment *rule.SecondMoment) (*Solo, error) {
	l, err := newLone(m, r, moment, 1)
	if err != nil {
		return nil, err
	}
	return &Solo{lone: l}, nil
}

// Predict writes y† + z x R to y, overwritten: the output of a row with the
// learner's parameters.
//
//	y, base: C   z: (K+1)F
func (s *Solo) Predict(y, base, z []float32) { s.node.Predict(y, base, z) }

// Learn takes one step on what the output of a row cost: row 0 of j. It keeps
// none of its arguments. After an error the parameters are what they were.
func (s *Solo) Learn(base, z []float32, j loss.Loss) error {
	if err := usable(j, s.basis.Outputs(), s.node); err != nil {
		return err
	}
	inputs, outputs := mat.NewDense(1, len(z), z), mat.NewDense(1, len(base), base)
	if _, ok := j.(loss.Targeted); ok || s.config.Newton != nil {
		s.node.Observe(inputs, outputs, s.row[:], j)
	} else {
		s.node.ObserveAll(inputs, outputs, j)
	}
	return s.step()
}

// State returns everything the learner remembers, and Restore puts
// one back: learning goes on with the same bits. One that does not fit is an
// error and changes nothing.
func (s *Solo) State() rule.State { return s.node.State(0) }

// Restore is the inverse of State.
func (s *Solo) Restore(m rule.State) error { return s.node.Restore(m, 0) }

// Reset goes back to 𝒜† and forgets all observations.
func (s *Solo) Reset() { s.node.Reset() }

// lone is a node that hears nobody else.
type lone struct {
	basis  *rule.Basis
	config rule.Config
	start  []float32 // 𝒜†
	node   *rule.Node
	heard  rule.Heard
	own    []mat.Dense
}

// newLone returns one that begins with the taps of m and observes at most so many
// rows per step.
func newLone(m *gnn.WideDeep, r rule.Config, moment *rule.SecondMoment, rows int) (*lone, error) {
	f, err := NewBasis(m, r, moment)
	if err != nil {
		return nil, err
	}
	if r.Retrain == rule.RetrainHeard {
		return nil, errAloneHeard
	}
	l := &lone{basis: f, config: r, start: slices.Clone(m.Params.Flat[:f.TapsLen()])}
	l.node = rule.NewNode(rule.NodeConfig{Basis: f, Config: &l.config, Rows: rows})
	sent, _ := r.Vectors()
	l.own = make([]mat.Dense, sent)
	l.heard = rule.Heard{Weights: []float32{1}, Rows: []int32{0}, Vectors: l.own}
	return l, nil
}

// step ends an update after what the step brought was observed.
func (l *lone) step() error {
	for v := range l.own {
		l.own[v] = mat.NewDense(1, l.basis.Len(), l.node.Vectors()[v])
	}
	if err := l.node.Step(&l.heard); err != nil {
		l.node.Cancel()
		return err
	}
	l.node.Commit()
	return nil
}

// Basis returns the coordinates of Params. 𝒜 is its Taps of them.
func (l *lone) Basis() *rule.Basis { return l.basis }

// Params returns x, the parameters as package rule writes them. It belongs to
// the learner.
func (l *lone) Params() []float32 { return l.node.Params() }

// Taps writes 𝒜 to dst, overwritten: the retrained part of the model's
// parameters, Basis().TapsLen() values in the order of gnn.Params.Flat.
func (l *lone) Taps(dst []float32) { l.basis.Taps(dst, l.start, l.node.Params()) }

// Drift says how far the parameters have gone.
func (l *lone) Drift() Drift {
	return Drift{Steps: l.node.Steps(), Moved: l.basis.Distance(l.node.Params(), nil)}
}
