package perf

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/internal/alloctest"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/rule"
	"github.com/wdgnn/wdgnn/train"
)

func TestTasks(t *testing.T) {
	seen := map[string]bool{}
	for _, task := range Tasks() {
		if seen[task.Name] {
			t.Errorf("two tasks are called %s", task.Name)
		}
		seen[task.Name] = true
		if task.Doc == "" || task.Wanted < 0 || task.Skips == "" || task.Peer == "" && task.Wanted > 0 {
			t.Errorf("%s: want a description, what each side skips, and a ratio only where there is a peer", task.Name)
		}
		if found, ok := Find(task.Name); !ok || found.Name != task.Name {
			t.Errorf("Find(%q) gives %q", task.Name, found.Name)
		}
	}
	if _, ok := Find("gemm"); ok {
		t.Error("Find knows a task that is not there")
	}
}

// large says whether a task takes hundreds of megabytes.
func large(t Task) bool {
	return t.WantedBytes > 0 || strings.HasPrefix(t.Name, "spmm_") || strings.HasPrefix(t.Name, "stream_")
}

// Every task but large ones runs and allocates nothing
// once it is warm, unless it says why.
func TestRun(t *testing.T) {
	if testing.Short() {
		t.Skipf("SKIPPED %s: it runs every task; it runs without -short", t.Name())
	}
	for _, task := range Tasks() {
		if large(task) {
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
			if n := alloctest.Steady(1, run); n > 0 && task.allocates == "" {
				t.Errorf("%v allocations in a run, want none", n)
			}
		})
	}
}

// A step leaves the same bits in the model on any number of threads.
func TestThreadsChangeNothing(t *testing.T) {
	counts := []int{1, 2, 3, 8}
	if testing.Short() {
		counts = []int{1, 3}
	}
	for _, task := range []Task{sourcelocTrain, movieTrain, flockingTrain} {
		var want []float32
		for _, threads := range counts {
			e := mat.NewEngine(threads)
			defer e.Close()
			var m *gnn.WideDeep
			run, _, err := task.New(Env{Engine: e, Seed: 5, trained: func(model *gnn.WideDeep) { m = model }})
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				run()
			}
			if want == nil {
				want = slices.Clone(m.Params.Flat)
			}
			if !slices.Equal(m.Params.Flat, want) {
				t.Errorf("%s on %d threads: got other parameters after two steps than on one, want the same bits", task.Name, threads)
			}
			if n := alloctest.Steady(threads, run); n > 0 {
				t.Errorf("%s on %d threads: got %v allocations in a run, want none", task.Name, threads, n)
			}
		}
	}
}

// The passes of a step run side by side: the first two wait for each other.
func TestStepsUseTheThreadsGiven(t *testing.T) {
	for _, task := range []Task{sourcelocTrain, movieTrain, flockingTrain} {
		e := mat.NewEngine(2)
		var begun atomic.Int32
		met := make(chan struct{})
		wait := func(b *batch) {
			input := b.input
			b.input = func(p *train.Pass, k int) {
				if begun.Add(1) == 2 {
					close(met)
				}
				select {
				case <-met:
				case <-time.After(20 * time.Second):
					t.Errorf("%s: pass %d was alone for 20 s, want two at a time", task.Name, k)
				}
				input(p, k)
			}
		}
		run, _, err := task.New(Env{Engine: e, Seed: 8, batch: wait})
		if err != nil {
			t.Fatal(err)
		}
		run()
		e.Close()
	}
}

// The shifts that a pass computes for its block are those of the trajectory.
func TestFlightsShiftAsAWhole(t *testing.T) {
	env := Env{Seed: 6}
	s, err := flockingShift(env, 1)
	if err != nil {
		t.Fatal(err)
	}
	x := normal(env.stream("signals"), s.Rows, flockingModel.In)
	want := mat.NewDense(x.Rows, shiftedWidth(flockingModel), nil)
	new(gnn.Shifter).Shift(want, s, x)
	all, rows := flights{shifts: []*mat.CSR{s}, signals: []mat.Dense{x}}, flockingBlock*flockingNodes
	var p train.Pass
	for k := flockingSteps/flockingBlock - 1; k >= 0; k-- {
		all.input(&p, k)
		for i := range rows {
			if got := p.Input.Shifted.Row(i); !slices.Equal(got, want.Row(k*rows+i)) {
				t.Fatalf("block %d, row %d: got %v, want %v", k, i, got, want.Row(k*rows+i))
			}
		}
	}
}

// The shares of the passes of a batch sum to 1, and a pass has a row of output
// for every row of its input.
func TestPasses(t *testing.T) {
	var seen []*batch
	env := Env{Seed: 7, batch: func(b *batch) { seen = append(seen, b) }}
	for _, task := range []Task{sourcelocTrain, sourcelocTrainMany, movieTrain, flockingTrain} {
		if _, _, err := task.New(env); err != nil {
			t.Fatal(err)
		}
		b, sum := seen[len(seen)-1], 0.0
		for k := range b.passes {
			var p train.Pass
			if err := b.Fill(&p, []int{0}, k, len(b.passes), train.Draw{}); err != nil {
				t.Fatal(err)
			}
			sum += p.Share
			if len(p.Rows) != p.Input.Shifted.Rows {
				t.Errorf("%s, pass %d: got %d rows of outputs, want %d", task.Name, k, len(p.Rows), p.Input.Shifted.Rows)
			}
		}
		if math.Abs(sum-1) > 1e-9 {
			t.Errorf("%s: got shares that sum to %v, want 1", task.Name, sum)
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
	labels := sourcelocLabels(env, sourcelocSamples)
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
