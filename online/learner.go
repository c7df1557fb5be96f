package online

import (
	"context"
	"fmt"
	"iter"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/rule"
)

// ErrDiverged says that an update would have ended in numbers that are not
// finite, or too far from where learning began. The learner keeps the
// parameters of the last good step and can go on predicting.
var ErrDiverged = rule.ErrDiverged

// A Learner sees a sample, predicts, is told what the prediction cost, and
// adapts. Calls take turns: Observe, Predict, Update, Observe, Predict, Update.
// Predict works before any Update. Neither Observe nor Predict changes what later
// predictions return (a delay line advances in Update): a sample may be observed
// again, or another one in between. A Learner keeps no reference to signals once
// Observe returns, and none to outputs and costs once Update does; a shift or
// mixing matrix, which never changes once made, it may recognise.
//
// After an error the parameters are what they were before, and the next Observe
// may follow. A Learner is not safe for concurrent use.
type Learner interface {
	// Observe opens a step. A sample that does not fit the network is an error,
	// after which there is nothing to predict or to learn from. Learners that are
	// made on one [Observer] observe together: one call per sample does for all.
	Observe(sample graph.Sample) error

	// Predict writes Ψ(X_t; S_t, 𝒜_t, ℬ†) of the open step to y, N×C,
	// overwritten. After Update it says what the learner would answer now.
	Predict(y mat.Dense) error

	// Update takes one step on J_t, by eq. (7) or eq. (9); at most one per
	// Observe. Of learners with a delay of h steps, rule.Config.Delay, J is what
	// the answers of h updates ago cost, and what is learned from is what they
	// were made with.
	Update(j loss.Loss) error

	// Drift says how far the parameters have gone.
	Drift() Drift

	// Snapshot returns a copy of everything the learner remembers, and
	// Restore puts one back: learning goes on with the same bits, from the
	// next Observe on. A snapshot that does not fit is an error and changes
	// nothing. Delay lines are shared by all learners on one observer.
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
	// Nodes has one State per node. Of centralized learning the first is that of the
	// learner, and each node that is read has one for its answers, if anything is
	// remembered of them. Of a Forecaster those of nodes that have not joined are nil.
	Nodes []rule.State `json:"nodes,omitempty"`
	Delay [][]float32  `json:"delay,omitempty"` // delay lines, of delayed models; see gnn.Delayed.Memory

	// Given is how many answers a node gave; times in the states are relative to it, but
	// for those of a Forecaster, which are of the clock.
	Given uint64 `json:"given,omitempty"`
}

// World shows samples one at a time and says what a prediction cost.
type World interface {
	Samples() iter.Seq[graph.Sample]
	Reveal(y mat.Dense) loss.Loss
}

// Play is Algorithm 1: for every sample of the world, observe, predict, hear what
// it cost, update. watch, if not nil, sees every prediction with its cost before
// the update; an error of its own ends the play. y, N×C, is overwritten.
func Play(ctx context.Context, y mat.Dense, learner Learner, world World, watch func(t int, y mat.Dense, j loss.Loss) error) error {
	for sample := range world.Samples() {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := learner.Observe(sample); err != nil {
			return err
		}
		if err := learner.Predict(y); err != nil {
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
