package host

import (
	"testing"
	"time"
)

func TestBeat(t *testing.T) {
	const ms = time.Millisecond
	type gap struct {
		took   time.Duration
		waited bool
		times  int
	}
	clock := gap{100 * ms, true, 4}
	for _, c := range []struct {
		name  string
		gaps  []gap
		want  time.Duration
		piled time.Duration
	}{
		{"nothing", nil, 0, 0},
		{"too few lines", []gap{{100 * ms, true, 3}}, 0, 0},
		{"a clock", []gap{clock}, 100 * ms, 0},
		{"a clock with a long pause before, as where a feeder connects", []gap{{5000 * ms, true, 1}, clock}, 100 * ms, 0},
		{"a clock with a pause of an hour", []gap{clock, {time.Hour, true, 1}}, 113 * ms, 0},
		{"a clock that is slower now", []gap{clock, {1000 * ms, true, 100}}, 1000 * ms, 0},
		{"a file", []gap{{100 * ms, false, 100}}, 0, 0},
		{"a program that is slower than the host", []gap{{ms, true, 100}}, 0, 0},
		{"lines that pile up because neighbours are silent", []gap{clock, {1000 * ms, false, 100}}, 100 * ms, 100_000 * ms},
		{"lines that have piled up and come down", []gap{clock, {1000 * ms, false, 10}, {5 * ms, false, 90}, clock}, 100 * ms, 0},
		{"lines that have piled up for good", []gap{clock, {1000 * ms, false, 10}, {100 * ms, false, 1000}}, 100 * ms, 110_000 * ms},
		{"a clock, and then a file", []gap{clock, {ms, false, 20}}, 0, 0},
	} {
		var b beat
		now := time.Duration(0)
		for _, g := range c.gaps {
			for range g.times {
				now += g.took
				b.add(now, g.took, g.waited)
			}
		}
		if got := b.sets().Round(ms); got != c.want {
			t.Errorf("%s: a beat of %v, want %v", c.name, got, c.want)
		}
		if got := b.piled(now, 0); got != c.piled {
			t.Errorf("%s: lines have been waiting for %v, want %v", c.name, got, c.piled)
		}
		if got := b.piled(now+time.Second, now); b.every <= 100*ms && got != 0 {
			t.Errorf("%s: lines have been waiting for %v though none came, want 0", c.name, got)
		}
	}
}
