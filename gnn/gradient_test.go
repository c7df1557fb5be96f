package gnn_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/random"
)

// architectures are one model of each kind, small enough to check every
// number.
var architectures = map[string]gnn.Config{
	"filter": {In: 2, Features: 4, Wide: &gnn.WideConfig{Order: 3}, Outputs: 3},
	"gnn": {In: 1, Features: 4, Outputs: 2, Deep: []gnn.LayerConfig{
		{Order: 2, Features: 5, Activation: gnn.Tanh}, {Order: 3, Features: 4, Activation: gnn.ReLU},
	}},
	"wide and deep": {In: 2, Features: 3, Outputs: 2, Wide: &gnn.WideConfig{Order: 1}, Deep: []gnn.LayerConfig{
		{Order: 3, Features: 5, Activation: gnn.LeakyReLU}, {Order: 2, Features: 3, Activation: gnn.Tanh},
	}},
	"three layers": {In: 1, Features: 3, Outputs: 2, Wide: &gnn.WideConfig{Order: 4}, Deep: []gnn.LayerConfig{
		{Order: 0, Features: 4, Activation: gnn.Tanh},
		{Order: 2, Features: 5, Activation: gnn.Identity},
		{Order: 1, Features: 3, Activation: gnn.Tanh},
	}},
	"one layer, no bias, no readout": {
		In: 3, Features: 4, NoBias: true, Wide: &gnn.WideConfig{Order: 2},
		Deep: []gnn.LayerConfig{{Order: 1, Features: 4, Activation: gnn.Tanh}},
	},
	"fixed gains": {
		In: 1, Features: 4, Outputs: 2, Wide: &gnn.WideConfig{Order: 2}, FixedGains: true, Gains: gnn.Gains{Wide: 0.5, Deep: 2, Bias: 0.1},
		Deep: []gnn.LayerConfig{{Order: 2, Features: 4, Activation: gnn.Tanh}},
	},
}

// world is a directed weighted graph with a batch of signals on it.
type world struct {
	s *mat.CSR
	x mat.Dense // (N·B)×F
	b int
}

func newWorld(t testing.TB, rng *rand.Rand, n, b, in int) world {
	t.Helper()
	var entries []mat.Entry
	for i := range n {
		for j := range n {
			if rng.Float64() < 0.4 {
				entries = append(entries, mat.Entry{Row: i, Col: j, Val: float32(rng.NormFloat64() / 2)})
			}
		}
	}
	s, err := mat.FromEntries(n, n, entries)
	if err != nil {
		t.Fatal(err)
	}
	return world{s: s, x: normal(rng, n*b, in), b: b}
}

func normal(rng *rand.Rand, rows, cols int) mat.Dense {
	a := mat.NewDense(rows, cols, nil)
	for i := range a.Data {
		a.Data[i] = float32(rng.NormFloat64())
	}
	return a
}

func newModel(t testing.TB, c gnn.Config, seed uint64) *gnn.WideDeep {
	t.Helper()
	m, err := gnn.NewRandom(c, random.Stream(seed, "init"))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// input shifts the world's signals for m; nodes, if any, are the ones read.
func (w world) input(t testing.TB, m *gnn.WideDeep, nodes ...int) *gnn.Input {
	t.Helper()
	in := &gnn.Input{Shift: w.s, ShiftT: w.s.T(), Shifted: mat.NewDense(w.x.Rows, (m.InputOrder()+1)*w.x.Cols, nil)}
	var sh gnn.Shifter
	sh.Shift(in.Shifted, w.s, w.x)
	if len(nodes) > 0 {
		rows, err := gnn.NewRows(w.s, nodes, m.LastOrder())
		if err != nil {
			t.Fatal(err)
		}
		in.Read = rows
		in.ReadShifted = mat.NewDense(len(nodes)*w.b, in.Shifted.Cols, nil)
		rows.Gather(in.ReadShifted, in.Shifted, w.b)
	}
	return in
}

// weighted is the loss Σ c∘Y with fixed c: its gradient is c, so a check of it
// checks the model alone.
func weighted(c, y mat.Dense) float64 {
	sum := 0.0
	for i := range y.Rows {
		for j, v := range y.Row(i) {
			sum += float64(v) * float64(c.At(i, j))
		}
	}
	return sum
}

// Every parameter and every input value has the gradient that central
// differences find.
func TestGradients(t *testing.T) {
	for name, c := range architectures {
		for _, nodes := range [][]int{nil, {4, 1}} {
			t.Run(fmt.Sprintf("%s/nodes %v", name, nodes), func(t *testing.T) {
				rng := random.Stream(7, name)
				w := newWorld(t, rng, 6, 3, c.In)
				m := newModel(t, c, 3)
				rows := w.x.Rows
				if nodes != nil {
					rows = len(nodes) * w.b
				}
				weights := normal(rng, rows, m.Outputs())
				y := mat.NewDense(rows, m.Outputs(), nil)
				var tape gnn.Tape
				value := func() float64 {
					m.Forward(y, w.input(t, m, nodes...), &tape)
					return weighted(weights, y)
				}
				value()
				grad := gnn.NewParams(c, nil)
				var dx mat.Dense
				if nodes == nil {
					dx = mat.NewDense(w.x.Rows, w.x.Cols, nil)
				}
				m.Backward(&grad, dx, weights, w.input(t, m, nodes...), &tape)
				for _, win := range m.Params.Windows() {
					for k := range win.Len() {
						i := win.Offset + k
						want := difference(&m.Params.Flat[i], value)
						if c.FixedGains && win.Name == "gain" {
							want = 0
						}
						near(t, fmt.Sprintf("%s[%d]", win.Name, k), grad.Flat[i], want)
					}
				}
				for i := range dx.Data {
					near(t, fmt.Sprintf("x[%d]", i), dx.Data[i], difference(&w.x.Data[i], value))
				}
			})
		}
	}
}

// difference returns the derivative of f by v.
func difference(v *float32, f func() float64) float64 {
	const h = 1.0 / 512
	old := *v
	*v = old + h
	up := f()
	*v = old - h
	down := f()
	*v = old
	return (up - down) / (2 * h)
}

func near(t *testing.T, what string, got float32, want float64) {
	t.Helper()
	if math.Abs(float64(got)-want) > 5e-3*max(1, math.Abs(want)) {
		t.Errorf("gradient of %s is %v, want %v", what, got, want)
	}
}

// A filter on its own, in hop-by-hop form, has exact gradients: it is linear,
// so differences have no truncation error.
func TestFilterGradients(t *testing.T) {
	rng := random.Stream(11, "filter")
	w := newWorld(t, rng, 7, 4, 3)
	f := gnn.NewFilter(3, 2, 3, true)
	for _, tap := range f.Taps {
		tap.CopyFrom(normal(rng, 3, 2))
	}
	weights := normal(rng, w.x.Rows, 2)
	y := mat.NewDense(w.x.Rows, 2, nil)
	var tape gnn.FilterTape
	value := func() float64 {
		f.Forward(y, w.s, w.x, &tape)
		return weighted(weights, y)
	}
	value()
	grad := gnn.NewFilter(3, 2, 3, true)
	dx := mat.NewDense(w.x.Rows, 3, nil)
	f.Backward(grad, dx, w.s.T(), weights, &tape)
	for k, tap := range f.Taps {
		for i := range tap.Data {
			near(t, fmt.Sprintf("tap %d[%d]", k, i), grad.Taps[k].Data[i], difference(&tap.Data[i], value))
		}
	}
	for i := range f.Bias {
		near(t, fmt.Sprintf("bias[%d]", i), grad.Bias[i], difference(&f.Bias[i], value))
	}
	for i := range w.x.Data {
		near(t, fmt.Sprintf("x[%d]", i), dx.Data[i], difference(&w.x.Data[i], value))
	}
}

// A layer on its own has the gradients that differences find.
func TestLayerGradients(t *testing.T) {
	rng := random.Stream(12, "layer")
	w := newWorld(t, rng, 6, 2, 2)
	for _, act := range []gnn.Activation{gnn.Tanh, gnn.Identity} {
		l := gnn.Layer{Filter: *gnn.NewFilter(2, 3, 2, true), Activation: act}
		for _, tap := range l.Taps {
			tap.CopyFrom(normal(rng, 2, 3))
		}
		weights := normal(rng, w.x.Rows, 3)
		var tape gnn.LayerTape
		value := func() float64 {
			l.Forward(w.s, w.x, &tape)
			return weighted(weights, tape.Out)
		}
		value()
		grad, dx := gnn.NewFilter(2, 3, 2, true), mat.NewDense(w.x.Rows, 2, nil)
		l.Backward(grad, dx, w.s.T(), weights.Clone(), &tape)
		for k, tap := range l.Taps {
			for i := range tap.Data {
				near(t, fmt.Sprintf("%v tap %d[%d]", act, k, i), grad.Taps[k].Data[i], difference(&tap.Data[i], value))
			}
		}
		for i := range w.x.Data {
			near(t, fmt.Sprintf("%v x[%d]", act, i), dx.Data[i], difference(&w.x.Data[i], value))
		}
	}
}

// sbm returns the graph of the source localization experiment.
func sbm(t testing.TB) *graph.Graph {
	t.Helper()
	g, err := graph.SBM(graph.SBMConfig{Sizes: []int{10, 10, 10, 10, 10}, Intra: 0.8, Inter: 0.2}, random.Stream(1, "graph"))
	if err != nil {
		t.Fatal(err)
	}
	return g
}
