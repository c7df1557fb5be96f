package certify

import (
	"context"
	"fmt"
	"slices"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/internal/config"
	"github.com/wdgnn/wdgnn/internal/paper/theory"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/rule"
)

// StreamRun is an online run in memory, to be held against Theorems 2 and 3.
type StreamRun struct {
	Model       *gnn.WideDeep
	Config      online.Config
	Rule        rule.Config
	Distributed bool // eq. (9), or eq. (7)
	World       online.World
	Kind        theory.Kind // of the cost
	Steps       int         // that are looked at; 0 means 500

	// Rows, if set, says what a step brought, given the coordinates of the
	// taps, the shifted inputs and outputs of the model as trained, N×… each,
	// the learner's output, and the cost. Without it the cost is a
	// loss.CrossEntropy or a loss.MSE. It keeps none of its arguments.
	Rows func(c *theory.Coordinates, z, base, y mat.Dense, j loss.Loss) []Observation

	read []int // Config.Read in the order in which rows are added; nil leaves it
}

// Stream plays a run and computes Theorems 2 and 3 for it.
func Stream(ctx context.Context, run StreamRun) (*OnlineReport, error) {
	r, err := run.record(&pace{ctx: ctx})
	if err != nil {
		return nil, err
	}
	return r.certify()
}

// record plays a run.
func (run *StreamRun) record(p *pace) (*recording, error) {
	mode := config.Centralized
	if run.Distributed {
		mode = config.Distributed
	}
	r, err := newRecording(p, mode, run.Model, run.Config, run.Rule, run.Kind)
	if err != nil {
		return nil, err
	}
	if run.Steps > 0 {
		r.most = run.Steps
	}
	observer, err := online.NewObserver(run.Model, run.Config)
	if err != nil {
		return nil, err
	}
	var learner online.Learner
	if run.Distributed {
		learner, err = online.NewConsensus(observer, run.Rule)
	} else {
		learner, err = online.NewCentralized(observer, run.Rule)
	}
	if err != nil {
		return nil, err
	}
	return r, r.end(run.play(p.ctx, r, learner))
}

// play runs the learner and looks at every step.
func (run *StreamRun) play(ctx context.Context, r *recording, learner online.Learner) error {
	read := run.read
	if read == nil {
		read = run.Config.Read
	}
	if len(read) == 0 {
		for i := range run.Config.Nodes {
			read = append(read, i)
		}
	}
	y := mat.NewDense(run.Config.Nodes, run.Model.Outputs(), nil)
	for sample := range run.World.Samples() {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := learner.Observe(sample); err != nil {
			return err
		}
		if err := learner.Predict(y); err != nil {
			return err
		}
		if slices.ContainsFunc(read, func(i int) bool { return !mat.Finite(y.Row(i)...) }) {
			return fmt.Errorf("step %d: an output is not finite: %w", sample.Time, online.ErrDiverged)
		}
		j := run.World.Reveal(y)
		err := r.take(learner, sample, func(z, base mat.Dense) []Observation {
			if run.Rows != nil {
				return run.Rows(r.coords, z, base, y, j)
			}
			return r.rows(read, z, base, j)
		})
		if err != nil {
			return err
		}
		if err := learner.Update(j); err != nil {
			return fmt.Errorf("step %d: %w", sample.Time, err)
		}
	}
	return nil
}
