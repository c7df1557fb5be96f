package online

import (
	"context"
	"fmt"
	"iter"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/rule"
)

// ErrDiverged says that an update would have ended in numbers that are not
// finite, or too far from where learning began. The learner keeps the
// parameters of the last good step and can go on predicting.
var ErrDiverged = rule.ErrDiverged

// A Learner predicts, is told what the prediction cost, and adapts. Calls
// alternate: Predict, Update, Predict, Update. Predict works before any Update
// and does not change what later predictions return (a delay line advances in
// Update). A Learner keeps no reference to signals, outputs and costs once
// Update returns; a shift or mixing matrix, which never changes once made, it
// may recognise.
//
// After an error from Predict or Update the parameters are what they were
// before, and the next Predict may follow. A Learner is not safe for
// concurrent use. Package onlinetest checks all of this for any Learner.
type Learner interface {
	// Predict writes Ψ(X_t; S_t, 𝒜_t, ℬ†) to y, N×C, overwritten. A sample that
	// does not fit the network is an error.
	Predict(y mat.Dense, sample graph.Sample) error

	// Update takes one step on J_t, by eq. (7) or eq. (9).
	Update(j loss.Loss) error

	// Drift says how far the parameters have gone.
	Drift() Drift

	// Snapshot returns a copy of everything the learner remembers, and
	// Restore puts one back: learning goes on with the same bits. A snapshot
	// that does not fit is an error and changes nothing.
	Snapshot() Snapshot
	Restore(s Snapshot) error
}

// Drift is where the parameters of a learner are.
type Drift struct {
	Steps        int     `json:"steps"`        // updates so far
	Moved        float64 `json:"moved"`        // max_i ‖𝒜_i - 𝒜†‖
	Disagreement float64 `json:"disagreement"` // max_i ‖𝒜_i - mean of all‖; 0 if there is one set of taps
}

// Snapshot is everything a learner remembers.
type Snapshot struct {
	Nodes []rule.Memory `json:"nodes,omitempty"` // one per node; a single one for centralized learning
	Delay [][]float32   `json:"delay,omitempty"` // delay lines, of delayed models; see gnn.Delayed.Memory
}

// World shows samples one at a time and says what a prediction cost.
type World interface {
	Samples() iter.Seq[graph.Sample]
	Reveal(y mat.Dense) loss.Loss
}

// Play is Algorithm 1: for every sample of the world, predict, hear what it
// cost, update. watch, if not nil, sees every prediction with its cost before
// the update; an error of its own ends the play. y, N×C, is overwritten.
func Play(ctx context.Context, y mat.Dense, learner Learner, world World, watch func(t int, y mat.Dense, j loss.Loss) error) error {
	for sample := range world.Samples() {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := learner.Predict(y, sample); err != nil {
			return err
		}
		j := world.Reveal(y)
		if watch != nil {
			if err := watch(sample.Time, y, j); err != nil {
				return err
			}
		}
		if err := learner.Update(j); err != nil {
			return fmt.Errorf("online: step %d: %w", sample.Time, err)
		}
	}
	return nil
}

// Frozen is the model as trained offline: it predicts and does not learn.
type Frozen struct{ net network }

// NewFrozen returns a learner that does not learn. Of the configuration it
// reads what says how to predict.
func NewFrozen(m *gnn.WideDeep, c Config) (*Frozen, error) {
	if err := c.validateNetwork(); err != nil {
		return nil, err
	}
	return &Frozen{net: newNetwork(m, c)}, nil
}

// Predict implements [Learner].
func (f *Frozen) Predict(y mat.Dense, sample graph.Sample) error {
	if err := f.net.observe(y, sample); err != nil {
		return err
	}
	f.net.blank(y)
	for r, i := range f.net.read {
		copy(y.Row(i), f.net.base.Row(r))
	}
	return nil
}

// Update moves on to the next step.
func (f *Frozen) Update(loss.Loss) error {
	if !f.net.waiting {
		return errNoPrediction
	}
	f.net.advance()
	return nil
}

// Drift returns zeros.
func (f *Frozen) Drift() Drift { return Drift{} }

// Snapshot implements [Learner].
func (f *Frozen) Snapshot() Snapshot { return Snapshot{Delay: f.net.memory()} }

// Restore implements [Learner].
func (f *Frozen) Restore(s Snapshot) error {
	if len(s.Nodes) != 0 {
		return fmt.Errorf("online: restore: parameters of %d nodes for a frozen model", len(s.Nodes))
	}
	return f.net.recall(s.Delay)
}
