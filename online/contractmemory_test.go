package online_test

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/wdgnn/wdgnn/online"
)

// A snapshot, written to JSON and read again, restores to the same bits: in a
// learner at its beginning, in one that has gone elsewhere, and without any
// hold on the learner it was taken from.
func resumes(t *testing.T, new func() online.Learner, s stream) {
	for _, steps := range []int{0, 1, len(s.Samples) + 1} {
		r := start(t, new(), s)
		r.steps(steps)
		snapshot := r.learner.Snapshot()
		before := text(t, snapshot)
		r.steps(2)
		if got := text(t, snapshot); got != before {
			t.Fatalf("after %d steps: the snapshot changed while its learner went on", steps)
		}
		restored := start(t, new(), s)
		restored.time = steps
		if err := restored.learner.Restore(parsed(t, before)); err != nil {
			t.Fatalf("after %d steps: %v", steps, err)
		}
		if got := text(t, restored.learner.Snapshot()); got != before {
			t.Fatalf("after %d steps: restored %s, want %s", steps, got, before)
		}
		elsewhere := start(t, new(), s)
		elsewhere.time = 2
		elsewhere.steps(steps + 3)
		if err := elsewhere.learner.Restore(snapshot); err != nil {
			t.Fatalf("after %d steps: %v", steps, err)
		}
		elsewhere.time = steps
		twin := start(t, new(), s)
		twin.steps(steps)
		restored.follows(twin)
		twin = start(t, new(), s)
		twin.steps(steps)
		scribble(snapshot)
		elsewhere.follows(twin)
	}
}

// A snapshot that does not fit is an error and changes nothing, not even
// whether an update may follow.
func refusesSnapshots(t *testing.T, new func() online.Learner, s stream) {
	r, twin := start(t, new(), s), start(t, new(), s)
	r.steps(3)
	twin.steps(3)
	good := text(t, r.learner.Snapshot())
	r.predict()
	for name, bad := range strangers(t, good) {
		if err := r.learner.Restore(bad); err == nil {
			t.Fatalf("%s: no error", name)
		}
		if got := text(t, r.learner.Snapshot()); got != good {
			t.Fatalf("%s: changed the learner", name)
		}
	}
	r.update()
	twin.steps(1)
	r.follows(twin)
}

// strangers returns snapshots that are none of the learner that good is of.
func strangers(t *testing.T, good string) map[string]online.Snapshot {
	nan := float32(math.NaN())
	bad := map[string]online.Snapshot{}
	add := func(name string, spoil func(s *online.Snapshot)) {
		s := parsed(t, good)
		spoil(&s)
		bad[name] = s
	}
	add("two nodes more", func(s *online.Snapshot) { s.Nodes = append(s.Nodes, nil, nil) })
	add("a delay line of one number", func(s *online.Snapshot) { s.Delay = append(s.Delay, []float32{1}) })
	if len(parsed(t, good).Nodes) > 0 {
		add("one node less", func(s *online.Snapshot) { s.Nodes = s.Nodes[:len(s.Nodes)-1] })
		of := func(spoil func(state []float64) []float64) func(s *online.Snapshot) {
			return func(s *online.Snapshot) { s.Nodes[len(s.Nodes)-1] = spoil(s.Nodes[len(s.Nodes)-1]) }
		}
		add("a state of another form", of(func(s []float64) []float64 { s[0]++; return s }))
		add("a state that is too long", of(func(s []float64) []float64 { return append(s, 1) }))
		add("a state that is too short", of(func(s []float64) []float64 { return s[:len(s)-1] }))
		add("a state with a part that is too long", of(func(s []float64) []float64 { s[1]++; return append(s, 1) }))
		add("a number that is none", of(func(s []float64) []float64 { s[len(s)-1] = math.NaN(); return s }))
	}
	if d := parsed(t, good).Delay; len(d) > 0 && len(d[0]) > 0 {
		add("a delayed signal that is no number", func(s *online.Snapshot) { s.Delay[0][0] = nan })
	}
	return bad
}

// A learner that has seen much remembers no more than one that has seen enough.
func memoryIsBounded(t *testing.T, new func() online.Learner, s stream) {
	r := start(t, new(), s)
	r.steps(enough)
	want := size(r.learner.Snapshot())
	r.steps(2 * len(s.Samples))
	if got := size(r.learner.Snapshot()); got != want {
		t.Errorf("a snapshot of %d numbers after %d steps, of %d after %d", got, r.time, want, enough)
	}
}

// enough is a number of steps after which a learner has made all its memory.
const enough = 120

// Observe, Predict and Update allocate nothing once a learner is warm. The race detector
// allocates itself, so nothing is counted under it.
func allocatesNothing(t *testing.T, new func() online.Learner, s stream) {
	if !countAllocations {
		t.Skipf("SKIPPED %s: allocations mean nothing under the race detector; it runs without -race", t.Name())
	}
	r := start(t, new(), s)
	r.steps(enough)
	j, _ := s.Cost(0)
	r.time = 0
	sample := r.sample()
	if n := testing.AllocsPerRun(10, func() {
		if r.learner.Observe(sample) != nil || r.learner.Predict(r.y) != nil || r.learner.Update(j) != nil {
			t.Fatal("a step failed")
		}
	}); n > 0 {
		t.Errorf("%v allocations in a step, want none", n)
	}
}

// text returns a snapshot as JSON, which writes every float32 with the digits
// that tell it from all others.
func text(t *testing.T, s online.Snapshot) string {
	t.Helper()
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatalf("a snapshot that JSON cannot hold: %v", err)
	}
	return string(b)
}

func parsed(t *testing.T, text string) online.Snapshot {
	t.Helper()
	var s online.Snapshot
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		t.Fatal(err)
	}
	return s
}

func size(s online.Snapshot) (numbers int) {
	for _, line := range s.Delay {
		numbers += len(line)
	}
	for _, n := range s.Nodes {
		numbers += len(n)
	}
	return numbers
}

func scribble(s online.Snapshot) {
	for _, line := range s.Delay {
		for e := range line {
			line[e] = 1e9
		}
	}
	for _, n := range s.Nodes {
		for e := range n {
			n[e] = 1e9
		}
	}
}
