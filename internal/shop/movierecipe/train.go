package movierecipe

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/internal/recipe"
	"github.com/wdgnn/wdgnn/internal/shop/movies"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/optim"
	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/train"
)

// MovieExamples are the users of a split as a model sees them.
type MovieExamples struct {
	Train, Valid MovieRows
	Test         []MovieRows // of the target, then of the other movies
	Stream       []MovieRows // likewise; nobody on the target
}

// Examples shifts every signal: K+1 numbers per user and movie, exactly what a
// model reads at that movie's node.
func (w *MovieWorld) Examples() (*MovieExamples, error) {
	e := &MovieExamples{Test: make([]MovieRows, 1+len(w.Users.Others)), Stream: make([]MovieRows, 1+len(w.Users.Others))}
	fill := func(p *movies.Powers, into *MovieRows, users []int) (err error) {
		*into, err = w.rows(p, users)
		return err
	}
	p := movies.NewPowers(w.Operator, w.Users.Target, w.Order)
	for _, part := range []struct {
		into  *MovieRows
		users []int
	}{{&e.Train, w.Users.Train}, {&e.Valid, w.Users.Validation}, {&e.Test[0], w.Users.Test}} {
		if err := fill(p, part.into, part.users); err != nil {
			return nil, err
		}
	}
	for c, o := range w.Users.Others {
		p := movies.NewPowers(w.Operator, o.Movie, w.Order)
		if err := fill(p, &e.Test[c+1], o.Test); err != nil {
			return nil, err
		}
		if err := fill(p, &e.Stream[c+1], o.Stream); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// Start returns the random stream of a model's starting values.
func (w *MovieWorld) Start(k recipe.Kind) *rand.Rand {
	return random.Stream(w.Seed, "movies init "+string(k), w.Number)
}

// TrainSeed returns the seed of training.
func (w *MovieWorld) TrainSeed() uint64 {
	return random.Stream(w.Seed, "movies train", w.Number).Uint64()
}

// Fit trains a model on the ratings of the target and keeps the parameters
// with the least error on the validation users.
func (w *MovieWorld) Fit(ctx context.Context, k recipe.Kind, e *MovieExamples) (*gnn.WideDeep, error) {
	m, err := gnn.NewRandom(w.Architecture(k), w.Start(k))
	if err != nil {
		return nil, err
	}
	job, err := w.Job(m, e)
	if err != nil {
		return nil, err
	}
	if _, err := train.Run(ctx, m, job); err != nil {
		return nil, fmt.Errorf("train %s: %w", k, err)
	}
	return m, nil
}

// Job returns the training of m.
func (w *MovieWorld) Job(m *gnn.WideDeep, e *MovieExamples) (train.Job, error) {
	targets, err := train.NewTargets(loss.SmoothL1{}, e.Train.Rating, nil)
	if err != nil {
		return train.Job{}, err
	}
	data, err := train.NewExamples(m, e.Train.Z, targets)
	if err != nil {
		return train.Job{}, err
	}
	j := train.Job{
		Config: train.Config{
			Epochs: w.Epochs, BatchSize: w.BatchSize, Seed: w.TrainSeed(),
			Adam: optim.AdamConfig{StepSize: w.StepSize}, ValidateEvery: w.ValidateEvery,
		},
		Train: data,
	}
	if len(e.Valid.Users) > 0 {
		var f MovieReader
		j.Score = func(_ context.Context, m *gnn.WideDeep) (float64, error) {
			return RMSE(f.Read(m, e.Valid), e.Valid.Rating), nil
		}
	}
	return j, nil
}

// MovieReader predicts with a model as it is. It keeps memory between calls.
type MovieReader struct {
	tape gnn.Tape
	y    mat.Dense
}

// Read returns the outputs for all rows, until the next call.
func (f *MovieReader) Read(m *gnn.WideDeep, r MovieRows) mat.Dense {
	f.y = f.y.Resize(r.Z.Rows, 1)
	m.Forward(f.y, &gnn.Input{Shifted: r.Z}, &f.tape)
	return f.y
}

// RMSE returns the root of the mean squared difference of two columns.
func RMSE(y, want mat.Dense) float64 {
	sum := 0.0
	for i := range y.Rows {
		d := float64(y.At(i, 0)) - float64(want.At(i, 0))
		sum += float64(d * d)
	}
	return math.Sqrt(sum / float64(y.Rows))
}
