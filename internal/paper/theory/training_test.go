package theory

import (
	"context"
	"testing"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/crown"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/optim"
	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/scenario/sourceloc"
	"github.com/wdgnn/wdgnn/train"
)

// outcome is a model trained on source localization, with and without links.
type outcome struct {
	strength        float64
	intact, dropped float64 // accuracy
	lipschitz       float64 // C_L
	certificate     float64 // of signals as large as the data's, in units of the output
	change          float64 // measured, likewise
}

// trainStable trains the network of Section 6.1 under the penalty and counts.
func trainStable(t *testing.T, seed uint64, strength float64, samples, epochs, features, drops int) outcome {
	t.Helper()
	ctx := context.Background()
	world, err := sourceloc.New(sourceloc.Default(), random.Stream(seed, "world"))
	if err != nil {
		t.Fatal(err)
	}
	m, err := gnn.NewRandom(gnn.Config{
		In: 1, Features: features, Outputs: 5, Wide: &gnn.WideConfig{Order: 5},
		Deep: []gnn.LayerConfig{{Order: 5, Features: features}, {Order: 5, Features: features}},
	}, random.Stream(seed, "init"))
	if err != nil {
		t.Fatal(err)
	}
	draw := func(n int, stream string) (*train.Signals, *train.Classes, mat.Dense, []int32) {
		x, labels := world.Draw(n, random.Stream(seed, stream))
		classes, err := train.NewSampleClasses(labels, len(world.Detectors), 5)
		if err != nil {
			t.Fatal(err)
		}
		data, err := train.NewSignals(m, train.SignalsConfig{
			Graph: world.Graph, Operator: graph.ShiftSpectral, Signals: x, Read: world.Detectors, Targets: classes,
		})
		if err != nil {
			t.Fatal(err)
		}
		return data, classes, x, labels
	}
	data, _, _, _ := draw(samples, "train")
	valid, validClasses, _, _ := draw(500, "valid")
	var ev train.Evaluator
	_, err = train.Run(ctx, m, train.Job{
		Config: train.Config{
			Epochs: epochs, BatchSize: 50, Seed: seed, Adam: optim.AdamConfig{StepSize: 5e-3},
			Lipschitz: gnn.Lipschitz{Strength: strength},
		},
		Train: data,
		Score: func(ctx context.Context, m *gnn.WideDeep) (float64, error) {
			a, err := ev.Accuracy(ctx, m, valid, validClasses, 0)
			return -a, err
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	test, classes, _, _ := draw(500, "test")
	o := outcome{strength: strength, lipschitz: gnn.Lipschitz{}.Constant(&m.Params)}
	if o.intact, err = ev.Accuracy(ctx, m, test, classes, 0); err != nil {
		t.Fatal(err)
	}
	net := crown.NewNetwork(m)
	s, err := graph.ShiftSpectral.Of(world.Graph)
	if err != nil {
		t.Fatal(err)
	}
	outputs := 0.0
	for k := range drops {
		g, err := graph.NewOutage(world.Graph, random.Stream(seed, "drop", k)).At(0.3)
		if err != nil {
			t.Fatal(err)
		}
		hat, err := graph.ShiftSpectral.Of(g)
		if err != nil {
			t.Fatal(err)
		}
		x, labels := world.DrawOver(hat, 300, random.Stream(seed, "dropped", k))
		c, err := train.NewSampleClasses(labels, len(world.Detectors), 5)
		if err != nil {
			t.Fatal(err)
		}
		d, err := train.NewSignals(m, train.SignalsConfig{Graph: g, Operator: graph.ShiftSpectral, Signals: x, Read: world.Detectors, Targets: c})
		if err != nil {
			t.Fatal(err)
		}
		a, err := ev.Accuracy(ctx, m, d, c, 0)
		if err != nil {
			t.Fatal(err)
		}
		o.dropped += a / float64(drops)
		p, err := NewPair(crown.NewShift(s), crown.NewShift(hat))
		if err != nil {
			t.Fatal(err)
		}
		st := newStability(net, p, effort{}, nil)
		for i := range 20 {
			v := st.Measure(p, crown.Signal(x.View(i*50, 0, 50, 1)))
			o.certificate += v.Any
			o.change += v.Change
			outputs += v.Output
		}
	}
	o.certificate /= outputs
	o.change /= outputs
	return o
}

// A penalty on C_L makes filters bend less, and with them the certificate of the
// trained model fall.
//
// Reference: Section 4, after Definition 1.
func TestPenaltyMakesModelsStable(t *testing.T) {
	if testing.Short() {
		t.Skipf("SKIPPED %s: trains two models; it runs without -short", t.Name())
	}
	plain := trainStable(t, 1, 0, 400, 10, 8, 2)
	stable := trainStable(t, 1, 0.003, 400, 10, 8, 2)
	t.Logf("plain %+v, stable %+v", plain, stable)
	if stable.lipschitz > 0.7*plain.lipschitz || stable.certificate > 0.7*plain.certificate {
		t.Errorf("C_L %v after %v, certificate %v after %v; want both clearly lower",
			stable.lipschitz, plain.lipschitz, stable.certificate, plain.certificate)
	}
}
