package gnn_test

import (
	"fmt"
	"testing"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/optim"
	"github.com/wdgnn/wdgnn/random"
)

// The models of the paper's three experiments.
var (
	sourceLocalization = gnn.Config{In: 1, Features: 32, Outputs: 5, Wide: &gnn.WideConfig{Order: 5}, Deep: []gnn.LayerConfig{
		{Order: 5, Features: 32}, {Order: 5, Features: 32},
	}}
	movies   = gnn.Config{In: 1, Features: 64, Outputs: 1, Wide: &gnn.WideConfig{Order: 5}, Deep: []gnn.LayerConfig{{Order: 5, Features: 64}}}
	flocking = gnn.Config{In: 6, Features: 32, Outputs: 2, Wide: &gnn.WideConfig{Order: 3}, Deep: []gnn.LayerConfig{{Order: 3, Features: 32, Activation: gnn.Tanh}}}
)

// step is one training step: forward, loss, backward, Adam.
type step struct {
	m     *gnn.WideDeep
	in    *gnn.Input
	j     loss.Loss
	grad  gnn.Params
	tape  gnn.Tape
	y, dy mat.Dense
	opt   optim.Optimizer
}

func newStep(b *testing.B, c gnn.Config, in *gnn.Input, rows int, j loss.Loss, e *mat.Engine) *step {
	m := newModel(b, c, 1)
	opt, err := optim.NewAdam(len(m.Params.Flat), optim.AdamConfig{StepSize: 1e-9})
	if err != nil {
		b.Fatal(err)
	}
	return &step{
		m: m, in: in, j: j, grad: gnn.NewParams(c, nil), tape: gnn.Tape{Engine: e}, opt: opt,
		y: mat.NewDense(rows, m.Outputs(), nil), dy: mat.NewDense(rows, m.Outputs(), nil),
	}
}

func (s *step) run() {
	clear(s.grad.Flat)
	s.m.Forward(s.y, s.in, &s.tape)
	s.j.Eval(s.dy, s.y)
	s.m.Backward(&s.grad, mat.Dense{}, s.dy, s.in, &s.tape)
	s.opt.Step(s.m.Params.Flat, s.grad.Flat)
}

func eachThreads(b *testing.B, f func(b *testing.B, e *mat.Engine)) {
	for _, threads := range []int{1, 2} {
		b.Run(fmt.Sprintf("threads=%d", threads), func(b *testing.B) {
			e := mat.NewEngine(threads)
			defer e.Close()
			b.ReportAllocs()
			f(b, e)
		})
	}
}

func sbmWorld(b *testing.B, samples int) world {
	s, err := graph.ShiftSpectral.Of(sbm(b))
	if err != nil {
		b.Fatal(err)
	}
	return world{s: s, x: normal(random.Stream(1, "signals"), 50*samples, 1), b: samples}
}

// BenchmarkSourceLocalization is a training step on 50 signals of 50 nodes;
// the loss reads five detectors. "all" computes every node, shifts included;
// "pruned" the detectors, from inputs that were shifted before.
func BenchmarkSourceLocalization(b *testing.B) {
	detectors := []int{1, 11, 21, 31, 41}
	w := sbmWorld(b, 50)
	m := newModel(b, sourceLocalization, 1)
	labels := make([]int32, 2500)
	for i := range labels {
		labels[i] = loss.NoLabel
	}
	for _, d := range detectors {
		for s := range 50 {
			labels[d*50+s] = int32(s % 5)
		}
	}
	b.Run("all", func(b *testing.B) {
		eachThreads(b, func(b *testing.B, e *mat.Engine) {
			in := w.input(b, m)
			st := newStep(b, sourceLocalization, in, 2500, loss.CrossEntropy{Labels: labels}, e)
			sh := gnn.Shifter{Engine: e}
			for b.Loop() {
				sh.Shift(in.Shifted, w.s, w.x)
				st.run()
			}
		})
	})
	b.Run("pruned", func(b *testing.B) {
		eachThreads(b, func(b *testing.B, e *mat.Engine) {
			some := make([]int32, 250)
			for i := range some {
				some[i] = int32(i % 5)
			}
			st := newStep(b, sourceLocalization, w.input(b, m, detectors...), 250, loss.CrossEntropy{Labels: some}, e)
			for b.Loop() {
				st.run()
			}
		})
	})
}

// BenchmarkMovies is a training step on five users and 400 movies, one of
// which is read: "pruned" works on K+1 numbers per user.
func BenchmarkMovies(b *testing.B) {
	rng := random.Stream(1, "movies")
	var entries []mat.Entry
	for i := range 400 {
		for _, j := range rng.Perm(400)[:10] {
			entries = append(entries, mat.Entry{Row: i, Col: j, Val: float32(rng.Float64() / 10)})
		}
	}
	s, err := mat.FromEntries(400, 400, entries)
	if err != nil {
		b.Fatal(err)
	}
	w := world{s: s, x: normal(rng, 2000, 1), b: 5}
	m := newModel(b, movies, 1)
	b.Run("all", func(b *testing.B) {
		mask := make([]bool, 2000)
		for u := range 5 {
			mask[7*5+u] = true
		}
		in := w.input(b, m)
		st := newStep(b, movies, in, 2000, loss.MSE{Target: mat.NewDense(2000, 1, nil), Mask: mask}, nil)
		var sh gnn.Shifter
		b.ReportAllocs()
		for b.Loop() {
			sh.Shift(in.Shifted, w.s, w.x)
			st.run()
		}
	})
	b.Run("pruned", func(b *testing.B) {
		st := newStep(b, movies, w.input(b, m, 7), 5, loss.MSE{Target: mat.NewDense(5, 1, nil)}, nil)
		b.ReportAllocs()
		for b.Loop() {
			st.run()
		}
	})
}

// BenchmarkFlocking is a training step on 20 trajectories of 200 steps of 50
// robots, shifts computed in the step, a trajectory per pass.
func BenchmarkFlocking(b *testing.B) {
	const trajectories, steps, n = 20, 200, 50
	rng := random.Stream(1, "flocking")
	var worlds []world
	for range trajectories {
		var shifts []*mat.CSR
		for range steps {
			g, err := graph.ErdosRenyi(n, 0.12, rng)
			if err != nil {
				b.Fatal(err)
			}
			s, err := graph.ShiftAdjacency.Of(g)
			if err != nil {
				b.Fatal(err)
			}
			shifts = append(shifts, s)
		}
		worlds = append(worlds, world{s: graph.SpaceTime(shifts), x: normal(rng, steps*n, 6), b: 1})
	}
	eachThreads(b, func(b *testing.B, e *mat.Engine) {
		in := worlds[0].input(b, newModel(b, flocking, 1))
		st := newStep(b, flocking, in, steps*n, loss.MSE{Target: normal(rng, steps*n, 2)}, e)
		sh := gnn.Shifter{Engine: e}
		for b.Loop() {
			clear(st.grad.Flat)
			for _, w := range worlds {
				sh.Shift(in.Shifted, w.s, w.x)
				in.Shift = w.s
				st.m.Forward(st.y, in, &st.tape)
				st.j.Eval(st.dy, st.y)
				st.m.Backward(&st.grad, mat.Dense{}, st.dy, in, &st.tape)
			}
			st.opt.Step(st.m.Params.Flat, st.grad.Flat)
		}
	})
}

// BenchmarkInferOne is the output of every node for one signal.
func BenchmarkInferOne(b *testing.B) {
	w := sbmWorld(b, 1)
	m := newModel(b, sourceLocalization, 1)
	in := w.input(b, m)
	y := mat.NewDense(50, 5, nil)
	var (
		tape gnn.Tape
		sh   gnn.Shifter
	)
	b.ReportAllocs()
	for b.Loop() {
		sh.Shift(in.Shifted, w.s, w.x)
		m.Forward(y, in, &tape)
	}
}

// BenchmarkLargeFilter is a filter of order 3 and 32 features on a graph of a
// million nodes and ten million edges: ten neighbours a row, one from each of
// ten equal bands.
func BenchmarkLargeFilter(b *testing.B) {
	const n, degree, features, order = 1_000_000, 10, 32, 3
	rng := random.Stream(1, "large")
	rowPtr, col, val := make([]int, n+1), make([]int32, n*degree), make([]float32, n*degree)
	for i := range n {
		rowPtr[i+1] = (i + 1) * degree
		for k := range degree {
			col[i*degree+k] = int32(k*(n/degree) + rng.IntN(n/degree))
			val[i*degree+k] = float32(rng.Float64() / degree)
		}
	}
	s, err := mat.NewCSR(n, n, rowPtr, col, val)
	if err != nil {
		b.Fatal(err)
	}
	x, y := normal(rng, n, features), mat.NewDense(n, features, nil)
	f := gnn.NewFilter(features, features, order, false)
	for _, tap := range f.Taps {
		tap.CopyFrom(normal(rng, features, features))
	}
	eachThreads(b, func(b *testing.B, e *mat.Engine) {
		tape := gnn.FilterTape{Engine: e}
		f.Apply(y, s, x, &tape)
		for b.Loop() {
			f.Apply(y, s, x, &tape)
		}
	})
}
