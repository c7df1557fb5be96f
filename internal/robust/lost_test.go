package robust

import (
	"context"
	"slices"
	"testing"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
)

// cases are small questions of every kind: local and spectral shifts, links with a
// direction, several parts, delayed filters, one to three layers or none.
func cases(t testing.TB) []*instance {
	two := []gnn.LayerConfig{{Order: 2, Features: 4}, {Order: 1, Features: 5, Activation: gnn.Tanh}}
	three := []gnn.LayerConfig{{Order: 1, Features: 4}, {Order: 1, Features: 3, Activation: gnn.LeakyReLU}, {Order: 2, Features: 4}}
	var list []*instance
	for seed, d := range []drawn{
		{nodes: 9, edges: 13, samples: 7, deep: two, wide: 3, shift: graph.ShiftRowStochastic},
		{nodes: 9, edges: 13, samples: 7, deep: two, wide: 3, shift: graph.ShiftSpectral, read: []int{2, 5}},
		{nodes: 9, edges: 13, samples: 5, deep: two, wide: 1, shift: graph.ShiftSymmetric, read: []int{7}},
		{nodes: 9, edges: 13, samples: 5, deep: two, wide: -1, shift: graph.ShiftNormalizedLaplacian},
		{nodes: 9, edges: 13, samples: 5, deep: two[:1], wide: 0, shift: graph.ShiftLaplacian, features: 2},
		{nodes: 9, edges: 13, samples: 5, wide: 3, shift: graph.ShiftAdjacency, features: 2},
		{nodes: 9, edges: 20, samples: 5, deep: two, wide: 2, shift: graph.ShiftRowStochastic, directed: true},
		{nodes: 9, edges: 20, samples: 5, deep: two, wide: 2, shift: graph.ShiftSpectral, directed: true},
		{nodes: 16, edges: 11, samples: 6, deep: three, wide: 2, shift: graph.ShiftRowStochastic, read: []int{0, 3, 9}},
		{nodes: 16, edges: 11, samples: 6, deep: three, wide: 1, shift: graph.ShiftSpectral},
		{nodes: 5, edges: 6, samples: 3, steps: 4, deep: two, wide: 2, shift: graph.ShiftRowStochastic},
		{nodes: 5, edges: 6, samples: 3, steps: 4, deep: two[:1], wide: 2, shift: graph.ShiftSpectral, read: []int{1, 4}},
	} {
		for _, classify := range []bool{true, false} {
			d.seed, d.classify = uint64(seed+1), classify
			list = append(list, draw(t, d))
		}
	}
	return list
}

// Every answer after every loss is to the bit what a pass over the whole network
// says that never saw the loss before, with any number of threads: margins, moves,
// flips and how many each loss flips.
func TestLostIsBruteForce(t *testing.T) {
	for _, in := range cases(t) {
		for _, of := range []Kind{Links, Nodes} {
			for _, threads := range []int{1, 3} {
				checkLost(t, in, LostConfig{Of: of, Most: 2, Threads: threads})
			}
		}
	}
}

func checkLost(t *testing.T, in *instance, c LostConfig) {
	t.Helper()
	q := in.question
	got, err := q.Lost(context.Background(), c)
	if err != nil {
		t.Fatalf("%s: %v", in.name, err)
	}
	before := in.without(t, func(graph.Edge) bool { return false })
	var ones, twos [][]Part
	for i, p := range got.Parts {
		ones = append(ones, []Part{p})
		for _, other := range got.Parts[:i] {
			twos = append(twos, []Part{p, other})
		}
	}
	one := in.try(t, before, ones)
	all := in.try(t, before, append(slices.Clone(ones), twos...))
	for k, p := range got.Parts {
		if q.Classify && p.Flips != one.flips[k] {
			t.Errorf("%s: %s %s flips %d answers, want %d", in.name, c.Of, q.PartName(&p), p.Flips, one.flips[k])
		}
	}
	for a, v := range got.Answers {
		if !slices.Equal(v.Values, before[a]) {
			t.Fatalf("%s: answer %d is %v, want %v", in.name, a, v.Values, before[a])
		}
		for level, want := range []*brute{one, all} {
			w := v.Worst[level]
			if w.Move != want.move[a] {
				t.Fatalf("%s: at most %d %s move answer %d by %v, want %v", in.name, level+1, c.Of, a, w.Move, want.move[a])
			}
			if q.Classify && (w.Margin != want.margin[a] || w.Flipped != want.flipped[a]) {
				t.Fatalf("%s: at most %d %s leave answer %d a margin of %v, flipped %v; want %v, %v",
					in.name, level+1, c.Of, a, w.Margin, w.Flipped, want.margin[a], want.flipped[a])
			}
		}
	}
	for _, l := range got.Levels {
		if !l.Complete() {
			t.Errorf("%s: %d of %d losses tried, want all", in.name, l.Tried, l.Total)
		}
	}
}

// What is said to do the worst does it.
func TestLostNamesWho(t *testing.T) {
	in := draw(t, drawn{
		nodes: 12, edges: 20, samples: 20, wide: 3, shift: graph.ShiftRowStochastic, classify: true, seed: 5,
		deep: []gnn.LayerConfig{{Order: 2, Features: 6}},
	})
	got, err := in.question.Lost(context.Background(), LostConfig{Most: 2})
	if err != nil {
		t.Fatal(err)
	}
	before := in.without(t, func(graph.Edge) bool { return false })
	for a, v := range got.Answers {
		for level, w := range v.Worst {
			var lost []Part
			for _, k := range w.By {
				lost = append(lost, got.Parts[k])
			}
			if len(lost) > level+1 {
				t.Fatalf("answer %d: %d lost at level %d", a, len(lost), level+1)
			}
			if b := in.try(t, before, [][]Part{lost}); b.margin[a] != w.Margin || b.flipped[a] != w.Flipped {
				t.Errorf("answer %d: losing %v leaves %v, flipped %v; want %v, %v", a, lost, b.margin[a], b.flipped[a], w.Margin, w.Flipped)
			}
		}
	}
}

// Two losses far from each other have no answer in common, and are not run.
func TestPairsApart(t *testing.T) {
	in := draw(t, drawn{
		nodes: 40, samples: 2, wide: 2, shift: graph.ShiftSymmetric, classify: true, seed: 7,
		deep: []gnn.LayerConfig{{Order: 1, Features: 4}, {Order: 1, Features: 4}},
	})
	in.question.Graphs = []*graph.Graph{graph.Ring(40)}
	for i := range 40 {
		in.edges[0] = append(in.edges[0], graph.Edge{From: i, To: (i + 1) % 40, Weight: 1})
	}
	checkLost(t, in, LostConfig{Most: 2, Threads: 2})
	got, err := in.question.Lost(context.Background(), LostConfig{Most: 2})
	if err != nil {
		t.Fatal(err)
	}
	if l := got.Levels[1]; l.Apart < l.Total/2 {
		t.Errorf("%d of %d pairs are apart, want most of them", l.Apart, l.Total)
	}
}

// A context that ends leaves what was done, and says how much that is.
func TestLostStops(t *testing.T) {
	in := cases(t)[0]
	ctx, cancel := context.WithCancel(context.Background())
	got, err := in.question.Lost(ctx, LostConfig{Most: 2, Watch: func(lost, done, total int) {
		if lost == 2 && done == 5 {
			cancel()
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	if l := got.Levels[1]; l.Tried != 5 || l.Complete() || !got.Levels[0].Complete() {
		t.Errorf("got levels %+v, want all single losses and 5 pairs", got.Levels)
	}
}
