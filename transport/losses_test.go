package transport

import (
	"math"
	"slices"
	"testing"
)

// The share of lost frames is the one that was set last, and the same ones are
// lost again.
func TestLosses(t *testing.T) {
	const frames = 4000
	lost := func(l *Losses) (list []int) {
		for n := range frames {
			if l.Lose(HostID(n % 3)) {
				list = append(list, n)
			}
		}
		return list
	}
	a, b, other := NewLosses(7, 1), NewLosses(7, 1), NewLosses(8, 1)
	if got := len(lost(a)); got != 0 {
		t.Errorf("got %d of %d frames lost before Set, want 0", got, frames)
	}
	for _, p := range []float64{0.3, 1, 0.05} {
		for _, l := range []*Losses{a, b, other} {
			if err := l.Set(p); err != nil {
				t.Fatal(err)
			}
		}
		first, again := lost(a), lost(b)
		if got := float64(len(first)) / frames; math.Abs(got-p) > 0.03 {
			t.Errorf("got a share of %v lost, want %v", got, p)
		}
		if !slices.Equal(first, again) {
			t.Errorf("at %v: other frames are lost the second time", p)
		}
		if p < 1 && slices.Equal(first, lost(other)) {
			t.Errorf("at %v: two hosts lose the same frames", p)
		}
	}
	for _, p := range []float64{-0.1, 1.1, math.NaN(), math.Inf(1)} {
		if err := a.Set(p); err == nil {
			t.Errorf("Set(%v) is no error", p)
		}
	}
	if (*Losses)(nil).Lose(1) {
		t.Error("nil loses a frame")
	}
}
