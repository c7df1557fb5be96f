package lifecycle

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/internal/config"
	"github.com/wdgnn/wdgnn/internal/recipe"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/rule"
	"github.com/wdgnn/wdgnn/train"
)

// Training is a configuration made ready to run. Close it after use.
type Training struct {
	config *config.Config
	Data   *Dataset
	Model  *gnn.WideDeep

	// Half are the parameters with which the model made samples of its own to
	// learn from; nil before it did. A run that is resumed needs them again.
	Half []float32

	// Watch, if set, is told how far each phase of the work is that may take long,
	// apart from epochs.
	Watch func(phase string, done, all int)

	engine             *mat.Engine
	train, valid, test bound
	lost               bound              // valid with links missing as in training, where they are
	shift              *mat.CSR           // of the whole graph; nil where inputs were shifted before
	moment             *rule.SecondMoment // of the training signals, measured by Run; see Dataset.moment
	mixing             *mat.CSR           // W of the replay of forecasts

	calibration *modelfile.Calibration // of the model as it was when Calibrate was called
	replayed    *replayed              // by it, likewise; nil but for forecasts
}

// Score is how well a model does on a number of samples.
type Score struct {
	Samples  int      `json:"samples"`
	Loss     float64  `json:"loss"`
	Accuracy *float64 `json:"accuracy,omitempty"` // share of right classes, for classify
	Cost     *float64 `json:"cost,omitempty"`     // of robots' flights: velocity variation, summed over time, mean over flights
	Expert   *float64 `json:"expert,omitempty"`   // that of the expert on the same flights
	RMSE     *float64 `json:"rmse,omitempty"`     // of ratings

	Horizons []HorizonResult `json:"horizons,omitempty"` // of forecasts, by horizon
	Forecast *ForecastResult `json:"forecast,omitempty"` // the same of a model file, with intervals and by sensor
}

// String writes the score for people.
func (s Score) String() string {
	switch {
	case s.Accuracy != nil:
		return fmt.Sprintf("accuracy %.1f %%, loss %.4f on %d samples", 100**s.Accuracy, s.Loss, s.Samples)
	case s.Cost != nil:
		return fmt.Sprintf("cost %.1f, the expert's %.1f, loss %.4f on %d samples", *s.Cost, *s.Expert, s.Loss, s.Samples)
	case s.RMSE != nil:
		return fmt.Sprintf("RMSE %.4f, loss %.4f on %d samples", *s.RMSE, s.Loss, s.Samples)
	}
	return fmt.Sprintf("loss %.4f on %d samples", s.Loss, s.Samples)
}

// TrainingResult is what a finished run leaves.
type TrainingResult struct {
	Version string `json:"version"`
	Kernels string `json:"kernels"`
	Threads int    `json:"threads"`
	Seed    uint64 `json:"seed"`

	Task         string `json:"task"`
	Nodes        int    `json:"nodes"`
	Edges        int    `json:"edges"`
	TimeSteps    int    `json:"time_steps,omitempty"` // of trajectories
	Parameters   int    `json:"parameters"`
	TrainSamples int    `json:"train_samples"`
	ValidSamples int    `json:"valid_samples"`
	TestSamples  int    `json:"test_samples"`

	Select    string  `json:"select"` // what the score is: "accuracy" means 1 - accuracy; or loss, cost, rmse
	Epochs    int     `json:"epochs"`
	Steps     int     `json:"steps"`
	Restarts  int     `json:"restarts"`
	Stopped   bool    `json:"stopped"` // patience ended training
	Scored    bool    `json:"scored"`  // there was a validation; otherwise the next two are 0
	Best      float64 `json:"best"`
	BestSteps int     `json:"best_steps"`
	Seconds   float64 `json:"seconds"` // of training; filled in by whoever has a clock

	Unit  string   `json:"unit,omitempty"`  // of forecasts
	Notes []string `json:"notes,omitempty"` // what was done with the series

	Train Score  `json:"train"`
	Valid *Score `json:"valid,omitempty"`
	Test  *Score `json:"test,omitempty"`
	Verdicts
}

// NewTraining loads the data of c and draws a model.
func NewTraining(ctx context.Context, c *config.Config) (*Training, error) {
	data, err := loadDataset(ctx, c)
	if err != nil {
		return nil, err
	}
	return newTraining(c, data)
}

// newTraining draws a model for data.
func newTraining(c *config.Config, data *Dataset) (t *Training, err error) {
	if !c.Model.Said() {
		return nil, errors.New("no model section: say what to train, such as model: {features: 16, wide: {order: 3}}")
	}
	t = &Training{config: c, Data: data}
	arch := c.Model.Architecture(data.in, data.outputs)
	if arch.Outputs == 0 && arch.Features != data.outputs {
		return nil, fmt.Errorf("model.no_readout: the model gives %d features, the data ask for %d outputs", arch.Features, data.outputs)
	}
	if err := c.Model.CheckSize(data.in, data.outputs); err != nil {
		return nil, err
	}
	start := random.Stream(c.Seed, "init")
	if data.scenario != nil {
		start = data.scenario.start(arch)
	}
	if t.Model, err = gnn.NewRandom(arch, start); err != nil {
		return nil, err
	}
	if t.train, err = data.bind(t.Model, data.Train, c.Train.Losses()); err != nil {
		return nil, err
	}
	for _, p := range []struct {
		part *Part
		to   *bound
	}{{data.Valid, &t.valid}, {data.Test, &t.test}} {
		if p.part.Samples > 0 {
			if *p.to, err = data.bind(t.Model, p.part, train.Outage{}); err != nil {
				return nil, err
			}
		}
	}
	if o := c.Train.Outage; o != nil && data.Valid.Samples > 0 {
		if t.lost, err = data.bind(t.Model, data.Valid, train.Outage{From: o.From, To: o.To}); err != nil {
			return nil, err
		}
	}
	t.engine = mat.NewEngine(c.Threads)
	if data.each == 0 {
		t.shift, err = data.shift()
	}
	if err == nil && data.forecast != nil {
		t.mixing, err = replayMixing(c, data.graph) // what fails should do so before training
	}
	if err != nil {
		t.Close()
		return nil, err
	}
	return t, nil
}

// Close ends the threads.
func (t *Training) Close() { t.engine.Close() }

// Run trains the model, from a checkpoint if there is one. Epochs and steps are
// reported to onEpoch and onStep. If ctx ends or training diverges the model holds the best
// parameters so far and the checkpoint is where to resume; there is none if the first epoch
// did not begin.
func (t *Training) Run(
	ctx context.Context, resume *train.Checkpoint, onEpoch func(train.Epoch) error, onStep func(train.Step) error,
) (train.Result, error) {
	moment, err := t.Data.moment(t.Model, t.engine, t.phase(ctx, "second moment of the inputs"))
	if err = cmp.Or(err, ctx.Err()); err != nil {
		return train.Result{}, err
	}
	t.moment = moment
	job := train.Job{
		Config: t.config.Training(), Train: t.train.data, Resume: resume, Engine: t.engine,
		OnInputs: t.phase(ctx, "moments that scale the inputs"), OnEpoch: onEpoch, OnStep: onStep,
	}
	if t.Data.scenario != nil {
		t.Data.scenario.tune(&job.Config)
	}
	if t.valid.data != nil {
		job.Valid, job.Score = t.valid.data, t.validation()
	}
	return t.run(ctx, job)
}

// validation returns how parameters are compared, lower is better; nil means by
// their loss. Where links fail in training it is the mean of two scores: with all
// links and with some.
func (t *Training) validation() func(context.Context, *gnn.WideDeep) (float64, error) {
	ev := train.Evaluator{Engine: t.engine, PassRows: t.config.Train.PassRows}
	score := func(ctx context.Context, m *gnn.WideDeep, b bound) (float64, error) {
		return ev.Loss(ctx, m, b.data, t.config.Seed)
	}
	switch t.config.Select() {
	case "cost", "rmse":
		return func(ctx context.Context, m *gnn.WideDeep) (float64, error) {
			return t.Data.scenario.measure(ctx, m, "valid")
		}
	case "accuracy":
		score = func(ctx context.Context, m *gnn.WideDeep, b bound) (float64, error) {
			accuracy, err := ev.Accuracy(ctx, m, b.data, b.classes, t.config.Seed)
			return 1 - accuracy, err
		}
	default:
		if t.lost.data == nil {
			return nil
		}
	}
	return func(ctx context.Context, m *gnn.WideDeep) (float64, error) {
		whole, err := score(ctx, m, t.valid)
		if err != nil || t.lost.data == nil {
			return whole, err
		}
		lost, err := score(ctx, m, t.lost)
		return (whole + lost) / 2, err
	}
}

// Epochs returns how many epochs there will be in all.
func (t *Training) Epochs() int {
	if t.Data.scenario != nil {
		if _, all := t.Data.scenario.grow(); all > 0 {
			return all
		}
	}
	return t.config.Train.Epochs
}

// run runs a job, in two parts if samples of the model's own join in.
func (t *Training) run(ctx context.Context, job train.Job) (train.Result, error) {
	half, all := 0, 0
	if t.Data.scenario != nil {
		half, all = t.Data.scenario.grow()
	}
	if half == 0 {
		return train.Run(ctx, t.Model, job)
	}
	if t.Half == nil {
		first := job
		first.Config.Epochs = half
		result, err := train.Run(ctx, t.Model, first)
		if err != nil || result.Stopped {
			return result, err
		}
		job.Resume = result.Last
		job.Resume.Progress.HasBest = false // what did best without does not compete
		t.Half = slices.Clone(job.Resume.Params)
	}
	copy(t.Model.Params.Flat, t.Half)
	part, err := t.Data.scenario.grown(ctx, t.Model)
	if err != nil {
		return train.Result{Epochs: half, Last: job.Resume}, err
	}
	grown, err := t.Data.bind(t.Model, part, train.Outage{})
	if err != nil {
		return train.Result{}, err
	}
	job.Train, job.Config.Epochs = grown.data, all
	return train.Run(ctx, t.Model, job)
}

// Report scores the trained model. Training samples are judged with the links
// that training used.
func (t *Training) Report(ctx context.Context, r train.Result, version string) (*TrainingResult, error) {
	d := t.Data
	out := &TrainingResult{
		Version: version, Kernels: mat.Kernels(), Threads: t.engine.Threads(), Seed: t.config.Seed,
		Task: string(d.task), Nodes: d.Nodes, Edges: d.Edges, TimeSteps: d.Steps, Parameters: len(t.Model.Params.Flat),
		TrainSamples: d.Train.Samples, ValidSamples: d.Valid.Samples, TestSamples: d.Test.Samples,
		Select: t.config.Select(), Epochs: r.Epochs, Steps: r.Steps, Restarts: r.Restarts, Stopped: r.Stopped,
		Scored: r.Scored, Best: r.Best, BestSteps: r.BestSteps,
	}
	if out.Notes = t.Notes(); d.forecast != nil {
		out.Unit = d.forecast.spec.Unit
	}
	first, err := t.score(ctx, "train", t.train)
	if err != nil {
		return nil, err
	}
	out.Train = *first
	for _, p := range []struct {
		name string
		bound
		to **Score
	}{{"valid", t.valid, &out.Valid}, {"test", t.test, &out.Test}} {
		if p.data == nil {
			continue
		}
		if *p.to, err = t.score(ctx, p.name, p.bound); err == nil {
			err = d.judge(ctx, *p.to, t.Model, p.name)
		}
		if err == nil && d.forecast != nil {
			err = t.reportForecasts(ctx, *p.to, p.name)
			out.Verdicts = judged((*p.to).Horizons)
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// File returns the model as it is saved.
func (t *Training) File(version string) *modelfile.Model {
	d := t.Data
	file := &modelfile.Model{Network: t.Model, Meta: modelfile.Meta{
		Shift: d.Shift, Scale: d.scale(), Delayed: d.Delayed(), Task: string(d.task), Nodes: d.read, Seed: t.config.Seed, Version: version,
	}}
	recipe.PutMoment(file, t.moment)
	switch {
	case d.each == 0:
		file.SetRowNorms(recipe.RowNorms(t.Model, t.shift, d.Train.signals, t.engine))
	case d.read == nil: // all nodes are seen
		file.SetRowNorms(recipe.ShiftedNorms(t.Model, d.Train.shifted))
	}
	if t.calibration != nil {
		file.SetCalibration(t.calibration)
	}
	if d.scenario != nil {
		d.scenario.keep(file)
	}
	if d.forecast != nil {
		t.keepForecast(file)
	}
	return file
}

// score scores the model on the part of that name.
func (t *Training) score(ctx context.Context, part string, b bound) (*Score, error) {
	runs := 1
	if b.classes != nil { // of the loss and of the accuracy
		runs = 2
	}
	b.data = t.watched(ctx, "score of "+part, b.data, runs)
	return score(ctx, t.Model, b, t.engine, t.config)
}

func score(ctx context.Context, m *gnn.WideDeep, b bound, e *mat.Engine, c *config.Config) (*Score, error) {
	ev := train.Evaluator{Engine: e, PassRows: c.Train.PassRows}
	s := &Score{Samples: b.data.Len()}
	var err error
	if s.Loss, err = ev.Loss(ctx, m, b.data, c.Seed); err != nil {
		return nil, err
	}
	if b.classes == nil {
		return s, nil
	}
	correct, labelled := 0, 0
	err = ev.Each(ctx, m, b.data, c.Seed, func(p *train.Pass, y mat.Dense) {
		if b.correct != nil {
			b.correct(p, y)
		}
		right, asked := b.classes.Correct(y, p.Rows)
		correct, labelled = correct+right, labelled+asked
	})
	if err != nil {
		return nil, err
	}
	accuracy := float64(correct) / float64(max(labelled, 1))
	s.Accuracy = &accuracy
	return s, nil
}
