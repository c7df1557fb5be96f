package demo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/recipe"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/rule"
	"github.com/wdgnn/wdgnn/train"
)

// Demo shows in a minute what this is about: a WD-GNN learns to tell where a
// pulse started in a network, links are lost, and nodes that keep learning from
// their neighbours and their own mistakes answer beside the frozen model.
type Demo struct {
	Seed uint64 // root of every random stream

	Signals   int // for training; 0 means 10,000
	Epochs    int // of training; 0 means 40
	Subgraphs int // random subgraphs of the table; 0 means 8

	// Model, if set, is what Train returned for the same seed; Live then trains
	// nothing.
	Model *modelfile.Model

	// OnStart, if set, is told what is about to be trained.
	OnStart func(Setup)

	// OnEpoch, if set, is called after every epoch of training.
	OnEpoch func(train.Epoch)

	// OnSignal, if set, is called after every test signal on the first
	// subgraph, with the running accuracy of every learner.
	OnSignal func(Frame) error
}

// Setup describes what a Demo works on.
type Setup struct {
	Nodes      int        `json:"nodes"`
	Edges      int        `json:"edges"`
	Detectors  int        `json:"detectors"`
	Parameters int        `json:"parameters"`
	Signals    int        `json:"signals"`
	Epochs     int        `json:"epochs"`
	Model      gnn.Config `json:"model"`
}

// Frame is one moment of the online phase.
type Frame struct {
	Signal   int       // 1 is the first
	Signals  int       // in all
	Lost     int       // links
	Names    []string  // of the learners
	Accuracy []float64 // so far, 0 to 1
}

// Result is what a Demo found.
type Result struct {
	Setup    Setup  `json:"setup"`
	Seed     uint64 `json:"seed"`
	Restarts int    `json:"restarts"` // of training, because the deep part was dead
	Learners []Mean `json:"learners"`
}

// Mean is how one learner did. Accuracies are shares of right answers.
type Mean struct {
	Name      string  `json:"name"`
	Same      float64 `json:"same"`      // with all links
	First     float64 `json:"first"`     // on the first subgraph
	Accuracy  float64 `json:"accuracy"`  // mean over subgraphs
	Deviation float64 `json:"deviation"` // standard deviation between subgraphs
	Last      float64 `json:"last"`      // over the last 30 % of the signals
	Better    int     `json:"better"`    // subgraphs on which it beats the frozen model
	Subgraphs int     `json:"subgraphs"`
	Warning   string  `json:"warning,omitempty"` // that learning did harm at the end
}

// What runs side by side learns in one of these ways.
var (
	frozen = recipe.LearnerSpec{ID: "frozen", Kind: recipe.WideDeep}
	paper  = recipe.LearnerSpec{
		ID: "paper", Kind: recipe.WideDeep, Mode: recipe.Distributed, Config: rule.Paper(false).Ungated(), Curved: true,
	}
)

// neighbours is the default where a model knows what its nodes heard in training, with
// gates.
var neighbours = recipe.LearnerSpec{ID: "neighbours", Kind: recipe.WideDeep, Mode: recipe.Distributed, Config: rule.Neighbours()}.Gated()

// contestants run side by side.
var contestants = []struct {
	Name string
	Spec recipe.LearnerSpec
}{
	{"frozen", frozen},
	{"paper (eq. 9)", paper},
	{"neighbours", neighbours},
}

// Run runs the demo.
func (d Demo) Run(ctx context.Context) (*Result, error) {
	s := d.settings()
	z, err := recipe.NewSource(s, 0, 0)
	if err != nil {
		return nil, err
	}
	c := s.Architecture(recipe.WideDeep)
	params := gnn.NewParams(c, nil)
	result := &Result{Seed: d.Seed, Setup: Setup{
		Nodes: z.Net.Graph.Nodes(), Edges: z.Net.Graph.Edges(), Detectors: len(z.Net.Detectors),
		Parameters: len(params.Flat), Signals: s.Train, Epochs: s.Epochs, Model: c,
	}}
	if d.OnStart != nil {
		d.OnStart(result.Setup)
	}
	t, err := z.Fit(ctx, recipe.WideDeep, d.OnEpoch)
	if err != nil {
		return nil, err
	}
	result.Restarts = t.Info.Restarts
	if d.OnSignal != nil {
		if err := d.show(ctx, z); err != nil {
			return nil, err
		}
	}
	return result, d.measure(ctx, z, result)
}

// Train returns the model that Run and Live train.
func (d Demo) Train(ctx context.Context) (*modelfile.Model, error) {
	trained, err := recipe.Localize(ctx, recipe.Localization{
		Seed: d.Seed, Signals: d.Signals, Epochs: d.Epochs, Shift: graph.ShiftSpectral, OnEpoch: d.OnEpoch,
	})
	if err != nil {
		return nil, err
	}
	return trained.Model, nil
}

// settings returns those of a quick run of Table 1, with a model of our own.
func (d Demo) settings() recipe.Sourceloc {
	s := recipe.DefaultSourceloc(d.Seed).Robust()
	s.Train, s.Epochs, s.Subgraphs = cmp.Or(d.Signals, s.Train), cmp.Or(d.Epochs, recipe.FewEpochs), cmp.Or(d.Subgraphs, 8)
	return s
}

// show runs the learners in step over the first subgraph.
func (d Demo) show(ctx context.Context, z *recipe.Source) error {
	stream, err := z.TestStream(0, z.OutageProb)
	if err != nil {
		return err
	}
	left, err := z.Subgraph(0, z.OutageProb)
	if err != nil {
		return err
	}
	frame := Frame{Signals: stream.Len(), Lost: z.Net.Graph.Edges() - left.Edges(), Accuracy: make([]float64, len(contestants))}
	learners, meters := make([]online.Learner, len(contestants)), make([]online.Meter, len(contestants))
	shared := recipe.Observers{}
	for k, l := range contestants {
		frame.Names = append(frame.Names, l.Name)
		if learners[k], err = z.Learner(l.Spec, shared); err != nil {
			return err
		}
	}
	y := mat.NewDense(z.Net.Graph.Nodes(), z.World.Communities, nil)
	for sample := range stream.Samples() {
		if err := errors.Join(ctx.Err(), shared.Observe(sample)); err != nil {
			return err
		}
		var j loss.Loss
		for k, l := range learners {
			if err := l.Predict(y); err != nil {
				return err
			}
			j = stream.Reveal(y)
			meters[k].Watch(y, j)
			frame.Accuracy[k] = meters[k].Accuracy()
			if err := l.Update(j); err != nil {
				return fmt.Errorf("%s: %w", frame.Names[k], err)
			}
		}
		frame.Signal++
		if err := d.OnSignal(frame); err != nil {
			return err
		}
	}
	return nil
}

// measure fills the table.
func (d Demo) measure(ctx context.Context, z *recipe.Source, result *Result) error {
	accuracy := make([][]float64, len(contestants))
	last := make([][]float64, len(contestants))
	var specs []recipe.LearnerSpec
	for _, l := range contestants {
		specs = append(specs, l.Spec)
	}
	for sub := -1; sub < z.Subgraphs; sub++ {
		p := z.OutageProb
		if sub < 0 {
			p = 0
		}
		stream, err := z.TestStream(sub, p)
		if err != nil {
			return err
		}
		played, err := z.Play(ctx, specs, stream, false)
		if err != nil {
			return err
		}
		for k, out := range played {
			if sub < 0 {
				result.Learners = append(result.Learners, Mean{Name: contestants[k].Name, Same: out.Accuracy / 100, Subgraphs: z.Subgraphs})
				continue
			}
			accuracy[k], last[k] = append(accuracy[k], out.Accuracy/100), append(last[k], out.Last/100)
			if out.Accuracy/100 > accuracy[0][sub] {
				result.Learners[k].Better++
			}
		}
	}
	for k := range result.Learners {
		m := &result.Learners[k]
		m.First, m.Accuracy, m.Deviation, m.Last = accuracy[k][0], mean(accuracy[k]), deviation(accuracy[k]), mean(last[k])
		m.Warning = recipe.Harm(m.Name, 100*m.Last, 100*result.Learners[0].Last, 100*result.Learners[0].Accuracy)
	}
	return nil
}

// mean returns Σx/n, term by term.
func mean(values []float64) (sum float64) {
	for _, x := range values {
		sum += x / float64(len(values))
	}
	return sum
}

// deviation returns the standard deviation, 0 of a single value.
func deviation(values []float64) float64 {
	if len(values) < 2 {
		return 0
	}
	m, sum := mean(values), 0.0
	for _, x := range values {
		sum += float64((x-m)*(x-m)) / float64(len(values)-1)
	}
	return math.Sqrt(sum)
}
