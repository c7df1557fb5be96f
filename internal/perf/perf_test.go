package perf

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/rule"
)

func TestTasks(t *testing.T) {
	seen := map[string]bool{}
	for _, task := range Tasks() {
		if seen[task.Name] {
			t.Errorf("two tasks are called %s", task.Name)
		}
		seen[task.Name] = true
		if task.Doc == "" || task.Wanted <= 0 || task.Missing == "" && (task.Skips == "" || task.Peer == "") {
			t.Errorf("%s: want a description, what each side skips, and a ratio", task.Name)
		}
		if found, ok := Find(task.Name); !ok || found.Name != task.Name {
			t.Errorf("Find(%q) gives %q", task.Name, found.Name)
		}
	}
	if _, ok := Find("gemm"); ok {
		t.Error("Find knows a task that is not there")
	}
}

// Every task but the large one, which takes 600 MB, runs and allocates nothing
// once it is warm, unless it says why.
func TestRun(t *testing.T) {
	for _, task := range Tasks() {
		if task.WantedBytes > 0 {
			continue
		}
		t.Run(task.Name, func(t *testing.T) {
			run, _, err := task.New(Env{Seed: 1})
			if task.Missing != "" {
				if err == nil || err.Error() != task.Missing {
					t.Fatalf("error %v, want %q", err, task.Missing)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			run()
			if n := testing.AllocsPerRun(2, run); n > 0 && task.allocates == "" {
				t.Errorf("%v allocations in a run, want none", n)
			}
		})
	}
}

// A step in blocks has the gradient of a step in one pass.
func TestBlocks(t *testing.T) {
	const rows = 120
	env := Env{Seed: 2}
	rng := env.stream("test")
	grad := func(size int, z, target mat.Dense, mask []bool) []float32 {
		l, err := newLearner(env, movieModel, 5e-3)
		if err != nil {
			t.Fatal(err)
		}
		list := blocks(z, size, func(lo, hi int) (loss.Loss, int) {
			n := 0
			for _, m := range mask[lo:hi] {
				if m {
					n++
				}
			}
			return loss.MSE{Target: target.View(lo, 0, hi-lo, 1), Mask: mask[lo:hi]}, n
		})
		l.begin()
		l.passes(list, 1)
		return l.grad.Flat
	}
	z, target, mask := uniform(rng, rows, 6), uniform(rng, rows, 1), make([]bool, rows)
	for i := range mask {
		mask[i] = i < 70 && i%3 == 0
	}
	want := grad(rows, z, target, mask)
	for _, size := range []int{1, 7, 50, rows + 1} {
		for i, g := range grad(size, z, target, mask) {
			if math.Abs(float64(g-want[i])) > 1e-5 {
				t.Fatalf("blocks of %d rows: gradient %d is %v, want %v", size, i, g, want[i])
			}
		}
	}
}

// Where only detectors are read, the loss and its gradient are those of a pass
// that computes all nodes and judges the detectors.
func TestPrunedIsTheSameTask(t *testing.T) {
	env := Env{Seed: 3}
	s, err := sourcelocShift(env)
	if err != nil {
		t.Fatal(err)
	}
	labels := sourcelocLabels(env)
	x := uniform(env.stream("signals"), sourcelocNodes*sourcelocSamples, 1)
	grads := make([][]float32, 2)
	for k := range grads {
		l, err := newLearner(env, sourcelocModel, 5e-3)
		if err != nil {
			t.Fatal(err)
		}
		in := gnn.Input{Shift: s, ShiftT: s.T(), Shifted: l.shifted(x.Rows)}
		l.shifter.Shift(in.Shifted, s, x)
		rows, j := x.Rows, atDetectors(labels)
		if k == 1 {
			if in.Read, err = gnn.NewRows(s, detectors, l.model.LastOrder()); err != nil {
				t.Fatal(err)
			}
			rows, j = len(detectors)*sourcelocSamples, everyDetector(labels)
			in.ReadShifted = l.shifted(rows)
			in.Read.Gather(in.ReadShifted, in.Shifted, sourcelocSamples)
		}
		l.begin()
		l.pass(&in, rows, j, 1)
		grads[k] = l.grad.Flat
	}
	for i, g := range grads[1] {
		if want := grads[0][i]; math.Abs(float64(g-want)) > 1e-5 {
			t.Fatalf("gradient %d is %v, want %v", i, g, want)
		}
	}
}

// A distributed step moves every detector's own taps by its own gradient, and
// a centralized step all by the mean: the moves of the detectors sum to five
// times that of the network, which is the gradient of a whole pass.
func TestOnlineStepsAreGradientSteps(t *testing.T) {
	env := Env{Seed: 4}
	var central *online.Centralized
	run, _, err := onlineStep(env, func(o *online.Observer, r rule.Config) (_ online.Learner, err error) {
		central, err = online.NewCentralized(o, r)
		return central, err
	})
	if err != nil {
		t.Fatal(err)
	}
	run()
	var shared *online.Consensus
	run, _, err = onlineStep(env, func(o *online.Observer, r rule.Config) (_ online.Learner, err error) {
		shared, err = online.NewConsensus(o, r)
		return shared, err
	})
	if err != nil {
		t.Fatal(err)
	}
	run()

	l, err := newLearner(env, sourcelocModel, 5e-3)
	if err != nil {
		t.Fatal(err)
	}
	s, err := sourcelocShift(env)
	if err != nil {
		t.Fatal(err)
	}
	in := gnn.Input{Shift: s, ShiftT: s.T(), Shifted: l.shifted(sourcelocNodes)}
	l.shifter.Shift(in.Shifted, s, uniform(env.stream("signals"), sourcelocNodes, 1))
	l.begin()
	l.pass(&in, sourcelocNodes, atDetectors([]int32{onlineCommunity}), 1)

	n := central.Basis().TapsLen()
	got, sum, own := make([]float32, n), make([]float64, n), make([]float32, n)
	central.Taps(got)
	for _, d := range detectors {
		shared.Taps(own, d)
		for e, a := range own {
			sum[e] += float64(a) - float64(l.model.Params.Flat[e])
		}
	}
	for e, g := range l.grad.Flat[:n] {
		want := -onlineStepSize * float64(g)
		move := float64(got[e]) - float64(l.model.Params.Flat[e])
		if math.Abs(move-want) > 1e-7 || math.Abs(sum[e]-5*want) > 5e-7 {
			t.Fatalf("tap %d moved by %v, and by %v at all detectors; want %v and five times that", e, move, sum[e], want)
		}
	}
}

func TestMeasure(t *testing.T) {
	clock, took := 0.0, []float64{9, 4, 2, 3, 4}
	runs := 0
	run := func() { clock += took[min(runs, len(took)-1)]; runs++ }
	got, err := Measure(context.Background(), run, 5, func() float64 { return clock })
	if want := (Timing{Best: 2, Mean: 3, Runs: 3}); err != nil || got != want {
		t.Errorf("got %+v and %v, want %+v: two runs to warm up, then three", got, err, want)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Measure(ctx, run, 5, func() float64 { return clock }); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that of the context", err)
	}
}
