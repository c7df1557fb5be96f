package conformal

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

// learned returns a node that has seen something: numbers of 24 bits, which no
// architecture rounds otherwise.
func learned(c Config, steps int) *Node {
	rng := rand.New(rand.NewPCG(1, 1))
	n := New(c, 3)
	for range steps {
		y := []float32{rng.Float32(), rng.Float32(), rng.Float32() - 0.5}
		truth := []float32{rng.Float32(), rng.Float32() - 0.5, 1}
		if c.Classes {
			truth = []float32{float32(rng.IntN(3))}
		}
		n.Judge(y, n.Bounds(), truth)
	}
	return n
}

// state returns what a node remembers.
func state(n *Node) []float64 { return n.State(nil) }

// A node that is restored goes on with the same bits.
func TestStateRoundTrip(t *testing.T) {
	for _, c := range []Config{{}, {Classes: true}, {Coverage: 0.7, Window: 13, Rate: 0.05}} {
		for _, steps := range []int{0, 5, 150, 333} {
			n := learned(c, steps)
			again, err := New(c, 3).Restored(state(n))
			if err != nil {
				t.Fatal(err)
			}
			for range 50 {
				if !reflect.DeepEqual(again.Bounds(), n.Bounds()) {
					t.Fatalf("after %d steps: got bounds %v, want %v", steps, again.Bounds(), n.Bounds())
				}
				y := []float32{0.5, 0.25, 0.1}
				truth := []float32{0.4, 3, -1}[:len(n.windows)]
				if c.Classes {
					truth[0] = 1
				}
				n.Judge(y, n.Bounds(), truth)
				again.Judge(y, again.Bounds(), truth)
			}
			if !slices.Equal(state(again), state(n)) {
				t.Errorf("after %d steps and 50 more: got %v, want %v", steps, state(again), state(n))
			}
		}
	}
}

// Another coverage begins with another level, and keeps the scores; a smaller window
// keeps the last of them.
func TestRestoreAnotherCoverage(t *testing.T) {
	n := learned(Config{}, 120)
	scores := Scores(state(n), 3)[0]
	other, err := New(Config{Coverage: 0.5}, 3).Restored(state(n))
	if err != nil {
		t.Fatal(err)
	}
	if got := Scores(state(other), 3)[0]; other.windows[0].level != 0.5 || !slices.Equal(got, scores) {
		t.Errorf("got level %v and %d scores, want 0.5 and the same", other.windows[0].level, len(got))
	}
	small, err := New(Config{Window: 10}, 3).Restored(state(n))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := Scores(state(small), 3)[0], scores[90:]; !slices.Equal(got, want) {
		t.Errorf("a smaller window: got %v, want the last %v", got, want)
	}
	large := state(n)
	large[2], large[5] = 1<<53, 1e17 // answers that are counted, and the sum of their sizes
	if much, err := New(Config{}, 3).Restored(large); err != nil || !slices.Equal(state(much), large) {
		t.Errorf("large numbers: got %v, error %v", state(much), err)
	}
	if got := Scores(state(n), 2); got != nil {
		t.Errorf("scores of two outputs of three: got %v, want none", got)
	}
	if got := Scores(state(New(Config{}, 3)), 3); len(got) != 3 {
		t.Errorf("scores of three outputs that have none: got %v, want three lists of none", got)
	}
	if n.Uncounted(); n.Meter() != (Meter{}) || !slices.Equal(Scores(state(n), 3)[0], scores) {
		t.Errorf("counted from 0: got %+v, want zeros and the same scores", n.Meter())
	}
}

// States that come from outside may be anything.
func TestRestoreRefuses(t *testing.T) {
	n := learned(Config{}, 30)
	window := 1 + windowNumbers + 30 // where the second one begins
	for name, spoil := range map[string]func(s []float64) []float64{
		"nothing":  func(s []float64) []float64 { return nil },
		"short":    func(s []float64) []float64 { return s[:len(s)-1] },
		"long":     func(s []float64) []float64 { return append(s, 1) },
		"windows":  func(s []float64) []float64 { return s[:window] },
		"NaN":      func(s []float64) []float64 { s[window-3] = math.NaN(); return s },
		"infinity": func(s []float64) []float64 { s[1] = math.Inf(-1); return s },
		"level":    func(s []float64) []float64 { s[1] = math.NaN(); return s },
		"level 1":  func(s []float64) []float64 { s[1] = 1; return s },
		"judged":   func(s []float64) []float64 { s[window+1] = -1; return s },
		"many":     func(s []float64) []float64 { s[window+1] = 1 << 54; return s },
		"held":     func(s []float64) []float64 { s[window+2] = 1e6; return s },
		"sized":    func(s []float64) []float64 { s[window+3] = 1e6; return s },
		"size":     func(s []float64) []float64 { s[window+4] = -1; return s },
		"count":    func(s []float64) []float64 { s[window+5] = 30.5; return s },
		"less":     func(s []float64) []float64 { s[window+5] = -1; return s },
		"too large": func(s []float64) []float64 {
			s[2*window+4] = maxWindow + 1
			return append(s, make([]float64, maxWindow-29)...)
		},
	} {
		bad := slices.Clip(spoil(state(n)))
		if _, err := n.Restored(bad); err == nil {
			t.Errorf("%s: got no complaint, want one", name)
		}
		Scores(bad, 3) // whatever it says, it ends
	}
}
