package mqtt

import (
	"slices"
	"testing"
	"time"
)

// Readings go to the step that is nearest; of several of a sensor the nearest counts.
func TestGrid(t *testing.T) {
	origin := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	at := func(seconds float64) time.Time { return origin.Add(time.Duration(seconds * float64(time.Second))) }
	g := &Grid{Origin: origin, Interval: 10 * time.Second, Hold: 25 * time.Second, Sensors: 2}
	g.Begin(2)
	put := func(sensor int, seconds float64, v float32, now float64, want Fate) {
		t.Helper()
		fate, _, instead := g.Put(sensor, Reading{at(seconds), []float32{v}}, at(now))
		if instead {
			fate = "instead"
		}
		if fate != want {
			t.Errorf("a reading of second %v at second %v: %s, want %s", seconds, now, fate, want)
		}
	}
	take := func(step uint64, want ...float32) { // 0: a gap
		t.Helper()
		rows, _ := g.Take(step)
		got := make([]float32, len(rows))
		for i, row := range rows {
			if row != nil {
				got[i] = row[0]
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("step %d: %v, want %v", step, got, want)
		}
	}
	put(0, -6, 1, 18, Old)
	put(0, 14.9, 1, 18, Old)  // step 1, before the beginning
	put(0, 15, 1, 18, Placed) // half way between 1 and 2: the later
	put(0, 16, 2, 18, "instead")
	put(0, 25, 3, 18, Placed) // step 3
	put(0, 34, 4, 18, Future)
	put(0, 24.1, 9, 25, Superseded) // 4.1 s from step 2, and the other 4
	if g.Complete(2) {
		t.Error("step 2 is complete without sensor 1")
	}
	put(1, 20, 5, 25, Placed)
	if !g.Complete(2) {
		t.Error("step 2 is not complete")
	}
	take(2, 2, 5)
	put(1, 21, 6, 26, Superseded) // used already
	take(3, 3, 6)                 // and held
	take(4, 3, 6)
	take(5, 3, 0) // 21 is 29 seconds ago
	put(1, 52, 8, 56, Late)
	put(1, 52, 8, 56, Superseded) // told
	take(6, 0, 8)                 // held
	put(1, 62, 9, 66, Superseded) // what held stands
	take(7, 0, 9)                 // and the last word holds
	if g.Complete(7) != true {
		t.Error("sensors that are silent for three steps are waited for")
	}
	put(0, 100, 9, 101, Placed)
	if first, ok := g.Earliest(); !ok || first != 10 {
		t.Errorf("the first step with a reading is %d, %t, want 10", first, ok)
	}
	take(10, 9, 0)
	put(0, 80, 9, 101, Old) // left out

	g = &Grid{Origin: origin, Interval: 10 * time.Second, Sensors: 1, Untimed: true}
	g.Begin(2)
	put(0, 21, 1, 21, Placed)
	put(0, 21.1, 2, 21.1, "instead") // what was kept comes at once, the newest last
	take(2, 2)
}

// A sensor that was silent for long, or that a box was started before, is waited for again once
// it speaks: its readings come a moment after the time that they are of. One that is later
// than steps wait is not.
func TestGridHearsAgain(t *testing.T) {
	g := Grid{Origin: time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC), Interval: time.Minute, Wait: 30 * time.Second, Sensors: 1}
	g.Begin(0)
	for step := range uint64(silentFrom) {
		if g.Complete(step) {
			t.Errorf("step %d does not wait for a sensor that has not been silent for long", step)
		}
		g.Take(step)
	}
	for k, c := range []struct {
		after time.Duration
		waits bool
	}{{31 * time.Second, false}, {time.Second, true}} {
		step := uint64(silentFrom + k)
		if !g.Complete(step) {
			t.Fatalf("step %d waits for a sensor that is silent", step)
		}
		g.Take(step)
		at := g.Time(step)
		if fate, _, _ := g.Put(0, Reading{At: at, Row: []float32{1}}, at.Add(c.after)); fate != Late {
			t.Errorf("a reading after its step is %v, want %v", fate, Late)
		}
		if waits := !g.Complete(step + 1); waits != c.waits {
			t.Errorf("after a reading that came %v late the next step waits: %v, want %v", c.after, waits, c.waits)
		}
	}
}

// Of a sensor that speaks when something changes no change is lost, whenever between two steps
// it comes.
func TestGridHoldsTheLastWord(t *testing.T) {
	for _, after := range []time.Duration{time.Second, 29 * time.Second, 31 * time.Second, 59 * time.Second} {
		g := Grid{
			Origin: time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC), Interval: time.Minute, Wait: 30 * time.Second, Hold: time.Hour,
			Sensors: 1, Untimed: true,
		}
		g.Begin(0)
		g.Put(0, Reading{At: g.Time(0), Row: []float32{1}}, g.Time(0))
		for step := range uint64(10) {
			g.Take(step)
		}
		came := g.Time(9).Add(after)
		g.Put(0, Reading{At: came, Row: []float32{2}}, came)
		if rows, _ := g.Take(10); rows[0] == nil || rows[0][0] != 2 {
			t.Errorf("a change %v after a step: the next has %v, want 2", after, rows[0])
		}
		for step := uint64(11); step < 80; step++ {
			g.Take(step)
		}
		if last, _ := g.Step(came); g.Age(0, 79) != 79-last || g.Age(0, last) != 0 {
			t.Errorf("a change %v after step 9: its age at step 79 is %d, want %d", after, g.Age(0, 79), 79-last)
		}
	}
}
