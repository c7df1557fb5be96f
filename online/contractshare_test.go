package online_test

import (
	"testing"

	"github.com/wdgnn/wdgnn/online"
)

// Learners on one observer do not disturb each other: whatever one of them is
// told, and whoever learns first, each has the bits that it has alone. One that
// learns now and then leaves the other as it is; the delay lines of both go on
// with every step that one of them learned from.
func sharesObserver(t *testing.T, new func() online.Learner, s stream) {
	if s.Pair == nil {
		t.Skipf("SKIPPED %s: the stream has no pair of learners; give it one to have sharing checked", t.Name())
	}
	first, second := s.Pair()
	a, b := start(t, first, s), start(t, second, s)
	aloneA, aloneB := start(t, new(), s), start(t, new(), s)
	for k := range 2 * len(s.Samples) {
		a.observe() // for both
		equal(t, b.time, b.answer(), aloneB.predict())
		if k%2 == 0 {
			b.update()
		}
		equal(t, a.time, a.answer(), aloneA.predict())
		a.learn(a.time + 1) // costs of another step
		aloneA.learn(aloneA.time + 1)
		if k%2 == 1 {
			b.update()
		}
		aloneB.update()
		agree(t, "the first of two", a, aloneA)
		agree(t, "the second of two", b, aloneB)
	}
	for k := range 2 * len(s.Samples) {
		if k%3 == 0 {
			if err := a.learner.Restore(a.learner.Snapshot()); err != nil {
				t.Fatal(err)
			}
		}
		b.observe()
		a.time = b.time
		equal(t, b.time, b.answer(), aloneB.predict())
		if k%3 == 1 {
			a.update()
		}
		b.update()
		aloneB.update()
		agree(t, "beside one that seldom learns", b, aloneB)
	}
}

// agree checks that two learners remember the same.
func agree(t *testing.T, who string, got, want *run) {
	t.Helper()
	if g, w := text(t, got.learner.Snapshot()), text(t, want.learner.Snapshot()); g != w {
		t.Fatalf("step %d: %s remembers %s, alone %s", got.time-1, who, g, w)
	}
}
