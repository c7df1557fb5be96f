package train_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/optim"
	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/train"
)

// examplesConfig is the architecture of Section 6.3 with few features.
var examplesConfig = gnn.Config{
	In: 1, Features: 8, Outputs: 1, Wide: &gnn.WideConfig{Order: 3}, Deep: []gnn.LayerConfig{{Order: 3, Features: 8}},
}

// A user matters only through the K+1 numbers [Sᵏx]_n: training on those rows
// is training on the graph with node n read, within rounding.
// Reference: Section 6.3.
func TestExamplesMatchSignals(t *testing.T) {
	const nodes, samples, node = 20, 23, 7
	rng := random.Stream(1, "examples")
	g, err := graph.ErdosRenyi(nodes, 0.3, rng)
	if err != nil {
		t.Fatal(err)
	}
	signals, values := mat.NewDense(samples*nodes, 1, nil), mat.NewDense(samples, 1, nil)
	for i := range signals.Data {
		signals.Data[i] = rng.Float32()
	}
	for i := range values.Data {
		values.Data[i] = 1 + 4*rng.Float32()
	}
	s, err := graph.ShiftSpectral.Of(g)
	if err != nil {
		t.Fatal(err)
	}
	z, rows := mat.NewDense(nodes, 4, nil), mat.NewDense(samples, 4, nil)
	var shifter gnn.Shifter
	for k := range samples {
		shifter.Shift(z, s, signals.View(k*nodes, 0, nodes, 1))
		copy(rows.Row(k), z.Row(node))
	}
	targets, err := train.NewTargets(loss.SmoothL1{}, values, nil)
	if err != nil {
		t.Fatal(err)
	}
	run := func(data func(m *gnn.WideDeep) (train.Data, error), passRows int) []float32 {
		m := newModel(t, examplesConfig, 5)
		d, err := data(m)
		if err != nil {
			t.Fatal(err)
		}
		job := train.Job{
			Config: train.Config{Epochs: 4, BatchSize: 5, Seed: 9, Adam: optim.AdamConfig{StepSize: 5e-3}, PassRows: passRows},
			Train:  d,
		}
		if _, err := train.Run(context.Background(), m, job); err != nil {
			t.Fatal(err)
		}
		return m.Params.Flat
	}
	want := run(func(m *gnn.WideDeep) (train.Data, error) {
		return train.NewSignals(m, train.SignalsConfig{
			Graph: g, Operator: graph.ShiftSpectral, Signals: signals, Read: []int{node}, Targets: targets,
		})
	}, 0)
	for _, passRows := range []int{0, 2} {
		got := run(func(m *gnn.WideDeep) (train.Data, error) { return train.NewExamples(m, rows, targets) }, passRows)
		for i := range got {
			if math.Abs(float64(got[i]-want[i])) > 1e-5 {
				t.Fatalf("passes of %d rows: parameter %d is %v, want %v as on the graph", passRows, i, got[i], want[i])
			}
		}
	}
}

func TestExamplesRefuse(t *testing.T) {
	values := mat.NewDense(2, 1, nil)
	targets, err := train.NewTargets(loss.MSE{}, values, nil)
	if err != nil {
		t.Fatal(err)
	}
	m := newModel(t, examplesConfig, 1)
	layered := examplesConfig
	layered.Deep = []gnn.LayerConfig{{Order: 1, Features: 8}, {Order: 1, Features: 8}}
	infinite := mat.NewDense(2, 4, []float32{0, 0, 0, 0, 0, float32(math.Inf(1)), 0, 0})
	for _, c := range []struct {
		model   *gnn.WideDeep
		rows    mat.Dense
		targets train.Objective
		want    string
	}{
		{m, mat.NewDense(2, 4, nil), nil, "need an objective"},
		{m, mat.Dense{}, targets, "no examples"},
		{m, mat.NewDense(2, 3, nil), targets, "examples of 3 numbers for a model that reads 4"},
		{m, mat.NewDense(3, 4, nil), targets, "2 target rows for 3 samples"},
		{m, infinite, targets, "example 1 has a value that is not finite"},
		{m, mat.NewDense(2, 4, nil), train.Unsupervised{}, "need a target each"},
		{newModel(t, layered, 1), mat.NewDense(2, 4, nil), targets, "a deep part of 2 layers"},
	} {
		if _, err := train.NewExamples(c.model, c.rows, c.targets); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got error %v, want one that says %q", err, c.want)
		}
	}
}
