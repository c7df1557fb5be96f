package train

import (
	"context"
	"errors"
	"fmt"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/optim"
	"github.com/wdgnn/wdgnn/random"
)

// ErrDiverged is what Run returns when the loss or its gradient is no longer a
// finite number.
var ErrDiverged = errors.New("training diverged: the loss or its gradient is not finite")

// Job is what Run works on.
type Job struct {
	Config Config
	Train  Data

	// Valid is scored to choose the best parameters, by its mean loss. With
	// neither Valid nor Score the last parameters are kept.
	Valid Data

	// Score replaces the mean loss on Valid; lower is better. It must not
	// change the model.
	Score func(ctx context.Context, m *gnn.WideDeep) (float64, error)

	// OnInputs, if set, is told while the moments of [Inputs] are taken, before the
	// first epoch, how many samples are done. An error ends training.
	OnInputs func(done, samples int) error

	// OnEpoch, if set, is called after every epoch. An error ends training.
	OnEpoch func(Epoch) error

	// OnStep, if set, is called after every step of the optimiser: to show
	// progress, or to take a checkpoint, where epochs are long. An error ends
	// training.
	OnStep func(Step) error

	// Resume continues an earlier run of the same job instead of starting
	// from the model's parameters.
	Resume *Checkpoint

	// Engine decides the number of threads; nil means one.
	Engine *mat.Engine
}

// Epoch is what Run reports after an epoch.
type Epoch struct {
	Index     int     `json:"epoch"`      // from 1
	Restart   int     `json:"restart"`    // how often training began anew
	Steps     int     `json:"steps"`      // since it began
	Loss      float64 `json:"loss"`       // mean of J over the batches of the epoch
	GradNorm  float64 `json:"grad_norm"`  // of the last batch, before clipping
	Scored    bool    `json:"scored"`     // a validation has happened; otherwise the next three are 0
	Score     float64 `json:"score"`      // of the last validation
	Best      float64 `json:"best"`       // best score so far
	BestSteps int     `json:"best_steps"` // steps after which it was reached
	LiveUnits int     `json:"live_units"` // of the deep part's last layer, counted in the first epochs; otherwise -1
	Restarts  bool    `json:"restarts"`   // the deep part is dead: training begins anew

	checkpoint func() *Checkpoint
}

// Checkpoint returns a copy of everything a later Run needs to continue.
func (e Epoch) Checkpoint() *Checkpoint { return e.checkpoint() }

// Step is where Run stands after a step of the optimiser.
type Step struct {
	Epoch   int // the current one, from 1
	Done    int // samples of it that are done
	Samples int // in an epoch

	checkpoint func() *Checkpoint
}

// Checkpoint returns a copy of everything a later Run needs to continue.
func (s Step) Checkpoint() *Checkpoint { return s.checkpoint() }

// Result is what Run leaves beside the trained model.
type Result struct {
	Epochs    int         `json:"epochs"`     // finished, since the last restart
	Steps     int         `json:"steps"`      // since the last restart
	Restarts  int         `json:"restarts"`   // because the deep part was dead
	Scored    bool        `json:"scored"`     // there was a validation; otherwise the next two are 0
	Best      float64     `json:"best"`       // best score
	BestSteps int         `json:"best_steps"` // steps after which it was reached
	Stopped   bool        `json:"stopped"`    // patience ended training
	Last      *Checkpoint `json:"-"`          // where to resume
}

// Run trains m in place and leaves the best parameters in it. If ctx ends, or
// the loss diverges, m holds the best parameters so far and Result.Last the
// place to resume from; the error says which.
func Run(ctx context.Context, m *gnn.WideDeep, job Job) (Result, error) {
	r, err := newRunner(m, job)
	if err != nil {
		return Result{}, err
	}
	err = r.run(ctx)
	last := r.checkpoint()
	switch {
	case r.state.HasBest:
		copy(m.Params.Flat, r.state.Best)
	case job.Config.Average > 0:
		r.moved.present(m, &r.moved.mean)
	}
	return Result{
		Epochs: r.state.Epoch, Steps: r.state.Steps, Restarts: r.state.Restart,
		Scored: r.state.HasBest, Best: r.state.BestScore, BestSteps: r.state.BestSteps, Stopped: r.stopped(), Last: last,
	}, err
}

// runner is Run while it runs.
type runner struct {
	job   Job
	model *gnn.WideDeep
	opt   optim.Optimizer
	state Progress

	moved *moved // what training moves; nil if that is the model

	grad    gnn.Params
	workers *workers
	eval    Evaluator
	order   []int
	take    func() *Checkpoint // r.checkpoint

	score, norm float64
}

func newRunner(m *gnn.WideDeep, job Job) (*runner, error) {
	if err := job.Config.Validate(); err != nil {
		return nil, err
	}
	if job.Train == nil || job.Train.Len() == 0 {
		return nil, fmt.Errorf("train: no training samples")
	}
	opt, err := job.Config.newOptimizer(len(m.Params.Flat))
	if err != nil {
		return nil, err
	}
	r := &runner{
		job: job, model: m, opt: opt,
		grad:    gnn.NewParams(m.Config, nil),
		workers: newWorkers(m, job.Train, job.Config.passRows(), job.Engine),
		eval:    Evaluator{Engine: job.Engine, PassRows: job.Config.PassRows},
		order:   make([]int, job.Train.Len()),
	}
	r.workers.fold(job.Config.FoldWide)
	r.take = r.checkpoint
	if job.Resume != nil {
		err = r.restore(job.Resume)
	} else {
		err = r.begin()
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

// begin takes the model's parameters for those that training moves.
func (r *runner) begin() error {
	c := &r.job.Config
	if !c.Inputs.active() && c.Average == 0 {
		return nil
	}
	var scalings []*Scaling
	if c.Inputs.active() {
		var err error
		if scalings, err = measure(r.model, &r.job); err != nil {
			return err
		}
	}
	r.moved = newMoved(r.model, scalings, c.Average > 0)
	r.moved.present(r.model, &r.moved.params)
	return nil
}

// params returns the parameters that training moves.
func (r *runner) params() *gnn.Params {
	if r.moved != nil {
		return &r.moved.params
	}
	return &r.model.Params
}

func (r *runner) run(ctx context.Context) error {
	for r.state.Epoch < r.job.Config.Epochs && !(r.stopped() && r.state.Done == 0) {
		if err := r.epoch(ctx); err != nil {
			return fmt.Errorf("train: epoch %d: %w", r.state.Epoch+1, err)
		}
	}
	return nil
}

// epoch runs the rest of the current epoch.
func (r *runner) epoch(ctx context.Context) error {
	cfg, s := &r.job.Config, &r.state
	for i := range r.order {
		r.order[i] = i
	}
	random.Stream(cfg.Seed, "shuffle", s.Restart, s.Epoch).Shuffle(len(r.order), func(i, j int) {
		r.order[i], r.order[j] = r.order[j], r.order[i]
	})
	for {
		if r.due() {
			if err := r.validate(ctx); err != nil {
				return err
			}
			s.Validated = s.Steps
		}
		if s.Done == len(r.order) || r.stopped() {
			break
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		batch := r.order[s.Done:min(s.Done+cfg.BatchSize, len(r.order))]
		if err := r.step(batch); err != nil {
			return err
		}
		s.Done += len(batch)
		if r.job.OnStep != nil {
			if err := r.job.OnStep(Step{Epoch: s.Epoch + 1, Done: s.Done, Samples: len(r.order), checkpoint: r.take}); err != nil {
				return err
			}
		}
	}
	live, err := r.watch(ctx)
	if err != nil {
		return err
	}
	report := Epoch{
		Index: s.Epoch + 1, Restart: s.Restart, Steps: s.Steps, Loss: s.LossSum / float64(max(s.Done, 1)),
		GradNorm: r.norm, Scored: s.HasBest, Score: r.score, Best: s.BestScore, BestSteps: s.BestSteps, LiveUnits: live,
		Restarts:   live == 0 && s.Restart < cfg.restarts(),
		checkpoint: r.take,
	}
	if report.Restarts {
		if err := r.restart(); err != nil {
			return err
		}
	} else {
		s.Epoch, s.Done, s.LossSum = s.Epoch+1, 0, 0
	}
	if r.job.OnEpoch != nil {
		return r.job.OnEpoch(report)
	}
	return nil
}

// step takes one optimiser step on the mean loss of the batch.
func (r *runner) step(batch []int) error {
	cfg, s, m := &r.job.Config, &r.state, r.model
	j, err := r.workers.gradient(r.grad.Flat, batch, Draw{Seed: cfg.Seed, Restart: s.Restart, Step: s.Steps})
	if err != nil {
		return err
	}
	if r.moved != nil {
		j += cfg.Lipschitz.Eval(&r.grad, &m.Params)
		r.moved.pull(&r.grad)
	}
	if cfg.Ridge > 0 {
		n := learned(m)
		j += loss.Ridge{Strength: float32(cfg.Ridge)}.Eval(r.grad.Flat[:n], r.params().Flat[:n])
	}
	if r.moved == nil {
		j += cfg.Lipschitz.Eval(&r.grad, &m.Params)
	}
	r.norm = optim.ClipNorm(r.grad.Flat, cfg.ClipNorm)
	if bad(j) || bad(r.norm) {
		return fmt.Errorf("step %d, loss %v, gradient norm %v: %w", s.Steps+1, j, r.norm, ErrDiverged)
	}
	r.opt.Step(r.params().Flat, r.grad.Flat)
	s.Steps++
	if r.moved != nil {
		r.moved.present(m, &r.moved.params)
	}
	if cfg.Average > 0 {
		r.moved.average(cfg.Average, s.Steps)
	}
	s.LossSum += float64(j * float64(len(batch)))
	return nil
}

// learned returns how many of the first parameters training moves: all, but for
// gains that are fixed, which come last.
func learned(m *gnn.WideDeep) int {
	n := len(m.Params.Flat)
	if m.Config.FixedGains {
		n -= len(m.Params.Gain)
	}
	return n
}

func bad(v float64) bool { return !mat.Finite(v) }

// validate scores the current parameters, or their running mean, and keeps them
// if they are the best.
func (r *runner) validate(ctx context.Context) error {
	if r.job.Config.Average > 0 {
		r.moved.present(r.model, &r.moved.mean)
		defer r.moved.present(r.model, &r.moved.params)
	}
	var err error
	switch {
	case r.job.Score != nil:
		r.score, err = r.job.Score(ctx, r.model)
	case r.job.Valid != nil:
		r.score, err = r.eval.Loss(ctx, r.model, r.job.Valid, r.job.Config.Seed)
	default:
		return nil
	}
	if err != nil {
		return fmt.Errorf("validation: %w", err)
	}
	s := &r.state
	if !s.HasBest || r.score < s.BestScore {
		if bad(r.score) {
			return fmt.Errorf("validation score %v: %w", r.score, ErrDiverged)
		}
		s.HasBest, s.BestScore, s.BestSteps, s.Waited = true, r.score, s.Steps, 0
		s.Best = append(s.Best[:0], r.model.Params.Flat...)
		return nil
	}
	s.Waited++
	return nil
}

// due says whether the current parameters wait for a validation.
func (r *runner) due() bool {
	every, s := r.job.Config.ValidateEvery, &r.state
	if every == 0 {
		return s.Validated != s.Steps && s.Done == len(r.order)
	}
	return s.Validated != s.Steps && s.Steps%every == 0
}

// stopped says whether patience has ended training.
func (r *runner) stopped() bool {
	patience := r.job.Config.Patience
	return patience > 0 && r.state.HasBest && r.state.Waited >= patience
}

// watch counts the live units of a ReLU deep part in the first epochs.
func (r *runner) watch(ctx context.Context) (int, error) {
	layers := r.model.Config.Deep
	if len(layers) == 0 || layers[len(layers)-1].Activation != gnn.ReLU || r.state.Epoch >= watchedEpochs {
		return -1, nil
	}
	data := r.job.Valid
	if data == nil {
		data = r.job.Train
	}
	return r.eval.LiveUnits(ctx, r.model, data, r.job.Config.Seed)
}

// restart begins anew from other starting values.
func (r *runner) restart() error {
	cfg := &r.job.Config
	opt, err := cfg.newOptimizer(len(r.model.Params.Flat))
	if err != nil {
		return err
	}
	r.opt, r.score = opt, 0
	r.state = Progress{Restart: r.state.Restart + 1, Best: r.state.Best}
	r.params().Init(r.model.Config, random.Stream(cfg.Seed, "init", r.state.Restart))
	if r.moved != nil {
		r.moved.present(r.model, &r.moved.params)
		copy(r.moved.mean.Flat, r.moved.params.Flat)
	}
	return nil
}
