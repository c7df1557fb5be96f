package recommend

import (
	"math"
	"slices"
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
	c := Literal(0.05)
	l, err := newLearner(m, w, c, GuardConfig{})
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
	if got := l.basis.Distance(l.solo.Params(), whole.Params()); got > 1e-5*moved || moved == 0 {
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
	l, err := newLearner(m, w, Literal(0.1), GuardConfig{})
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
	l.basis.Taps(moved.Params.Flat[:l.basis.TapsLen()], m.network.Params.Flat[:l.basis.TapsLen()], l.solo.Params())
	y := mat.NewDense(1, 1, nil)
	for n := range int32(10) {
		moved.Forward(y, &gnn.Input{Shifted: mat.NewDense(1, len(f.row(n)), f.row(n))}, &gnn.Tape{})
		if got, want := float64(l.output(f.row(n), f.base[n])), float64(y.At(0, 0)); math.Abs(got-want) > 1e-5 {
			t.Errorf("movie %d: output %v, with moved taps %v", n, got, want)
		}
	}
}

// The guard falls back when the learner is worse on the panel, and recovers
// when it is not, once it has learned from enough ratings.
func TestGuardTurns(t *testing.T) {
	c := GuardConfig{Window: 4, Margin: 0.1}
	g := guard{}
	chance := 0.0
	put := func(online, frozen float64) (fall, recover bool) {
		g.watch(1, heard{}, c.Window)
		return g.turn(c, verdict{online: online, frozen: frozen, excess: online*online - 1.1*1.1*frozen*frozen, chance: chance})
	}
	if fall, _ := put(1.05, 1); fall {
		t.Fatal("fell back within the margin")
	}
	if fall, _ := put(1.2, 1); !fall {
		t.Fatal("did not fall back")
	}
	chance = 0.2
	if fall, _ := put(1.2, 1); fall {
		t.Fatal("fell back because of what may be chance")
	}
	if fall, _ := put(math.NaN(), 1); !fall {
		t.Fatal("did not fall back from an error that is no number")
	}
	g.fall()
	for range 3 {
		if _, recover := put(1, 1); recover {
			t.Fatal("recovered before as many ratings as the window has")
		}
	}
	if _, recover := put(1.01, 1); recover {
		t.Fatal("recovered while worse")
	}
	if _, recover := put(1, 1); !recover || !g.Fallen || g.Falls != 1 {
		t.Fatalf("%+v did not recover", g)
	}
}

// A user has one seat, however much they rate; who rated longest ago leaves.
func TestPanelSeatsUsersOnce(t *testing.T) {
	g := guard{}
	g.fill([]*seat{{User: 1}, {User: 2}, {User: 3}, {User: 4}}, 3)
	users := func() (list []int) {
		for _, s := range g.Panel {
			list = append(list, s.User)
		}
		return list
	}
	for _, c := range []struct {
		user int
		want []int
	}{
		{9, []int{2, 3, 9}},
		{9, []int{2, 3, 9}},
		{2, []int{3, 9, 2}},
		{8, []int{9, 2, 8}},
		{9, []int{2, 8, 9}},
	} {
		g.watch(c.user, heard{Rating: 5}, 3)
		if got := users(); !slices.Equal(got, c.want) {
			t.Fatalf("after a rating of user %d the panel is %v, want %v", c.user, got, c.want)
		}
	}
}
