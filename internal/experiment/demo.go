// Package experiment holds the experiments that the program runs, as values
// and functions that the library's users could have written themselves.
package experiment

import (
	"context"
	"fmt"
	"math"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/optim"
	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/scenario/sourceloc"
	"github.com/wdgnn/wdgnn/train"
)

// Demo trains a WD-GNN to tell where a pulse started in a network, and then
// takes links away: the accuracy falls, which is the problem that online
// learning solves.
type Demo struct {
	Seed    uint64 // root of every random stream
	Threads int    // see mat.NewEngine

	Signals int // for training; 0 means 10,000
	Epochs  int // of training; 0 means 40

	// Subgraphs is the number of random subgraphs behind each accuracy; 0
	// means 20.
	Subgraphs int

	// OnStart, if set, is told what is about to be trained.
	OnStart func(DemoSetup)

	// OnEpoch, if set, is called after every epoch of training.
	OnEpoch func(train.Epoch)
}

// DemoSetup describes what a Demo works on.
type DemoSetup struct {
	Nodes      int        `json:"nodes"`
	Edges      int        `json:"edges"`
	Detectors  int        `json:"detectors"`
	Parameters int        `json:"parameters"`
	Signals    int        `json:"signals"`
	Epochs     int        `json:"epochs"`
	Model      gnn.Config `json:"model"`
}

// DemoResult is what a Demo found.
type DemoResult struct {
	Setup    DemoSetup    `json:"setup"`
	Seed     uint64       `json:"seed"`
	Restarts int          `json:"restarts"` // of training, because the deep part was dead
	Rows     []OutageMean `json:"accuracy"`
}

// OutageMean is the accuracy of the frozen model where links are missing.
type OutageMean struct {
	OutageProb float64 `json:"outage_prob"`
	Accuracy   float64 `json:"accuracy"`  // share of right answers, mean over subgraphs
	Deviation  float64 `json:"deviation"` // standard deviation between subgraphs
	Subgraphs  int     `json:"subgraphs"`
}

const demoValid, demoTest = 1000, 1000 // signals

func (d Demo) withDefaults() Demo {
	if d.Signals == 0 {
		d.Signals = 10000
	}
	if d.Epochs == 0 {
		d.Epochs = 40
	}
	if d.Subgraphs == 0 {
		d.Subgraphs = 20
	}
	return d
}

// Run runs the demo.
func (d Demo) Run(ctx context.Context) (*DemoResult, error) {
	d = d.withDefaults()
	world, err := sourceloc.New(sourceloc.Default(), random.Stream(d.Seed, "world"))
	if err != nil {
		return nil, err
	}
	model, err := gnn.NewRandom(gnn.Config{
		In: 1, Features: 32, Outputs: world.Config.Communities,
		Wide: &gnn.WideConfig{Order: 5},
		Deep: []gnn.LayerConfig{{Order: 5, Features: 32}, {Order: 5, Features: 32}},
	}, random.Stream(d.Seed, "init"))
	if err != nil {
		return nil, err
	}
	engine := mat.NewEngine(d.Threads)
	defer engine.Close()
	result := &DemoResult{Seed: d.Seed, Setup: DemoSetup{
		Nodes: world.Graph.Nodes(), Edges: world.Graph.Edges(), Detectors: len(world.Detectors),
		Parameters: len(model.Params.Flat), Signals: d.Signals, Epochs: d.Epochs, Model: model.Config,
	}}
	if d.OnStart != nil {
		d.OnStart(result.Setup)
	}
	if result.Restarts, err = d.train(ctx, model, world, engine); err != nil {
		return nil, err
	}
	for _, p := range []float64{0, 0.1, 0.2, 0.3, 0.4, 0.5} {
		row, err := d.test(ctx, model, world, engine, p)
		if err != nil {
			return nil, fmt.Errorf("links lost with probability %v: %w", p, err)
		}
		result.Rows = append(result.Rows, row)
	}
	return result, nil
}

func (d Demo) train(ctx context.Context, model *gnn.WideDeep, world *sourceloc.World, engine *mat.Engine) (restarts int, err error) {
	data, _, err := detection(model, world, world.Graph, d.Signals, random.Stream(d.Seed, "train"))
	if err != nil {
		return 0, err
	}
	valid, classes, err := detection(model, world, world.Graph, demoValid, random.Stream(d.Seed, "valid"))
	if err != nil {
		return 0, err
	}
	ev := train.Evaluator{Engine: engine}
	result, err := train.Run(ctx, model, train.Job{
		Config: train.Config{Epochs: d.Epochs, BatchSize: 50, Seed: d.Seed, Adam: optim.AdamConfig{StepSize: 5e-3}},
		Train:  data, Valid: valid, Engine: engine,
		Score: func(ctx context.Context, m *gnn.WideDeep) (float64, error) {
			accuracy, err := ev.Accuracy(ctx, m, valid, classes, d.Seed)
			return 1 - accuracy, err
		},
		OnEpoch: func(e train.Epoch) error {
			if d.OnEpoch != nil {
				d.OnEpoch(e)
			}
			return nil
		},
	})
	return result.Restarts, err
}

// test measures the accuracy on subgraphs that lack each link with
// probability p. The same random numbers serve every p.
func (d Demo) test(ctx context.Context, model *gnn.WideDeep, world *sourceloc.World, engine *mat.Engine, p float64) (OutageMean, error) {
	row := OutageMean{OutageProb: p, Subgraphs: d.Subgraphs}
	if p == 0 {
		row.Subgraphs = 1
	}
	ev := train.Evaluator{Engine: engine}
	var sum, squares float64
	for k := range row.Subgraphs {
		g, err := graph.NewOutage(world.Graph, random.Stream(d.Seed, "outage", k)).At(p)
		if err != nil {
			return row, err
		}
		data, classes, err := detection(model, world, g, demoTest, random.Stream(d.Seed, "test"))
		if err != nil {
			return row, err
		}
		accuracy, err := ev.Accuracy(ctx, model, data, classes, d.Seed)
		if err != nil {
			return row, err
		}
		sum += accuracy
		squares += float64(accuracy * accuracy)
	}
	n := float64(row.Subgraphs)
	row.Accuracy = sum / n
	if n > 1 {
		row.Deviation = math.Sqrt(max(squares-float64(sum*sum/n), 0) / (n - 1))
	}
	return row, nil
}
