package robust

import (
	"context"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/random"
)

// The bound is the one of the definition: with a smaller probability, k or more of n
// come true less often than α. It is computed here from the sum itself; for 10 of 10 at
// 97.5 % tables of Clopper and Pearson say 0.6915.
func TestAtLeast(t *testing.T) {
	tail := func(k, n int, p float64) float64 { // Σ_{i≥k} C(n,i) pⁱ (1-p)ⁿ⁻ⁱ
		sum := 0.0
		for i := k; i <= n; i++ {
			a, _ := math.Lgamma(float64(n + 1))
			b, _ := math.Lgamma(float64(i + 1))
			c, _ := math.Lgamma(float64(n - i + 1))
			sum += math.Exp(a - b - c + float64(i)*math.Log(p) + float64(n-i)*math.Log1p(-p))
		}
		return sum
	}
	for _, c := range []struct {
		k, n       int
		confidence float64
	}{{10, 10, 0.975}, {6, 10, 0.975}, {1, 10, 0.9}, {931, 1000, 0.999}, {1000, 1000, 0.999}, {501, 1000, 0.99999}} {
		p := AtLeast(c.k, c.n, c.confidence)
		if got, want := tail(c.k, c.n, p), 1-c.confidence; math.Abs(got/want-1) > 1e-6 {
			t.Errorf("%d of %d at %v: p = %v has a tail of %v, want %v", c.k, c.n, c.confidence, p, got, want)
		}
	}
	if got := AtLeast(0, 10, 0.9); got != 0 {
		t.Errorf("none of 10: got %v, want 0", got)
	}
	if got := AtLeast(10, 10, 0.975); math.Abs(got-0.69150) > 1e-5 {
		t.Errorf("10 of 10 at 97.5 %%: got %v, want 0.6915", got)
	}
}

// Counts are those of a plain loop over the same outages.
func TestDropIsBruteForce(t *testing.T) {
	for _, in := range cases(t) {
		q := in.question
		c := DropConfig{Probabilities: []float64{0.1, 0.4}, Draws: 25, Confidence: 0.99, Seed: 3, Threads: 2}
		got, err := q.Drop(context.Background(), c)
		if err != nil {
			t.Fatalf("%s: %v", in.name, err)
		}
		before := in.without(t, func(graph.Edge) bool { return false })
		for at, p := range c.Probabilities {
			kept, move := make([]int, len(before)), make([]float64, len(before))
			for k := range c.Draws {
				rng := random.Stream(c.Seed, "certify drop", k)
				var graphs []*graph.Graph
				for _, g := range q.Graphs {
					sub, err := graph.NewOutage(g, rng).At(p)
					if err != nil {
						t.Fatal(err)
					}
					graphs = append(graphs, sub)
				}
				for a, y := range predictions(t, q, graphs) {
					if !q.Classify || mat.Argmax(y) == mat.Argmax(before[a]) {
						kept[a]++
					}
					move[a] = max(move[a], moved(y, before[a]))
				}
			}
			for a, s := range got[at].Each {
				if s.Kept != kept[a] || s.Of != c.Draws || s.Move != move[a] || s.Low != AtLeast(kept[a], c.Draws, c.Confidence) {
					t.Fatalf("%s, p = %v: answer %d got %+v, want %d kept, moved by %v", in.name, p, a, s, kept[a], move[a])
				}
			}
		}
	}
}

// predictions returns all answers on some graphs.
func predictions(t *testing.T, q *Question, graphs []*graph.Graph) (out [][]float32) {
	t.Helper()
	s, err := q.Shift(graphs)
	if err != nil {
		t.Fatal(err)
	}
	y := mat.NewDense(s.Rows, q.Network.Outputs(), nil)
	for k := range q.Samples {
		q.Network.Predict(y, s, q.Signals.View(k*s.Rows, 0, s.Rows, q.Signals.Cols))
		for _, row := range q.Readers() {
			out = append(out, slices.Clone(y.Row(int(row))))
		}
	}
	return out
}

// The same seed gives the same counts with any number of threads; nodes that are lost
// do not answer, and are not counted.
func TestDropNodes(t *testing.T) {
	in := draw(t, drawn{
		nodes: 12, edges: 20, samples: 9, wide: 3, shift: graph.ShiftSpectral, classify: true, seed: 5,
		deep: []gnn.LayerConfig{{Order: 2, Features: 6}},
	})
	c := DropConfig{Of: Nodes, Probabilities: []float64{0.2}, Draws: 60, Confidence: 0.999, Seed: 1, Threads: 1}
	one, err := in.question.Drop(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	c.Threads = 4
	four, err := in.question.Drop(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(one, four) {
		t.Errorf("four threads count %+v, want %+v", four[0], one[0])
	}
	for a, s := range one[0].Each {
		if s.Of >= c.Draws || s.Of < c.Draws/2 || s.Kept > s.Of || s.Said < s.Of-s.Said && s.Said < s.Kept {
			t.Errorf("answer %d: %+v of %d draws, of which a fifth lose the node", a, s, c.Draws)
		}
	}
}

// Where values may move by so much, answers that move farther do not hold.
func TestWithin(t *testing.T) {
	in := draw(t, drawn{nodes: 12, edges: 20, samples: 9, wide: 3, shift: graph.ShiftRowStochastic, seed: 5})
	q := in.question
	q.Scale = make([]float64, 12)
	for i := range q.Scale {
		q.Scale[i] = 2
	}
	all, err := q.Lost(context.Background(), LostConfig{})
	if err != nil {
		t.Fatal(err)
	}
	var moves []float64
	for _, v := range all.Answers {
		moves = append(moves, v.Worst[0].Move)
	}
	slices.Sort(moves)
	q.Within = moves[len(moves)/3]
	some, err := q.Lost(context.Background(), LostConfig{})
	if err != nil {
		t.Fatal(err)
	}
	want := 0
	for _, m := range moves {
		if m <= q.Within {
			want++
		}
	}
	if got := some.Levels[0].Held; got != want || all.Levels[0].Held != len(moves) {
		t.Errorf("%d answers stay within %v, want %d; %d without a bound, want %d", got, q.Within, want, all.Levels[0].Held, len(moves))
	}
	q.Scale = nil
	plain, err := q.Lost(context.Background(), LostConfig{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := all.Answers[0].Worst[0].Move, 2*plain.Answers[0].Worst[0].Move; got != want {
		t.Errorf("in units of a half, the first answer moves by %v, want %v", got, want)
	}
}

// Outputs that are no numbers are no answer, and move farther than any number.
func TestNoNumber(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	q := &Question{Classify: true}
	for _, y := range [][]float32{{1, nan, 0}, {nan, 0, 0}, {0, 0, nan}} {
		margin, move, holds := q.compare(&Answer{Values: []float32{1, 0, 0}}, y)
		if holds || margin != -math.MaxFloat64 || move != math.MaxFloat64 {
			t.Errorf("%v: margin %v, moved by %v, holds %v; want none", y, margin, move, holds)
		}
	}
	if _, move, _ := q.compare(&Answer{Values: []float32{1, 0}}, []float32{inf, 0}); move != math.MaxFloat64 {
		t.Errorf("an output of ∞ moved by %v, want more than any number", move)
	}
	if margin, _, holds := q.compare(&Answer{Class: 1, Values: []float32{0, 1}}, []float32{1, 1}); holds || margin != 0 {
		t.Errorf("of equals the first is the answer: margin %v, holds %v; want 0, flipped", margin, holds)
	}
	if margin, _, holds := q.compare(&Answer{Values: []float32{1, 0}}, []float32{1, 1}); !holds || margin != 0 {
		t.Errorf("of equals the first is the answer: margin %v, holds %v; want 0, as it was", margin, holds)
	}
}
