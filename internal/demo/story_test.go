package demo

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/internal/live"
)

// A demo keeps what happened for those who come later: a pulse that spread hop by
// hop and was told right with all links, mistakes after links were lost, and a
// node whose taps moved until it answered right where the frozen model does not.
func TestStory(t *testing.T) {
	if testing.Short() {
		t.Skipf("SKIPPED %s: it trains a model; it runs without -short", t.Name())
	}
	l, err := Demo{Seed: 12, Signals: 2000, Epochs: 10}.Live()
	if err != nil {
		t.Fatal(err)
	}
	if err := l.train(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	for l.time < intactSignals+mostUpdates {
		if l.time == intactSignals {
			l.drop(firstLoss)
		}
		if err := l.step(); err != nil {
			t.Fatal(err)
		}
	}
	s := told(t, l.Hub())
	if s == nil || s.Before == nil || s.After == nil || s.Opened == nil {
		t.Fatalf("the story is %+v, want all of it", s)
	}
	before := s.Before.Trial
	if wrong(before, 0)+wrong(before, l.shown) > 0 || len(s.Before.Out) > 0 || len(before.Hops) != slowPulse+1 {
		t.Errorf("before: %d and %d wrong answers, %d links lost, %d hops; want 0, 0, 0 and %d",
			wrong(before, 0), wrong(before, l.shown), len(s.Before.Out), len(before.Hops)-1, slowPulse)
	}
	for i, v := range before.Hops[0] {
		if want := i == int(before.Source); (v == 1) != want || !want && v != 0 {
			t.Errorf("at the beginning node %d has %v, the source is %d", i, v, before.Source)
		}
	}
	if bad := wrong(s.After.Trial, 0); bad == 0 || len(s.After.Out) == 0 {
		t.Errorf("after: %d wrong answers with %d links lost, want some", bad, len(s.After.Out))
	}
	updates, node := s.Opened.Updates, s.Opened.Node
	first, last := updates[0], updates[len(updates)-1]
	hit := func(u live.Update, learner int) bool { return u.Trial.Answers[learner][node] == u.Trial.Truth }
	if hit(first, 0) || hit(first, l.shown) || hit(last, 0) || !hit(last, l.shown) {
		t.Errorf("node %d: right answers of frozen and learning at first %v %v, at last %v %v; want all wrong but the last",
			node, hit(first, 0), hit(first, l.shown), hit(last, 0), hit(last, l.shown))
	}
	if slices.Equal(first.Taps, last.Taps) || len(first.Taps) != 30 {
		t.Errorf("%d taps, which are as they were %v; want 30 that moved", len(first.Taps), slices.Equal(first.Taps, last.Taps))
	}
	if last.Error[1] >= last.Error[0] {
		t.Errorf("the error of the node that learned is %v, of the frozen one %v, want less", last.Error[1], last.Error[0])
	}
}

// told returns the story that a newcomer is told, nil if none.
func told(t *testing.T, hub *live.Hub) *live.Story {
	t.Helper()
	sub, err := hub.Subscribe(1)
	if err != nil {
		t.Fatal(err)
	}
	defer sub.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		m, err := sub.Next(ctx)
		if err != nil {
			t.Fatalf("no story: %v", err)
		}
		if m.Kind == "story" {
			s := new(live.Story)
			if err := json.Unmarshal(m.Text, s); err != nil {
				t.Fatal(err)
			}
			return s
		}
	}
}
