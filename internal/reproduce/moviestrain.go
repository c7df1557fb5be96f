package reproduce

import (
	"context"
	"fmt"
	"math"
	"path/filepath"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/internal/recipe"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/optim"
	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/scenario/movies"
	"github.com/wdgnn/wdgnn/train"
)

// movieKinds are the architectures of Table 4.
var movieKinds = []recipe.Kind{recipe.GNN, recipe.Filter, recipe.WideDeep}

// movieExamples are the users of a split as a model sees them.
type movieExamples struct {
	train, valid movieRows
	test         [3]movieRows // by column
	stream       [3]movieRows // by column; none on the movie that models are trained on
}

// examples shifts every signal: K+1 numbers per user and movie, exactly what a
// model reads at that movie's node.
func (w *movieWorld) examples() (*movieExamples, error) {
	e := new(movieExamples)
	fill := func(p *movies.Powers, into *movieRows, users []int) (err error) {
		*into, err = w.rows(p, users)
		return err
	}
	p := movies.NewPowers(w.shift, w.split.Target, w.Order)
	for _, part := range []struct {
		into  *movieRows
		users []int
	}{{&e.train, w.split.Train}, {&e.valid, w.split.Validation}, {&e.test[0], w.split.Test}} {
		if err := fill(p, part.into, part.users); err != nil {
			return nil, err
		}
	}
	for c, o := range w.split.Others {
		p := movies.NewPowers(w.shift, o.Movie, w.Order)
		if err := fill(p, &e.test[c+1], o.Test); err != nil {
			return nil, err
		}
		if err := fill(p, &e.stream[c+1], o.Stream); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// fit trains a model on the ratings of the target and keeps the parameters
// with the least error on the validation users.
func (w *movieWorld) fit(ctx context.Context, k recipe.Kind, e *movieExamples) (*gnn.WideDeep, error) {
	m, err := gnn.NewRandom(w.architecture(k), random.Stream(w.Seed, "movies init "+string(k), w.Number))
	if err != nil {
		return nil, err
	}
	job, err := w.job(m, e)
	if err != nil {
		return nil, err
	}
	if _, err := train.Run(ctx, m, job); err != nil {
		return nil, fmt.Errorf("train %s: %w", k, err)
	}
	return m, nil
}

// job returns the training of m.
func (w *movieWorld) job(m *gnn.WideDeep, e *movieExamples) (train.Job, error) {
	targets, err := train.NewTargets(loss.SmoothL1{}, e.train.rating, nil)
	if err != nil {
		return train.Job{}, err
	}
	data, err := train.NewExamples(m, e.train.z, targets)
	if err != nil {
		return train.Job{}, err
	}
	j := train.Job{
		Config: train.Config{
			Epochs: w.Epochs, BatchSize: w.BatchSize, Seed: random.Stream(w.Seed, "movies train", w.Number).Uint64(),
			Adam: optim.AdamConfig{StepSize: w.StepSize}, ValidateEvery: w.ValidateEvery,
		},
		Train: data,
	}
	if len(e.valid.users) > 0 {
		var f reader
		j.Score = func(_ context.Context, m *gnn.WideDeep) (float64, error) {
			return rmse(f.read(m, e.valid), e.valid.rating), nil
		}
	}
	return j, nil
}

// reader predicts with a model as it is. It keeps memory between calls.
type reader struct {
	tape gnn.Tape
	y    mat.Dense
}

// read returns the outputs for all rows, until the next call.
func (f *reader) read(m *gnn.WideDeep, r movieRows) mat.Dense {
	f.y = f.y.Resize(r.z.Rows, 1)
	m.Forward(f.y, &gnn.Input{Shifted: r.z}, &f.tape)
	return f.y
}

// rmse returns the root of the mean squared difference of two columns.
func rmse(y, want mat.Dense) float64 {
	sum := 0.0
	for i := range y.Rows {
		d := float64(y.At(i, 0)) - float64(want.At(i, 0))
		sum += float64(d * d)
	}
	return math.Sqrt(sum / float64(y.Rows))
}

// save writes a model to a file and returns its name below the output folder.
func (w *movieWorld) save(r *runner, k recipe.Kind, m *gnn.WideDeep) (string, error) {
	key := fingerprint([]any{w.moviesSettings, w.movieSetting, k, r.manifest.Version, r.manifest.Kernels})
	name := fmt.Sprintf("movies-%s-%s-%s-split%d.safetensors", key, w.ID, k, w.Number)
	file := &modelfile.Model{Network: m, Meta: modelfile.Meta{Shift: w.Shift, Task: "regress", Nodes: []int{w.split.Target}, Seed: w.Seed, Version: r.manifest.Version}}
	return filepath.ToSlash(filepath.Join("models", name)), modelfile.Save(filepath.Join(r.models(), name), file)
}
