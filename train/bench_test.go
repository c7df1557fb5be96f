package train_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/optim"
	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/scenario/sourceloc"
	"github.com/wdgnn/wdgnn/train"
)

// epoch runs one epoch of training per iteration.
func epoch(b *testing.B, m *gnn.WideDeep, data train.Data, cfg train.Config) {
	for _, threads := range []int{1, 2} {
		b.Run(fmt.Sprintf("threads=%d", threads), func(b *testing.B) {
			e := mat.NewEngine(threads)
			defer e.Close()
			cfg := cfg
			cfg.Epochs, cfg.Restarts, cfg.Adam = 1, -1, optim.AdamConfig{StepSize: 1e-9}
			start := slices.Clone(m.Params.Flat)
			for b.Loop() {
				copy(m.Params.Flat, start) // a run takes them for those of scaled inputs
				mustRun(b, m, train.Job{Config: cfg, Train: data, Engine: e})
			}
			steps := (data.Len() + cfg.BatchSize - 1) / cfg.BatchSize
			b.ReportMetric(b.Elapsed().Seconds()*1e6/float64(b.N)/float64(steps), "µs/step")
		})
	}
}

// BenchmarkSourceLocalization is an epoch of 2,000 signals: all 50 nodes read,
// or the five detectors.
func BenchmarkSourceLocalization(b *testing.B) {
	world, err := sourceloc.New(sourceloc.Default(), random.Stream(1, "world"))
	if err != nil {
		b.Fatal(err)
	}
	leaky := gnn.LayerConfig{Order: 5, Features: 32, Activation: gnn.LeakyReLU} // as fast as the ReLU, and not watched
	m := newModel(b, gnn.Config{In: 1, Features: 32, Outputs: 5, Wide: &gnn.WideConfig{Order: 5}, Deep: []gnn.LayerConfig{leaky, leaky}}, 1)
	signals, labels := world.Draw(2000, random.Stream(1, "signals"))
	for name, read := range map[string][]int{"all": nil, "detectors": world.Detectors} {
		rows := len(read)
		if read == nil {
			rows = world.Graph.Nodes()
		}
		classes, err := train.NewSampleClasses(labels, rows, 5)
		if err != nil {
			b.Fatal(err)
		}
		data, err := train.NewSignals(m, train.SignalsConfig{
			Graph: world.Graph, Operator: graph.ShiftSpectral, Signals: signals, Read: read, Targets: classes,
		})
		if err != nil {
			b.Fatal(err)
		}
		for _, batch := range []int{50, 1000} {
			b.Run(fmt.Sprintf("%s/batch=%d", name, batch), func(b *testing.B) {
				epoch(b, m, data, train.Config{BatchSize: batch})
			})
		}
	}
}

// BenchmarkRobust is an epoch of BenchmarkSourceLocalization at the detectors in
// batches of 50, as the paper trains, with whitened inputs, and with links lost
// too, on subgraphs that earlier epochs drew.
func BenchmarkRobust(b *testing.B) {
	world, err := sourceloc.New(sourceloc.Default(), random.Stream(1, "world"))
	if err != nil {
		b.Fatal(err)
	}
	leaky := gnn.LayerConfig{Order: 5, Features: 32, Activation: gnn.LeakyReLU}
	m := newModel(b, gnn.Config{In: 1, Features: 32, Outputs: 5, Wide: &gnn.WideConfig{Order: 5}, Deep: []gnn.LayerConfig{leaky, leaky}}, 1)
	signals, labels := world.Draw(2000, random.Stream(1, "signals"))
	classes, err := train.NewSampleClasses(labels, len(world.Detectors), 5)
	if err != nil {
		b.Fatal(err)
	}
	for name, w := range map[string]way{
		"paper":    {},
		"whitened": {scale: train.ScaleFull},
		"robust":   {scale: train.ScaleFull, average: 0.999, outage: train.Outage{To: 0.4, Subgraphs: 1024}},
	} {
		data, err := train.NewSignals(m, train.SignalsConfig{
			Graph: world.Graph, Operator: graph.ShiftSpectral, Signals: signals, Read: world.Detectors, Targets: classes, Outage: w.outage,
		})
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			epoch(b, m, data, train.Config{BatchSize: 50, Inputs: train.Inputs{Scale: w.scale}, Average: w.average})
		})
	}
}

// BenchmarkFlocking is one step on 20 trajectories of 200 steps of 50 robots.
func BenchmarkFlocking(b *testing.B) {
	const trajectories, steps, n = 20, 200, 50
	rng := random.Stream(1, "flocking")
	m := newModel(b, gnn.Config{
		In: 6, Features: 32, Outputs: 2, Wide: &gnn.WideConfig{Order: 3},
		Deep: []gnn.LayerConfig{{Order: 3, Features: 32, Activation: gnn.Tanh}},
	}, 1)
	var samples []graph.Sample
	for range trajectories {
		var shifts []*mat.CSR
		for range steps {
			g, err := graph.ErdosRenyi(n, 0.12, rng)
			if err != nil {
				b.Fatal(err)
			}
			shifts = append(shifts, g.Adjacency())
		}
		x := mat.NewDense(steps*n, 6, nil)
		for i := range x.Data {
			x.Data[i] = float32(rng.NormFloat64())
		}
		samples = append(samples, graph.Sample{Shift: graph.SpaceTime(shifts), Signal: x})
	}
	targets, err := train.NewTargets(loss.MSE{}, mat.NewDense(trajectories*steps*n, 2, nil), nil)
	if err != nil {
		b.Fatal(err)
	}
	data, err := train.NewGraphs(m, samples, targets)
	if err != nil {
		b.Fatal(err)
	}
	epoch(b, m, data, train.Config{BatchSize: trajectories})
}
