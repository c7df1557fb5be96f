package train_test

import (
	"context"
	"math"
	"slices"
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

// rowsTask is a few graphs with signals and targets, and the rows of their
// shifted inputs below each other.
type rowsTask struct {
	samples []graph.Sample
	rows    mat.Dense
	values  mat.Dense
	each    int
}

func newRowsTask(t *testing.T) rowsTask {
	t.Helper()
	const samples, nodes, order = 6, 30, 2
	rng := random.Stream(3, "rows")
	task := rowsTask{rows: mat.NewDense(samples*nodes, 3*(order+1), nil), values: mat.NewDense(samples*nodes, 2, nil), each: nodes}
	var shifter gnn.Shifter
	for s := range samples {
		g, err := graph.ErdosRenyi(nodes, 0.2, rng)
		if err != nil {
			t.Fatal(err)
		}
		shift, err := graph.ShiftSpectral.Of(g)
		if err != nil {
			t.Fatal(err)
		}
		x := mat.NewDense(nodes, 3, nil)
		for i := range x.Data {
			x.Data[i] = rng.Float32() - 0.5
		}
		task.samples = append(task.samples, graph.Sample{Shift: shift, Signal: x})
		shifter.Shift(task.rows.View(s*nodes, 0, nodes, task.rows.Cols), shift, x)
	}
	for i := range task.values.Data {
		task.values.Data[i] = rng.Float32() - 0.5
	}
	return task
}

func (r rowsTask) targets(t *testing.T, mask []bool) *train.Targets {
	t.Helper()
	targets, err := train.NewTargets(loss.MSE{}, r.values, mask)
	if err != nil {
		t.Fatal(err)
	}
	return targets
}

var rowsModels = map[string]gnn.Config{
	"filter": {In: 3, Features: 4, Outputs: 2, Wide: &gnn.WideConfig{Order: 2}},
	"gnn":    {In: 3, Features: 4, Outputs: 2, Deep: []gnn.LayerConfig{{Order: 1, Features: 4, Activation: gnn.Tanh}}},
	"wd-gnn": {
		In: 3, Features: 4, Outputs: 2, Wide: &gnn.WideConfig{Order: 2},
		Deep: []gnn.LayerConfig{{Order: 2, Features: 4, Activation: gnn.Tanh}},
	},
}

// trained returns the parameters and the score after a short training.
func trained(t *testing.T, c gnn.Config, config train.Config, data func(m *gnn.WideDeep) (train.Data, error), threads int) []float32 {
	t.Helper()
	m, err := gnn.NewRandom(c, random.Stream(5, "init"))
	if err != nil {
		t.Fatal(err)
	}
	d, err := data(m)
	if err != nil {
		t.Fatal(err)
	}
	config.Epochs, config.BatchSize, config.Adam = 4, 3, optim.AdamConfig{StepSize: 0.01}
	engine := mat.NewEngine(threads)
	defer engine.Close()
	if _, err := train.Run(context.Background(), m, train.Job{Config: config, Train: d, Engine: engine}); err != nil {
		t.Fatal(err)
	}
	return m.Params.Flat
}

func closeAll(t *testing.T, what string, got, want []float32, tol float64) {
	t.Helper()
	for i := range got {
		if !(math.Abs(float64(got[i]-want[i])) <= tol) {
			t.Errorf("%s: parameter %d: got %v, want %v", what, i, got[i], want[i])
			return
		}
	}
}

// Rows that were shifted before train a model as its graphs do, to the last
// bit, on any number of threads; folded, and summed up for a filter, they do
// within rounding.
func TestShiftedIsGraphs(t *testing.T) {
	task := newRowsTask(t)
	for name, c := range rowsModels {
		config := train.Config{PassRows: 10}
		want := trained(t, c, config, func(m *gnn.WideDeep) (train.Data, error) {
			return train.NewGraphs(m, task.samples, task.targets(t, nil))
		}, 1)
		shifted := func(m *gnn.WideDeep) (train.Data, error) {
			return train.NewShifted(m, task.rows, task.each, task.targets(t, nil))
		}
		for threads := 1; threads <= 3; threads++ {
			if got := trained(t, c, config, shifted, threads); !slices.Equal(got, want) {
				t.Errorf("%s: %d threads: parameters differ from those of graphs", name, threads)
			}
		}
		config.FoldWide = true
		closeAll(t, name+", folded", trained(t, c, config, shifted, 1), want, 1e-4)
		if name != "filter" {
			continue
		}
		linear := func(threads int) []float32 {
			return trained(t, c, config, func(m *gnn.WideDeep) (train.Data, error) {
				d, err := train.NewShifted(m, task.rows, task.each, task.targets(t, nil))
				if err != nil {
					return nil, err
				}
				return train.NewLinear(m, d, threads)
			}, threads)
		}
		closeAll(t, "filter, summed up", linear(1), want, 1e-4)
		if !slices.Equal(linear(1), linear(3)) {
			t.Error("filter, summed up: three threads differ from one")
		}
	}
}

// The losses of Shifted and Linear are the mean squared error.
func TestShiftedLoss(t *testing.T) {
	task := newRowsTask(t)
	c := rowsModels["filter"]
	m, err := gnn.NewRandom(c, random.Stream(5, "init"))
	if err != nil {
		t.Fatal(err)
	}
	shifted, err := train.NewShifted(m, task.rows, task.each, task.targets(t, nil))
	if err != nil {
		t.Fatal(err)
	}
	y := mat.NewDense(task.rows.Rows, 2, nil)
	m.Forward(y, &gnn.Input{Shifted: task.rows}, &gnn.Tape{})
	want := loss.MSE{Target: task.values}.Eval(mat.Dense{}, y)
	var ev train.Evaluator
	got, err := ev.Loss(context.Background(), m, shifted, 1)
	if err != nil || !(math.Abs(got-want) <= 1e-7*want) {
		t.Errorf("shifted: loss %v (%v), want %v", got, err, want)
	}
	var p train.Pass
	if err := shifted.Fill(&p, []int{2}, 0, 1, train.Draw{}); err != nil {
		t.Fatal(err)
	}
	part := loss.MSE{Target: task.values.View(60, 0, 30, 2)}
	dy, wantDy := mat.NewDense(30, 2, nil), mat.NewDense(30, 2, nil)
	if got, want := p.Loss.Eval(dy, y.View(60, 0, 30, 2)), part.Eval(wantDy, y.View(60, 0, 30, 2)); got != want ||
		!slices.Equal(dy.Data, wantDy.Data) {
		t.Errorf("a sample: loss %v, want %v and its gradient, to the last bit", got, want)
	}
	linear, err := train.NewLinear(m, shifted, 2)
	if err != nil {
		t.Fatal(err)
	}
	if got, err = ev.Loss(context.Background(), m, linear, 1); err != nil || !(math.Abs(got-want) <= 1e-6*want) {
		t.Errorf("linear: loss %v (%v), want %v", got, err, want)
	}
	mask := make([]bool, task.rows.Rows)
	mask[3], mask[4] = true, true
	masked, err := train.NewShifted(m, task.rows, task.each, task.targets(t, mask))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ev.Loss(context.Background(), m, masked, 1); err != nil {
		t.Error(err)
	}
	_, err = train.NewLinear(m, masked, 1)
	wantComplaint(t, err, "of all rows")
}

func TestShiftedRefuses(t *testing.T) {
	task := newRowsTask(t)
	one := func(c gnn.Config) *gnn.WideDeep {
		m, err := gnn.New(c)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	filter, deep := one(rowsModels["filter"]), one(rowsModels["gnn"])
	_, err := train.NewShifted(filter, task.rows, 7, task.targets(t, nil))
	wantComplaint(t, err, "180 rows are not a number of samples of 7")
	_, err = train.NewShifted(filter, task.rows, 30, nil)
	wantComplaint(t, err, "objective")
	_, err = train.NewShifted(filter, task.rows.View(0, 0, 180, 6), 30, task.targets(t, nil))
	wantComplaint(t, err, "rows of 6 numbers for a model that reads 9")
	_, err = train.NewShifted(filter, task.rows.View(0, 0, 150, 9), 30, task.targets(t, nil))
	wantComplaint(t, err, "180 target rows for 5 samples, want 150")
	_, err = train.NewShifted(filter, task.rows, 30, train.Unsupervised{})
	wantComplaint(t, err, "unsupervised")
	layer := gnn.LayerConfig{Order: 1, Features: 4}
	_, err = train.NewShifted(one(gnn.Config{In: 3, Features: 4, Deep: []gnn.LayerConfig{layer, layer}}), task.rows, 30, task.targets(t, nil))
	wantComplaint(t, err, "2 layers")
	d, err := train.NewShifted(deep, task.rows, 30, task.targets(t, nil))
	if err != nil {
		t.Fatal(err)
	}
	_, err = train.NewLinear(deep, d, 1)
	wantComplaint(t, err, "not linear")
	task.rows.Set(42, 3, float32(math.Inf(1)))
	_, err = train.NewShifted(filter, task.rows, 30, task.targets(t, nil))
	wantComplaint(t, err, "row 42")
}

func wantComplaint(t *testing.T, err error, words string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), words) {
		t.Errorf("error %v, want one that mentions %q", err, words)
	}
}
