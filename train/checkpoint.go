package train

import (
	"fmt"
	"slices"

	"github.com/wdgnn/wdgnn/optim"
)

// Progress is where a run stands: the part of a Checkpoint that is neither
// parameters nor optimiser.
type Progress struct {
	Restart   int       `json:"restart"`
	Epoch     int       `json:"epoch"`    // finished epochs
	Done      int       `json:"done"`     // samples of the current epoch
	Steps     int       `json:"steps"`    // since the last restart
	LossSum   float64   `json:"loss_sum"` // over the samples done
	HasBest   bool      `json:"has_best"`
	BestScore float64   `json:"best_score"`
	BestSteps int       `json:"best_steps"`
	Waited    int       `json:"waited"`    // validations since the best
	Validated int       `json:"validated"` // steps at the last validation
	Best      []float32 `json:"best,omitempty"`
}

// Checkpoint is a run in the middle: a Run that resumes from it ends with the
// bits of one that was never interrupted. It round-trips through JSON.
type Checkpoint struct {
	Progress  Progress    `json:"progress"`
	Params    []float32   `json:"params"`
	Optimizer optim.State `json:"optimizer"`

	// Where inputs are scaled or parameters averaged: the parameters that training
	// moves, of which it makes Params; the scalings of the wide part and the first
	// layer, which stay what they were if a run goes on with more data; and the
	// mean of Moved over steps.
	Moved    []float32  `json:"moved,omitempty"`
	Scalings []*Scaling `json:"scalings,omitempty"`
	Mean     []float32  `json:"mean,omitempty"`
}

func (r *runner) checkpoint() *Checkpoint {
	c := &Checkpoint{Progress: r.state, Params: slices.Clone(r.model.Params.Flat), Optimizer: r.opt.State()}
	c.Progress.Best = slices.Clone(r.state.Best)
	if r.moved != nil {
		c.Moved, c.Scalings, c.Mean = slices.Clone(r.moved.params.Flat), r.moved.scalings, slices.Clone(r.moved.mean.Flat)
	}
	return c
}

func (r *runner) restore(c *Checkpoint) error {
	n := len(r.model.Params.Flat)
	if len(c.Params) != n || c.Progress.HasBest && len(c.Progress.Best) != n {
		return fmt.Errorf("train: a checkpoint of %d parameters for a model of %d: was it written by another configuration?", len(c.Params), n)
	}
	if s := c.Progress; s.Done < 0 || s.Done > len(r.order) || s.Epoch < 0 || s.Steps < 0 || s.Restart < 0 {
		return fmt.Errorf("train: a checkpoint at sample %d of %d, epoch %d: was it written for other data?", s.Done, len(r.order), s.Epoch)
	}
	moved, err := r.restoreMoved(c)
	if err != nil {
		return err
	}
	if err := r.opt.Restore(c.Optimizer); err != nil {
		return fmt.Errorf("train: checkpoint: %w", err)
	}
	copy(r.model.Params.Flat, c.Params)
	r.moved, r.state = moved, c.Progress
	r.state.Best = slices.Clone(c.Progress.Best)
	return nil
}

// restoreMoved returns the scaled inputs and the mean of a checkpoint, nil if it
// needs none.
func (r *runner) restoreMoved(c *Checkpoint) (*moved, error) {
	cfg := &r.job.Config
	filters := readers(&r.model.Params)
	if !cfg.Inputs.active() {
		filters = nil
	}
	n, mean := 0, 0
	if cfg.Inputs.active() || cfg.Average > 0 {
		n = len(c.Params)
	}
	if cfg.Average > 0 {
		mean = n
	}
	if len(c.Moved) != n || len(c.Mean) != mean || len(c.Scalings) != len(filters) {
		return nil, fmt.Errorf("train: a checkpoint with other inputs than scale %q, average %v: was it written by another configuration?",
			cfg.Inputs.Scale, cfg.Average)
	}
	for k, f := range filters {
		if err := c.Scalings[k].validate((f.Order() + 1) * f.In()); err != nil {
			return nil, err
		}
	}
	if n == 0 {
		return nil, nil
	}
	v := newMoved(r.model, c.Scalings, mean > 0)
	copy(v.params.Flat, c.Moved)
	copy(v.mean.Flat, c.Mean)
	return v, nil
}
