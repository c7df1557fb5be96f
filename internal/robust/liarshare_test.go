package robust

import (
	"context"
	"slices"
	"testing"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
)

// within returns bounds of rows times a share.
func within(rows []float64, share float64) []float64 {
	out := slices.Clone(rows)
	for e := range out {
		out[e] *= share
	}
	return out
}

// What is said of shares of the bounds is what bounds that close say, and agents to which
// one of them lies within its share answer as before.
func TestLiarsWithinShares(t *testing.T) {
	if testing.Short() {
		t.Skipf("SKIPPED %s: it searches for long; it runs without -short", t.Name())
	}
	d := liarCases["mean"]
	d.samples = 4
	for _, c := range []struct {
		name  string
		drawn drawn
		limit float64
	}{{"classes", d, 0}, {"values", liarCases["by degrees of both"], 1}} {
		q := draw(t, c.drawn).question
		q.Within = c.limit
		rows := slices.Repeat([]float64{20}, exchanges(q))
		got, err := q.Liars(context.Background(), LiarConfig{Rows: rows, Threads: 3})
		if err != nil {
			t.Fatal(err)
		}
		first, last := got.Shares[0], got.Shares[len(got.Shares)-1]
		if last.Share != 1 || last.Held != got.Held || first.Share != 0 || !(first.Pairs > 0.5) || first.Held == last.Held {
			t.Errorf("%s: shares from %+v to %+v, want more to hold within 0 than within 1, where %d do", c.name, first, last, got.Held)
		}
		open := 0
		for k, s := range got.Shares {
			if k > 0 && (s.Held > got.Shares[k-1].Held || s.Broken < got.Shares[k-1].Broken) || s.Held+s.Broken > got.Total {
				t.Errorf("%s: %+v after %+v", c.name, s, got.Shares[k-1])
			}
			open += got.Total - s.Held - s.Broken
			closer, err := q.Liars(context.Background(), LiarConfig{Rows: within(rows, s.Share)})
			if err != nil {
				t.Fatal(err)
			}
			for a, b := range got.Answers {
				held := closer.Answers[a].Held == closer.Answers[a].Reach
				if b.Safe != nil && *b.Safe >= s.Share && !held || b.Found != nil && *b.Found == s.Share && held {
					t.Errorf("answer %d: %+v, want what bounds of %v of these say: %+v", a, b, s.Share, closer.Answers[a])
				}
			}
		}
		if most := got.Total * len(got.Shares) / 4; open > most {
			t.Errorf("%s: %d of %d are neither proven nor flipped, want %d at most", c.name, open, got.Total*len(got.Shares), most)
		}
		for seed := range uint64(40) {
			v := int(seed) % q.Nodes()
			for _, share := range []float64{0.01, 0.05, 0.25} {
				for s := range q.Samples {
					for i, y := range lies(t, q, within(rows, share), s, v, seed) {
						b := &got.Answers[s*q.Nodes()+i]
						if _, move, holds := q.compare(&b.Answer, y); i != v && b.Safe != nil && *b.Safe >= share && !holds {
							t.Fatalf("%s: node %d lies within %v: the answer of node %d moves by %v; want %+v", c.name, v, share, i, move, b)
						}
					}
				}
			}
		}
	}
}

// Of values that may move as far as they like, the worst lies are searched for, and what
// is found is no more than what is proven.
func TestWorstLies(t *testing.T) {
	q := draw(t, drawn{
		nodes: 12, edges: 20, samples: 3, wide: 2, shift: graph.ShiftRowStochastic, seed: 21,
		deep: []gnn.LayerConfig{{Order: 1, Features: 5, Activation: gnn.Tanh}},
	}).question
	got, err := q.Liars(context.Background(), LiarConfig{Rows: slices.Repeat([]float64{2}, exchanges(q)), Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	if got.Held != 0 || got.Broken != 0 || got.Shares != nil {
		t.Errorf("%d held, %d broken, shares %v: nobody said what holds", got.Held, got.Broken, got.Shares)
	}
	for _, b := range got.Answers {
		if b.Reach > 0 && !(0.5*b.Move <= b.Moved && b.Moved <= b.Move) {
			t.Errorf("the answer of node %d moves by at most %v, found %v", b.Node, b.Move, b.Moved)
		}
	}
	for _, l := range got.Liars {
		if l.Reach > 0 && !(0.5*l.Move <= l.Moved && l.Moved <= l.Move) {
			t.Errorf("node %d moves answers by at most %v, found %v", l.Node, l.Move, l.Moved)
		}
	}
}
