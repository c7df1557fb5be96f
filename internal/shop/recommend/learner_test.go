package recommend

import (
	"math"
	"testing"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/online"
)

// The learner on K+1 numbers is centralized online learning on the whole graph,
// read at the target.
//
// Reference: Section 4, eq. (7).
func TestLearnerIsCentralized(t *testing.T) {
	all, m := small()
	w, err := newWorld(all, m.Setting, 1)
	if err != nil {
		t.Fatal(err)
	}
	const target = 3
	c := Paper(0.05)
	l, err := newLearner(m, w, c, GuardConfig{}, &judges{})
	if err != nil {
		t.Fatal(err)
	}
	nodes := w.ratings.Movies()
	observer, err := online.NewObserver(m.network, online.Config{Nodes: nodes, Read: []int{target}})
	if err != nil {
		t.Fatal(err)
	}
	whole, err := online.NewCentralized(observer, c)
	if err != nil {
		t.Fatal(err)
	}
	x, y := newExtractor(w, m.network, 1<<20), mat.NewDense(nodes, 1, nil)
	users, ratings := w.ratings.Movie(target)
	for k, u := range users {
		movie, rating := w.ratings.User(int(u))
		f := x.of(&profile{movie: movie, rating: rating})
		o := observation{f.row(target), f.base[target], float32(ratings[k] - f.mean[target])}

		signal, filled := mat.NewDense(nodes, 1, nil), make([]float64, nodes)
		m.Setting.Signal.Fill(filled, movie, w.graph.reduced(nil, movie, rating), target, w.graph.unknown)
		for n, v := range filled {
			signal.Set(n, 0, float32(v))
		}
		if err := whole.Observe(graph.Sample{Time: k, Shift: w.graph.shift, Signal: signal}); err != nil {
			t.Fatal(err)
		}
		if err := whole.Predict(y); err != nil {
			t.Fatal(err)
		}
		if got, want := float64(l.output(o.z, o.base)), float64(y.At(target, 0)); math.Abs(got-want) > 1e-5 {
			t.Fatalf("step %d: output %v, on the whole graph %v", k, got, want)
		}
		truth, mask := mat.NewDense(nodes, 1, nil), make([]bool, nodes)
		truth.Set(target, 0, o.target)
		mask[target] = true
		if err := whole.Update(loss.MSE{Target: truth, Mask: mask}); err != nil {
			t.Fatal(err)
		}
		if !l.step(o) {
			t.Fatal("diverged")
		}
	}
	moved := whole.Drift().Moved
	if got := l.basis.Distance(l.node.Params(), whole.Params()); got > 1e-5*moved || moved == 0 {
		t.Errorf("parameters differ by %v after moving %v", got, moved)
	}
}

// What a version says of a prediction is the model with the taps moved.
func TestParametersAreTaps(t *testing.T) {
	all, m := small()
	w, err := newWorld(all, m.Setting, 1)
	if err != nil {
		t.Fatal(err)
	}
	l, err := newLearner(m, w, Paper(0.1), GuardConfig{}, &judges{})
	if err != nil {
		t.Fatal(err)
	}
	movie, rating := w.ratings.User(0)
	f := newExtractor(w, m.network, 1<<20).of(&profile{movie: movie, rating: rating})
	for n := range int32(10) {
		l.step(observation{f.row(n), f.base[n], 1})
	}
	moved, err := gnn.New(m.network.Config)
	if err != nil {
		t.Fatal(err)
	}
	copy(moved.Params.Flat, m.network.Params.Flat)
	l.basis.Taps(moved.Params.Flat[:l.basis.TapsLen()], m.network.Params.Flat[:l.basis.TapsLen()], l.node.Params())
	y := mat.NewDense(1, 1, nil)
	for n := range int32(10) {
		moved.Forward(y, &gnn.Input{Shifted: mat.NewDense(1, len(f.row(n)), f.row(n))}, &gnn.Tape{})
		if got, want := float64(l.output(f.row(n), f.base[n])), float64(y.At(0, 0)); math.Abs(got-want) > 1e-5 {
			t.Errorf("movie %d: output %v, with moved taps %v", n, got, want)
		}
	}
}
