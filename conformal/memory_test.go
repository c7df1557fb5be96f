package conformal

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
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

// A node that is restored from JSON goes on with the same bits.
func TestMemoryRoundTrip(t *testing.T) {
	for _, c := range []Config{{}, {Classes: true}, {Coverage: 0.7, Window: 13, Rate: 0.05}} {
		for _, steps := range []int{0, 5, 150, 333} {
			n := learned(c, steps)
			text, err := json.Marshal(n.Memory())
			if err != nil {
				t.Fatal(err)
			}
			var m Memory
			if err := json.Unmarshal(text, &m); err != nil {
				t.Fatal(err)
			}
			again := New(c, 3)
			if err := again.Restore(m); err != nil {
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
			if !reflect.DeepEqual(again.Memory(), n.Memory()) {
				t.Errorf("after %d steps and 50 more: got %v, want %v", steps, again.Memory(), n.Memory())
			}
		}
	}
}

// Another coverage begins with another level, and keeps the scores.
func TestRestoreAnotherCoverage(t *testing.T) {
	n := learned(Config{}, 120)
	other := New(Config{Coverage: 0.5}, 3)
	if err := other.Restore(n.Memory()); err != nil {
		t.Fatal(err)
	}
	got, want := other.Memory(), n.Memory()
	if got.Windows[0].Level != 0.5 || !reflect.DeepEqual(got.Windows[0].Scores, want.Windows[0].Scores) {
		t.Errorf("got level %v and %d scores, want 0.5 and the same", got.Windows[0].Level, len(got.Windows[0].Scores))
	}
	small := New(Config{Window: 10}, 3)
	if err := small.Restore(n.Memory()); err != nil {
		t.Fatal(err)
	}
	if got, want := small.Memory().Windows[0].Scores, n.Memory().Windows[0].Scores[90:]; !reflect.DeepEqual(got, want) {
		t.Errorf("a smaller window: got %v, want the last %v", got, want)
	}
}

// Memories that come from outside may be anything.
func TestRestoreRefuses(t *testing.T) {
	for name, spoil := range map[string]func(m *Memory){
		"windows":   func(m *Memory) { m.Windows = m.Windows[1:] },
		"NaN":       func(m *Memory) { m.Windows[0].Scores[3] = math.NaN() },
		"infinity":  func(m *Memory) { m.Windows[2].Scores[3] = math.Inf(-1) },
		"level":     func(m *Memory) { m.Windows[0].Level = math.NaN() },
		"level 1":   func(m *Memory) { m.Windows[0].Level = 1 },
		"held":      func(m *Memory) { m.Windows[1].Meter.Held = 1e6 },
		"sized":     func(m *Memory) { m.Windows[1].Meter.Sized = 1e6 },
		"size":      func(m *Memory) { m.Windows[1].Meter.Size = -1 },
		"too large": func(m *Memory) { m.Windows[1].Scores = make([]float64, maxWindow+1) },
	} {
		n := learned(Config{}, 30)
		before, m := n.Memory(), n.Memory()
		spoil(&m)
		if err := n.Restore(m); err == nil {
			t.Errorf("%s: got no complaint, want one", name)
		}
		if !reflect.DeepEqual(n.Memory(), before) {
			t.Errorf("%s: the node changed", name)
		}
	}
}
