package online_test

import (
	"math"
	"testing"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/rule"
)

// shifted returns z, the shifted inputs of the wide part.
func shifted(m *gnn.WideDeep, s graph.Sample) mat.Dense {
	var sh gnn.Shifter
	z := mat.NewDense(s.Signal.Rows, (m.InputOrder()+1)*s.Signal.Cols, nil)
	sh.Shift(z, s.Shift, s.Signal)
	return z
}

// with returns the model with other taps.
func with(m *gnn.WideDeep, taps []float64) *gnn.WideDeep {
	c, err := gnn.New(m.Config)
	if err != nil {
		panic(err)
	}
	copy(c.Params.Flat, m.Params.Flat)
	for e, a := range taps {
		c.Params.Flat[e] = float32(a)
	}
	return c
}

// forward returns the output of all nodes of a model.
func forward(m *gnn.WideDeep, s graph.Sample) mat.Dense {
	y := mat.NewDense(s.Signal.Rows, m.Outputs(), nil)
	m.Forward(y, &gnn.Input{Shift: s.Shift, Shifted: shifted(m, s)}, new(gnn.Tape))
	return y
}

// difference returns ∂J/∂a for every tap by finite differences through the
// model.
func difference(m *gnn.WideDeep, taps []float64, eps float64, j func(m *gnn.WideDeep) float64) []float64 {
	g := make([]float64, len(taps))
	for e, a := range taps {
		taps[e] = a + eps
		up := j(with(m, taps))
		taps[e] = a - eps
		g[e] = (up - j(with(m, taps))) / (2 * eps)
		taps[e] = a
	}
	return g
}

// big is a model with 6×32 taps, as for source localization, on 12 nodes whose
// graph changes at every step.
type big struct {
	nodes   int
	model   *gnn.WideDeep
	moment  *rule.SecondMoment
	samples []graph.Sample
}

func newBig(t *testing.T, seed uint64, steps int) *big {
	t.Helper()
	rng := random.Stream(seed, "online big")
	b := &big{nodes: 12, moment: new(rule.SecondMoment)}
	m, err := gnn.NewRandom(gnn.Config{
		In: 1, Features: 32, Outputs: 5, Wide: &gnn.WideConfig{Order: 5},
		Deep:  []gnn.LayerConfig{{Order: 2, Features: 8}, {Order: 1, Features: 32}},
		Gains: gnn.Gains{Wide: 0.7, Deep: 1, Bias: 0.1},
	}, rng)
	must(t, err)
	b.model = m
	for step := range steps {
		g, err := graph.ErdosRenyi(b.nodes, 0.35, rng)
		must(t, err)
		s := sampleOn(t, g, mat.NewDense(b.nodes, 1, nil))
		s.Time = step
		for i := range s.Signal.Data {
			s.Signal.Data[i] = float32(rng.NormFloat64())
		}
		b.samples = append(b.samples, s)
		b.moment.Add(shifted(m, s), 6)
	}
	return b
}

// labels is a cost at every node but the first two.
func (b *big) labels(t int) loss.CrossEntropy {
	l := make([]int32, b.nodes)
	for i := range l {
		l[i] = int32((i*i + t) % 5)
	}
	l[0], l[1] = loss.NoLabel, loss.NoLabel
	return loss.CrossEntropy{Labels: l}
}

func (b *big) labelled() (nodes []int) {
	for i := 2; i < b.nodes; i++ {
		nodes = append(nodes, i)
	}
	return nodes
}

// squares is a cost at every node.
func (b *big) squares(t int) loss.MSE {
	target := mat.NewDense(b.nodes, 5, nil)
	for e := range target.Data {
		target.Data[e] = float32((e*e+3*t)%7-3) / 3
	}
	return loss.MSE{Target: target}
}

func sampleOn(t *testing.T, g *graph.Graph, x mat.Dense) graph.Sample {
	t.Helper()
	shift, err := graph.ShiftSpectral.Of(g)
	must(t, err)
	mixing, err := graph.Metropolis(g)
	must(t, err)
	return graph.Sample{Shift: shift, Mixing: mixing, Signal: x}
}

// near checks that a and b differ by at most tolerance times their size.
func near(t *testing.T, what string, got []float32, want []float64, tolerance float64) {
	t.Helper()
	size := 1e-3
	for _, v := range want {
		size = max(size, math.Abs(v))
	}
	for e, v := range want {
		if d := math.Abs(float64(got[e]) - v); !(d <= tolerance*size) {
			t.Fatalf("%s: element %d is %v, want %v", what, e, got[e], v)
		}
	}
}

// wide returns float32 values as float64.
func wide(v []float32) []float64 {
	w := make([]float64, len(v))
	for e, x := range v {
		w[e] = float64(x)
	}
	return w
}
