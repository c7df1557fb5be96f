package online_test

import (
	"fmt"
	"math"
	"testing"

	dense "gonum.org/v1/gonum/mat"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/rule"
)

// regression is a linear model with wrong taps, and a signal with noisy targets
// at every node.
type regression struct {
	nodes  int
	model  *gnn.WideDeep
	sample graph.Sample
	cost   loss.MSE
	z      *dense.Dense // N×3
	t      *dense.Dense // N×2, less the bias
}

func newRegression(t *testing.T) *regression {
	t.Helper()
	rng := random.Stream(11, "regression")
	r := &regression{nodes: 30}
	g, err := graph.ErdosRenyi(r.nodes, 0.3, rng)
	must(t, err)
	x := mat.NewDense(r.nodes, 1, nil)
	for i := range x.Data {
		x.Data[i] = float32(rng.NormFloat64())
	}
	r.sample = sampleOn(t, g, x)
	r.model, err = gnn.NewRandom(gnn.Config{In: 1, Features: 2, Wide: &gnn.WideConfig{Order: 2}}, rng)
	must(t, err)
	z := shifted(r.model, r.sample)
	truth := []float64{1, -2, 0.5, 1, -1, 3}
	r.cost = loss.MSE{Target: mat.NewDense(r.nodes, 2, nil)}
	r.z, r.t = dense.NewDense(r.nodes, 3, wide(z.Data)), dense.NewDense(r.nodes, 2, nil)
	for i := range r.nodes {
		for c := range 2 {
			v := 0.3 * rng.NormFloat64()
			for k := range 3 {
				v += float64(z.At(i, k)) * truth[2*k+c]
			}
			r.cost.Target.Set(i, c, float32(v))
			r.t.Set(i, c, float64(float32(v))-float64(r.model.Params.Wide.Bias[c]))
		}
	}
	return r
}

// solution returns argmin (1/2N)‖Z𝒜 - T‖² + (λ/2)‖𝒜 - 𝒜†‖².
func (r *regression) solution(t *testing.T, lambda float64) []float64 {
	t.Helper()
	n := float64(r.nodes)
	var left, right dense.Dense
	left.Mul(r.z.T(), r.z)
	right.Mul(r.z.T(), r.t)
	for k := range 3 {
		left.Set(k, k, left.At(k, k)+n*lambda)
		for c := range 2 {
			right.Set(k, c, right.At(k, c)+n*lambda*float64(r.model.Params.Flat[2*k+c]))
		}
	}
	var a dense.Dense
	must(t, a.Solve(&left, &right))
	return a.RawMatrix().Data
}

// The squared cost is convex in the taps, and repeated steps end in its
// minimum: the least-squares solution, or with a ridge the ridge solution
// around the taps trained offline.
// Reference: Section 3, eq. (6) and (7).
func TestCentralizedFindsLeastSquares(t *testing.T) {
	r := newRegression(t)
	for _, lambda := range []float64{0, 0.05} {
		c := rule.Config{StepSize: rule.StepSize{Value: 0.5}, Ridge: lambda}
		l := newCentralized(t, r.model, online.Config{Nodes: r.nodes}, c)
		for range 4000 {
			step(t, l, 2, r.sample, r.cost)
		}
		a := make([]float32, l.Basis().TapsLen())
		l.Taps(a)
		near(t, fmt.Sprint("ridge ", lambda), a, r.solution(t, lambda), 1e-4)
	}
}

// Copies that mix and step down their own costs end in the minimum of the mean
// cost if step sizes decay.
// Reference: Section 3, eq. (8) and (9).
func TestConsensusFindsLeastSquares(t *testing.T) {
	r := newRegression(t)
	c := plain(0)
	c.StepSize = rule.StepSize{Schedule: rule.Decaying, Value: 0.25, Steps: 300}
	l := newConsensus(t, r.model, online.Config{Nodes: r.nodes}, c)
	for range 40000 {
		step(t, l, 2, r.sample, r.cost)
	}
	want := r.solution(t, 0)
	for i := range r.nodes {
		near(t, fmt.Sprint("node ", i), taps(l, i), want, 0.05)
	}
	mean := make([]float32, 6)
	for i := range r.nodes {
		for e, a := range taps(l, i) {
			mean[e] += a / float32(r.nodes)
		}
	}
	near(t, "mean of the copies", mean, want, 0.01)
}

// What a learner says of delayed models is the model with the learned taps, run
// with the same delays; and its steps are gradient steps.
// Reference: Section 6.2, eq. (24).
func TestDelayedModelLearns(t *testing.T) {
	b := newBig(t, 13, 8)
	const gamma = 0.4
	l := newCentralized(t, b.model, online.Config{Nodes: b.nodes, Delayed: true}, plain(gamma))
	a := make([]float32, 192)
	for k, s := range b.samples {
		l.Taps(a)
		j := b.squares(k)
		at := func(taps []float64) mat.Dense { // steps 0 to k, all with these taps
			d := gnn.Delayed{Model: with(b.model, taps)}
			y := mat.NewDense(b.nodes, 5, nil)
			for n := range k + 1 {
				d.Predict(y, b.samples[n].Shift, b.samples[n].Signal)
				d.Advance()
			}
			return y
		}
		got := step(t, l, 5, s, j)
		near(t, fmt.Sprint("output of step ", k), got.Data, wide(at(wide(a)).Data), 1e-5)
		if k != 6 {
			continue
		}
		want, taps := wide(a), wide(a)
		for e, v := range taps {
			const eps = 0.05
			taps[e] = v + eps
			up := j.Eval(mat.Dense{}, at(taps))
			taps[e] = v - eps
			want[e] -= gamma * (up - j.Eval(mat.Dense{}, at(taps))) / (2 * eps)
			taps[e] = v
		}
		l.Taps(a)
		near(t, "taps after a step", a, want, 1e-4)
	}
}

// Running accuracy and costs are those of the predictions.
func TestMeter(t *testing.T) {
	var m online.Meter
	if m.Accuracy() != 0 || m.MeanCost() != 0 {
		t.Errorf("an empty meter says %v and %v", m.Accuracy(), m.MeanCost())
	}
	y := mat.NewDense(3, 2, []float32{1, 0, 0, 1, 5, 6})
	j := loss.CrossEntropy{Labels: []int32{0, 0, loss.NoLabel}}
	m.Watch(y, j)
	m.Watch(y, &j)
	m.Watch(y, loss.MSE{Target: y})
	want := j.Eval(mat.Dense{}, y)
	if m.Accuracy() != 0.5 || m.Asked != 4 || m.Steps != 3 || m.Cost != 0 || math.Abs(m.MeanCost()-want*2/3) > 1e-12 {
		t.Errorf("the meter says %+v, want half of 4 right and a mean cost of %v", m, want*2/3)
	}
}
