package host

import (
	"testing"
	"time"
)

func TestBeat(t *testing.T) {
	const ms = time.Millisecond
	type gap struct {
		took, ready time.Duration
		silent      bool
		times       int
	}
	clock := gap{took: 100 * ms, ready: 95 * ms, times: 4}
	for _, c := range []struct {
		name string
		gaps []gap
		want time.Duration
	}{
		{"nothing", nil, 0},
		{"too few lines", []gap{{took: 100 * ms, ready: 95 * ms, times: 3}}, 0},
		{"a clock", []gap{clock}, 100 * ms},
		{"a clock with a long pause before, as where a feeder connects", []gap{{took: 5000 * ms, ready: 5000 * ms, times: 1}, clock}, 100 * ms},
		{"a clock with a pause of an hour", []gap{clock, {took: time.Hour, ready: time.Hour, times: 1}}, 113 * ms},
		{"a clock that is slower now", []gap{clock, {took: 1000 * ms, ready: 990 * ms, times: 100}}, 1000 * ms},
		{"a file", []gap{{took: 100 * ms, ready: ms, times: 100}}, 0},
		{"a program that is slower than the host", []gap{{took: ms, ready: ms, times: 100}}, 0},
		{"lines that piled up while neighbours were silent", []gap{clock, {took: 1000 * ms, silent: true, times: 100}}, 100 * ms},
		{"a clock, and then a file", []gap{clock, {took: ms, times: 4}}, 0},
	} {
		var b beat
		for _, g := range c.gaps {
			for range g.times {
				b.add(g.took, g.ready, g.silent)
			}
		}
		if got := b.sets().Round(ms); got != c.want {
			t.Errorf("%s: a beat of %v, want %v", c.name, got, c.want)
		}
	}
}
