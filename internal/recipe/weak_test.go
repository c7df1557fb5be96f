package recipe

import (
	"slices"
	"testing"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/random"
)

// weakSource is a small network to train on.
func weakSource(t *testing.T, weak int) *Source {
	t.Helper()
	s := DefaultSourceloc(4)
	s.Train, s.Valid, s.Epochs, s.Weak = 60, 20, 3, weak
	z, err := NewSource(s, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// Training without weak links is another training, and the same one every time.
func TestTrainWithoutWeakLinks(t *testing.T) {
	if testing.Short() {
		t.Skipf("SKIPPED %s: it trains several times; it runs without -short", t.Name())
	}
	fit := func(weak int) []float32 {
		m, err := weakSource(t, weak).Fit(t.Context(), WideDeep, nil)
		if err != nil {
			t.Fatal(err)
		}
		return m.Network.Params.Flat
	}
	first := fit(1)
	if !slices.Equal(first, fit(1)) {
		t.Error("trained twice, parameters differ")
	}
	if slices.Equal(first, fit(0)) {
		t.Error("parameters are those of training with all links")
	}
}

// Every other batch loses one of the links that flip answers, as often as they do.
func TestWeakLinksAreDrawn(t *testing.T) {
	w := &weakLinks{ends: [][2]int{{0, 1}, {2, 3}}, upto: []int{1, 4}}
	lost, rng := map[[2]int]int{}, random.Stream(1, "weak")
	for range 4000 {
		g, err := w.without(graph.Ring(5), rng)
		if err != nil {
			t.Fatal(err)
		}
		for _, ends := range [][2]int{{0, 1}, {1, 2}, {2, 3}, {3, 4}, {0, 4}} {
			if !slices.Contains(g.Neighbors(ends[0]), int32(ends[1])) {
				lost[ends]++
			}
		}
	}
	if a, b := lost[[2]int{0, 1}], lost[[2]int{2, 3}]; len(lost) != 2 || a < 420 || a > 580 || b < 1380 || b > 1620 {
		t.Errorf("lost %v of 4000, want 500 of 0–1 and 1500 of 2–3", lost)
	}
}
