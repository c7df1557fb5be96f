package train_test

import (
	"math"
	"slices"
	"testing"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/optim"
	"github.com/wdgnn/wdgnn/train"
)

// trained returns the parameters that a short run on a network leads to.
func (u uneven) trained(t *testing.T, kind loss.Regression, values mat.Dense, mask []bool, sparing bool, outage train.Outage) []float32 {
	t.Helper()
	m := newModel(t, gnn.Config{In: 1, Features: 6, Outputs: 2, Wide: &gnn.WideConfig{Order: 2}, Deep: []gnn.LayerConfig{
		{Order: 1, Features: 6}, {Order: 1, Features: 6},
	}}, 3)
	targets, err := train.NewTargets(kind, values, mask)
	if err != nil {
		t.Fatal(err)
	}
	d, err := train.NewSignals(m, train.SignalsConfig{
		Graph: u.network, Operator: graph.ShiftRowStochastic, Signals: u.signals, Targets: targets, Sparing: sparing, Outage: outage,
	})
	if err != nil {
		t.Fatal(err)
	}
	mustRun(t, m, train.Job{
		Config: train.Config{Epochs: 2, BatchSize: 16, Seed: 2, PassRows: 50, Adam: optim.AdamConfig{StepSize: 0.01}}, Train: d, Valid: d,
	})
	return m.Params.Flat
}

// Rows of which nothing is known are rows that a mask hides, to the bit, and what is
// written in a gap does not matter because it is nothing.
func TestGapsAreMasks(t *testing.T) {
	u := newUneven(t)
	nan := float32(math.NaN())
	gaps := u.values.Clone()
	for i, known := range u.mask {
		if !known {
			gaps.Set(i, 0, nan)
			gaps.Set(i, 1, nan)
		}
	}
	for _, name := range []string{"l1", "mse", "smooth-l1", "huber"} {
		kind := loss.Named(name).(loss.Regression)
		got, want := u.trained(t, kind, gaps, nil, false, train.Outage{}), u.trained(t, kind, u.values, u.mask, false, train.Outage{})
		if !slices.Equal(got, want) {
			t.Errorf("%s: rows that are NaN and rows behind a mask lead to different parameters", name)
		}
	}
	half := gaps.Clone()
	for i := range half.Rows {
		half.Set(i, 1, nan)
	}
	for _, v := range u.trained(t, loss.L1{}, half, u.mask, false, train.Outage{}) {
		if v != v {
			t.Fatal("a column of which nothing is known spoils the parameters")
		}
	}
}

// Sums over rows stand for all of them: they refuse targets with gaps.
func TestGapsAreNotSummed(t *testing.T) {
	m := newModel(t, gnn.Config{In: 1, Features: 2, Outputs: 1, Wide: &gnn.WideConfig{Order: 0}}, 1)
	values := mat.NewDense(4, 1, []float32{1, 2, float32(math.NaN()), 4})
	targets, err := train.NewTargets(loss.MSE{}, values, nil)
	if err != nil {
		t.Fatal(err)
	}
	d, err := train.NewShifted(m, mat.NewDense(4, 1, nil), 2, targets)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := train.NewLinear(m, d, 1); err == nil {
		t.Error("sums over rows take targets that are not known")
	}
}

// Shifting signals pass by pass spares memory and changes no bit, with and without
// links that fail.
func TestSparing(t *testing.T) {
	u := newUneven(t)
	for _, outage := range []train.Outage{{}, {From: 0.2, To: 0.2}} {
		got, want := u.trained(t, loss.L1{}, u.values, u.mask, true, outage), u.trained(t, loss.L1{}, u.values, u.mask, false, outage)
		if !slices.Equal(got, want) {
			t.Errorf("outage %v: signals shifted pass by pass lead to other parameters", outage)
		}
	}
	l := newLocalization(t, 60, "train")
	run := func(sparing bool) []float32 {
		m := newModel(t, small, 1)
		classes, err := train.NewSampleClasses(l.labels, len(l.read), communities)
		if err != nil {
			t.Fatal(err)
		}
		d, err := train.NewSignals(m, train.SignalsConfig{
			Graph: l.graph, Operator: graph.ShiftSpectral, Signals: l.signals, Read: l.read, Targets: classes, Sparing: sparing,
		})
		if err != nil {
			t.Fatal(err)
		}
		mustRun(t, m, train.Job{Config: train.Config{Epochs: 2, BatchSize: 16}, Train: d})
		return m.Params.Flat
	}
	if !slices.Equal(run(true), run(false)) {
		t.Error("with three nodes read, signals shifted pass by pass lead to other parameters")
	}
}
