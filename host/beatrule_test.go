package host

import (
	"testing"
	"time"
)

func TestBeat(t *testing.T) {
	const ms = time.Millisecond
	type gap struct {
		took          time.Duration
		inTime, early bool
		times         int
	}
	clock := gap{100 * ms, true, false, 10}
	held := gap{100 * ms, true, true, 4} // the host is held up, and there is room for some lines
	for _, c := range []struct {
		name  string
		gaps  []gap
		want  time.Duration
		piled time.Duration
	}{
		{"nothing", nil, 0, 0},
		{"lines that follow answers", []gap{clock}, 0, 0},
		{"too few lines", []gap{clock, {100 * ms, true, true, 2}}, 0, 0},
		{"a clock", []gap{clock, held, clock}, 100 * ms, 0},
		{"a clock from the first line on", []gap{held}, 100 * ms, 400 * ms},
		{"a clock with a long pause before, as where a feeder connects", []gap{{5000 * ms, true, true, 1}, held, clock}, 100 * ms, 0},
		{"a clock with a pause of an hour", []gap{held, clock, {time.Hour, true, false, 1}}, 113 * ms, 0},
		{"a clock that is slower now", []gap{held, {1000 * ms, true, false, 100}}, 1000 * ms, 0},
		{"a file", []gap{{100 * ms, false, true, 100}}, 0, 0},
		{"a program that writes slowly", []gap{{ms, true, true, 100}}, 0, 0},
		{"lines that pile up because neighbours are silent", []gap{clock, held, {1000 * ms, false, true, 100}}, 100 * ms, 100_400 * ms},
		{"lines that have piled up and come down", []gap{held, {1000 * ms, false, true, 10}, {5 * ms, false, true, 90}, clock}, 100 * ms, 0},
		{"lines that have piled up for good", []gap{clock, held, {100 * ms, false, true, 1000}}, 100 * ms, 100_400 * ms},
		{"a clock, and then a file", []gap{held, clock, {ms, false, true, 20}}, 0, 0},
	} {
		var b beat
		now := time.Duration(0)
		for _, g := range c.gaps {
			for range g.times {
				now += g.took
				b.add(now, g.took, g.inTime, g.early)
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
