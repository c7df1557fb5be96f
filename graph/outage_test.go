package graph

import (
	"math"
	"testing"

	"github.com/wdgnn/wdgnn/random"
)

// Subgraphs are nested: what survives a larger p survives a smaller one.
func TestOutageNested(t *testing.T) {
	graphs := zoo()
	graphs["directed"] = must(FromEdges(20, randomEdges(20, 0.3, true, random.Stream(1, "edges")), true))
	for name, g := range sorted(graphs) {
		outage := NewOutage(g, random.Stream(1, "outage"))
		if got := must(outage.At(0)); !got.Adjacency().Equal(g.Adjacency()) {
			t.Errorf("%s: p = 0 lost edges: %v of %v", name, got, g)
		}
		if got := must(outage.At(1)); got.Edges() != 0 || got.Nodes() != g.Nodes() {
			t.Errorf("%s: p = 1 left %v", name, got)
		}
		larger := g
		for _, p := range []float64{0.05, 0.1, 0.3, 0.31, 0.7, 0.95, 1} {
			sub := must(outage.At(p))
			checkGraph(t, sub)
			if sub.Directed() != g.Directed() {
				t.Errorf("%s: directed %v became %v", name, g.Directed(), sub.Directed())
			}
			for i := range sub.Nodes() {
				for _, j := range sub.Neighbors(i) {
					if sub.Adjacency().At(i, int(j)) != larger.Adjacency().At(i, int(j)) {
						t.Errorf("%s: p = %v has edge %d ← %d, which a smaller p has not", name, p, i, j)
					}
				}
			}
			larger = sub
		}
	}
}

// The share of lost edges is p, and one generator loses the same ones.
func TestOutageRate(t *testing.T) {
	g := must(ErdosRenyi(200, 0.3, random.Stream(1, "graph")))
	total := float64(g.Edges())
	for _, p := range []float64{0.1, 0.3, 0.7} {
		sub := must(NewOutage(g, random.Stream(2, "outage")).At(p))
		lost := total - float64(sub.Edges())
		if sd := math.Sqrt(total * p * (1 - p)); math.Abs(lost-p*total) > 5*sd {
			t.Errorf("p = %v: lost %v of %v edges, want %v ± %v", p, lost, total, p*total, sd)
		}
		again := must(NewOutage(g, random.Stream(2, "outage")).At(p))
		if !again.Adjacency().Equal(sub.Adjacency()) {
			t.Errorf("p = %v: equal generators lost different edges", p)
		}
	}
}

func TestOutageRefuses(t *testing.T) {
	outage := NewOutage(Ring(4), random.Stream(1, "outage"))
	for _, p := range []float64{-0.01, 1.01, math.NaN(), math.Inf(1)} {
		_, err := outage.At(p)
		wantError(t, err, "Outage", "0 to 1")
	}
}
