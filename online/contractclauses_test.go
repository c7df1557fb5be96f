package online_test

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/online"
)

// Predict works before any Update and overwrites all of y.
func predictWorksFirst(t *testing.T, new func() online.Learner, s stream) {
	r := start(t, new(), s)
	for i := range r.y.Data {
		r.y.Data[i] = float32(math.NaN())
	}
	for e, v := range r.predict().Data {
		if v-v != 0 {
			t.Fatalf("value %d of the first prediction is %v", e, v)
		}
	}
	if d := r.learner.Drift(); d != (online.Drift{}) {
		t.Errorf("drift %+v before any update, want none", d)
	}
}

// Observing, predicting, taking a snapshot and asking for the drift change
// nothing.
func predictIsPure(t *testing.T, new func() online.Learner, s stream) {
	r, twin := start(t, new(), s), start(t, new(), s)
	for range 2 * len(s.Samples) {
		first := r.predict().Clone()
		r.time++ // another sample in between
		r.predict()
		r.time--
		r.learner.Snapshot()
		r.learner.Drift()
		equal(t, r.time, r.predict(), first)
		equal(t, r.time, r.answer(), first) // the step is still open
		equal(t, r.time, twin.predict(), first)
		r.update()
		twin.update()
	}
}

// Two learners that see the same compute the same.
func sameBits(t *testing.T, new func() online.Learner, s stream) {
	start(t, new(), s).follows(start(t, new(), s))
}

// Signals may be used again once Observe returns, outputs and costs once Update
// does.
func keepsNoReference(t *testing.T, new func() online.Learner, s stream) {
	r, twin := start(t, new(), s), start(t, new(), s)
	for range 2 * len(s.Samples) {
		sample := r.sample()
		sample.Signal = sample.Signal.Clone()
		y := mat.NewDense(sample.Signal.Rows, s.Outputs, nil)
		if err := r.learner.Observe(sample); err != nil {
			t.Fatal(err)
		}
		scribbled(sample.Signal)
		if err := r.learner.Predict(y); err != nil {
			t.Fatal(err)
		}
		j, scribble := s.Cost(r.time % len(s.Samples))
		if err := r.learner.Update(j); err != nil {
			t.Fatal(err)
		}
		scribble()
		scribbled(y)
		r.time++
		twin.steps(1)
	}
	r.follows(twin)
}

// scribbled overwrites all of x.
func scribbled(x mat.Dense) {
	for e := range x.Data {
		x.Data[e] = 1e9
	}
}

// Update learns from a sample, once; without one there is no prediction either.
func updateNeedsSample(t *testing.T, new func() online.Learner, s stream) {
	r := start(t, new(), s)
	refuse := func(when string) {
		t.Helper()
		before := text(t, r.learner.Snapshot())
		j, _ := s.Cost(0)
		if err := r.learner.Update(j); err == nil {
			t.Errorf("Update %s succeeded", when)
		}
		if after := text(t, r.learner.Snapshot()); after != before {
			t.Errorf("Update %s changed the learner", when)
		}
	}
	refuse("before any sample")
	if err := r.learner.Predict(r.y); err == nil {
		t.Error("Predict before any sample succeeded")
	}
	r.steps(3)
	refuse("again after an update")
	r.answer()
	refuse("after another look at a step that was learned from")
	r.predict()
	if err := r.learner.Restore(r.learner.Snapshot()); err != nil {
		t.Fatal(err)
	}
	refuse("after a snapshot was restored")
	twin := start(t, new(), s)
	twin.steps(3)
	r.follows(twin)
}

// A sample that does not fit is an error; parameters stay, and the next
// prediction is as if nothing had been.
func refusesBadSamples(t *testing.T, new func() online.Learner, s stream) {
	r, twin := start(t, new(), s), start(t, new(), s)
	r.steps(2)
	twin.steps(2)
	for name, bad := range badSamples(s.Samples[0]) {
		r.predict() // which is not what an Update after the error may learn from
		before := text(t, r.learner.Snapshot())
		if err := r.learner.Observe(bad); err == nil {
			t.Errorf("%s: no error", name)
			continue
		}
		if err := r.learner.Predict(r.y); err == nil {
			t.Errorf("%s: Predict after the error succeeded", name)
		}
		j, _ := s.Cost(0)
		if err := r.learner.Update(j); err == nil {
			t.Fatalf("%s: Update after the error succeeded", name)
		}
		if after := text(t, r.learner.Snapshot()); after != before {
			t.Errorf("%s: changed the learner", name)
		}
	}
	r.follows(twin)
}

func badSamples(good graph.Sample) map[string]graph.Sample {
	n, f := good.Signal.Rows, good.Signal.Cols
	bad := map[string]graph.Sample{}
	add := func(name string, spoil func(s *graph.Sample)) {
		s := good
		s.Signal = s.Signal.Clone()
		spoil(&s)
		bad[name] = s
	}
	add("no shift", func(s *graph.Sample) { s.Shift = nil })
	add("shift of more nodes", func(s *graph.Sample) { s.Shift = eye(n + 1) })
	add("shift of fewer nodes", func(s *graph.Sample) { s.Shift = eye(n - 1) })
	add("mixing of more nodes", func(s *graph.Sample) { s.Mixing = eye(n + 1) })
	add("signal of more nodes", func(s *graph.Sample) { s.Signal = mat.NewDense(n+1, f, nil) })
	add("signal of no nodes", func(s *graph.Sample) { s.Signal = mat.Dense{} })
	add("more features", func(s *graph.Sample) { s.Signal = mat.NewDense(n, f+1, nil) })
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		add(fmt.Sprint("signal of ", v), func(s *graph.Sample) { s.Signal.Data[n*f-1] = float32(v) })
	}
	return bad
}

// eye returns I, n×n.
func eye(n int) *mat.CSR {
	s := &mat.CSR{Rows: n, Cols: n, RowPtr: []int{0}}
	for i := range n {
		s.RowPtr, s.Col, s.Val = append(s.RowPtr, i+1), append(s.Col, int32(i)), append(s.Val, 1)
	}
	return s
}

// A cost that the learner cannot use is an error; the parameters stay, and a
// better cost may follow for the same prediction.
func refusesBadCosts(t *testing.T, new func() online.Learner, s stream) {
	r, twin := start(t, new(), s), start(t, new(), s)
	r.steps(2)
	twin.steps(2)
	r.predict()
	for k, j := range s.Refused {
		before := text(t, r.learner.Snapshot())
		if err := r.learner.Update(j); err == nil {
			t.Fatalf("cost %d, a %T: no error", k, j)
		}
		if after := text(t, r.learner.Snapshot()); after != before {
			t.Errorf("cost %d, a %T: changed the learner", k, j)
		}
	}
	r.follows(twin)
}

// A step that ends in numbers that are not finite is not taken: the parameters
// are the last good ones, and learning goes on from there.
func survivesDivergence(t *testing.T, new func() online.Learner, s stream) {
	if s.Explosive == nil {
		t.Skipf("SKIPPED %s: the stream has no explosive cost; give it one to have divergence checked", t.Name())
	}
	r := start(t, new(), s)
	r.steps(len(s.Samples))
	for range 2 {
		r.predict()
		drift, before := r.learner.Drift(), r.learner.Snapshot()
		if err := r.learner.Update(s.Explosive); !errors.Is(err, online.ErrDiverged) {
			t.Fatalf("error %v, want ErrDiverged", err)
		}
		if got := r.learner.Drift(); got != drift {
			t.Errorf("drift %+v, want that of the last good step, %+v", got, drift)
		}
		for i, m := range r.learner.Snapshot().Nodes {
			if got, want := fmt.Sprint(m), fmt.Sprint(before.Nodes[i]); got != want {
				t.Errorf("node %d knows %s, want %s", i, got, want)
			}
		}
		r.time++
		r.steps(2)
	}
	if d := r.learner.Drift(); d.Steps != len(s.Samples)+4 {
		t.Errorf("%d updates, want %d: those that diverged do not count", d.Steps, len(s.Samples)+4)
	}
}

// equal checks that two predictions have the same bits.
func equal(t *testing.T, time int, got, want mat.Dense) {
	t.Helper()
	for i := range want.Rows {
		for c, v := range want.Row(i) {
			if g := got.At(i, c); math.Float32bits(g) != math.Float32bits(v) {
				t.Fatalf("step %d: output %d of node %d is %v, want %v", time, c, i, g, v)
			}
		}
	}
}
