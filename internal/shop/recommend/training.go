package recommend

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/internal/shop/dataset"
	"github.com/wdgnn/wdgnn/internal/shop/movies"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/optim"
	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/rule"
	"github.com/wdgnn/wdgnn/train"
)

// TrainConfig says how to train. Its zero value is usable.
type TrainConfig struct {
	Epochs    int     // 0 means 30
	BatchSize int     // ratings per step; 0 means 256
	stepSize  float64 // of Adam; 0 means 0.005
	folds     int     // groups of training users that see a graph without themselves; 0 means 5, 1 one graph for all
	Threads   int     // 0 means 1; the model does not depend on it
	OnEpoch   func(train.Epoch) error
}

func (c TrainConfig) withDefaults() TrainConfig {
	if c.Epochs == 0 {
		c.Epochs = 30
	}
	if c.BatchSize == 0 {
		c.BatchSize = 256
	}
	if c.stepSize == 0 {
		c.stepSize = 0.005
	}
	if c.folds == 0 {
		c.folds = 5
	}
	c.Threads = max(1, c.Threads)
	return c
}

// Report says how a model came out. RMSE are of the ratings of users who had
// no part in training nor in the graph: every rating is predicted from the
// user's other ratings.
type Report struct {
	Users    int     `json:"users"`
	Movies   int     `json:"movies"`
	Ratings  int     `json:"ratings"`
	Training int     `json:"training"` // ratings trained on
	Tested   int     `json:"tested"`   // ratings that RMSE is of
	RMSE     float64 `json:"rmse"`
	MeanRMSE float64 `json:"rmse_mean"` // of the mean of the user's other ratings, and the movie's offset, alone
	Valid    float64 `json:"rmse_validation"`
	Epochs   int     `json:"epochs"`
	Seconds  float64 `json:"seconds"`
}

// Train trains a model on the ratings, with every rated movie of every
// training user as target in turn, and tests it. The users of the ratings are
// divided by the setting's seed; the graph is made of the ratings of those who
// train.
//
// A rating that is also in the graph is easier to predict than one that is
// not, so training users are dealt into folds, and the examples of a fold are
// computed on the graph of the others. Validation, tests and the service use
// the graph of all training users.
func Train(ctx context.Context, all *movies.Ratings, s Setting, c TrainConfig) (*Model, error) {
	began := time.Now()
	c = c.withDefaults()
	w, err := newWorld(all, s, c.Threads)
	if err != nil {
		return nil, err
	}
	examples, err := w.examples(c.folds, c.Threads)
	if err != nil {
		return nil, err
	}
	if examples.Len() == 0 {
		return nil, errors.New("recommend: no training user rated two of the movies; there is nothing to learn from")
	}
	net, err := gnn.NewRandom(s.network(), random.Stream(s.Seed, "init", 0))
	if err != nil {
		return nil, err
	}
	targets, err := train.NewTargets(loss.MSE{}, mat.NewDense(examples.Len(), 1, examples.target), nil)
	if err != nil {
		return nil, fmt.Errorf("recommend: %w", err)
	}
	data, err := train.NewExamples(net, examples.z, targets)
	if err != nil {
		return nil, fmt.Errorf("recommend: %w", err)
	}
	valid := w.rowsOf(w.validation, w.graph, c.Threads)
	engine := mat.NewEngine(c.Threads)
	defer engine.Close()
	result, err := train.Run(ctx, net, train.Job{
		Config: train.Config{
			Epochs: c.Epochs, BatchSize: c.BatchSize, Seed: s.Seed, Adam: optim.AdamConfig{StepSize: c.stepSize},
			FoldWide: true,
		},
		Train: data, Engine: engine, OnEpoch: c.OnEpoch,
		Score: func(_ context.Context, m *gnn.WideDeep) (float64, error) { return w.rmse(m, valid), nil },
	})
	if err != nil {
		return nil, fmt.Errorf("recommend: %w", err)
	}
	test := w.rowsOf(w.test, w.graph, c.Threads)
	moment := &rule.SecondMoment{}
	moment.Add(examples.z, s.Order+1)
	return &Model{
		Setting: s, Data: dataset.Fingerprint(all), network: net, moment: moment,
		Report: Report{
			Users: all.Users(), Movies: w.ratings.Movies(), Ratings: w.ratings.Count(), Training: examples.Len(),
			Tested: test.Len(), RMSE: w.rmse(net, test), MeanRMSE: w.rmse(nil, test), Valid: result.Best,
			Epochs: result.Epochs, Seconds: time.Since(began).Seconds(),
		},
	}, nil
}

// TrainShop is Train on the ratings of a shop.
func TrainShop(ctx context.Context, shop *dataset.Shop, s Setting, c TrainConfig) (*Model, error) {
	m, err := Train(ctx, shop.Ratings, s, c)
	if err == nil {
		m.Data = shop.Fingerprint()
	}
	return m, err
}

// network returns the architecture of a model.
func (s Setting) network() gnn.Config {
	return gnn.Config{
		In: 1, Features: s.Features, Outputs: 1,
		Wide: &gnn.WideConfig{Order: s.Order},
		Deep: []gnn.LayerConfig{{Order: s.Order, Features: s.Features}},
	}
}

// examples returns the rows to train on, those of each fold of users on the
// graph of the other folds.
func (w *world) examples(folds, threads int) (*rows, error) {
	if folds < 2 || folds > len(w.train) {
		return w.rowsOf(w.train, w.graph, threads), nil
	}
	all := &rows{}
	for f := range folds {
		var inside, outside []int
		for k, u := range w.train {
			if k%folds == f {
				inside = append(inside, u)
			} else {
				outside = append(outside, u)
			}
		}
		v, err := w.viewOf(outside, threads)
		if err != nil {
			return nil, err
		}
		all.add(w.rowsOf(inside, v, threads))
	}
	return all, nil
}

// add appends the rows of more, whose memory may become r's.
func (r *rows) add(more *rows) {
	r.z = mat.NewDense(r.z.Rows+more.z.Rows, more.z.Cols, append(r.z.Data, more.z.Data...))
	r.target, r.mean, r.rating = append(r.target, more.target...), append(r.mean, more.mean...), append(r.rating, more.rating...)
}

// rmse returns the root mean squared error of predictions for the rows. A nil
// network predicts the mean.
func (w *world) rmse(net *gnn.WideDeep, r *rows) float64 {
	if r.Len() == 0 {
		return 0
	}
	sum := 0.0
	r.outputs(net, func(i int, y float32) {
		e := w.served(r.mean[i], y) - r.rating[i]
		sum += float64(e * e)
	})
	return math.Sqrt(sum / float64(r.Len()))
}
