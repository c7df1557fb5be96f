package experiment

import (
	"context"
	"fmt"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/internal/config"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/theory"
)

// StreamRun is an online run in memory, to be held against Theorems 2 and 3.
type StreamRun struct {
	Model       *gnn.WideDeep
	Config      online.Config
	Distributed bool // eq. (9), or eq. (7)
	World       online.World
	Kind        theory.Kind // of the cost
	Steps       int         // that are looked at; 0 means 500

	// Rows, if set, says what a step brought, given the coordinates of the
	// taps, the shifted inputs and outputs of the model as trained, N×… each,
	// the learner's output, and the cost. Without it the cost is a
	// loss.CrossEntropy or a loss.MSE. It keeps none of its arguments.
	Rows func(c *theory.Coordinates, z, base, y mat.Dense, j loss.Loss) []Observation
}

// CertifyStream plays a run and computes Theorems 2 and 3 for it.
func CertifyStream(ctx context.Context, run StreamRun) (*OnlineCertificate, error) {
	mode := config.Centralized
	if run.Distributed {
		mode = config.Distributed
	}
	r, err := newRecording(&pace{ctx: ctx}, mode, run.Model, run.Config, run.Kind)
	if err != nil {
		return nil, err
	}
	if run.Steps > 0 {
		r.most = run.Steps
	}
	var learner online.Learner
	if run.Distributed {
		learner, err = online.NewConsensus(run.Model, run.Config)
	} else {
		learner, err = online.NewCentralized(run.Model, run.Config)
	}
	if err != nil {
		return nil, err
	}
	if err := r.end(run.play(ctx, r, learner)); err != nil {
		return nil, err
	}
	return r.certify()
}

// play runs the learner and looks at every step.
func (run *StreamRun) play(ctx context.Context, r *recording, learner online.Learner) error {
	read := run.Config.Read
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
		if err := learner.Predict(y, sample); err != nil {
			return err
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
