package graph

import (
	"slices"
	"sync"
	"testing"

	"github.com/wdgnn/wdgnn/random"
)

func TestAccessors(t *testing.T) {
	// 0 - 1 - 2 with weights 2 and 3, and node 3 alone.
	g := must(FromEdges(4, []Edge{{2, 1, 3}, {0, 1, 2}}, false))
	checkGraph(t, g)
	if g.Nodes() != 4 || g.Edges() != 2 || g.Directed() || g.MaxDegree() != 2 {
		t.Errorf("got %v with largest degree %d", g, g.MaxDegree())
	}
	if got, want := g.Neighbors(1), []int32{0, 2}; !slices.Equal(got, want) {
		t.Errorf("neighbours of 1: got %v, want %v", got, want)
	}
	if got, want := g.Degrees(), []int{1, 2, 1, 0}; !slices.Equal(got, want) {
		t.Errorf("degrees: got %v, want %v", got, want)
	}
	for i, want := range []float64{2, 5, 3, 0} {
		if got := g.WeightedDegree(i); got != want {
			t.Errorf("weighted degree of %d: got %v, want %v", i, got, want)
		}
		if got, want := g.Degree(i), g.Degrees()[i]; got != want {
			t.Errorf("degree of %d: got %v, want %v", i, got, want)
		}
	}
}

// Row i receives: the edge From → To is entry (To,From).
func TestRowReceives(t *testing.T) {
	g := must(FromEdges(3, []Edge{{From: 2, To: 0, Weight: 5}}, true))
	checkGraph(t, g)
	if got := g.Adjacency().At(0, 2); got != 5 {
		t.Errorf("A(0,2): got %v, want 5", got)
	}
	if g.Edges() != 1 || !g.Directed() || g.Degree(0) != 1 || g.Degree(2) != 0 {
		t.Errorf("got %v with degrees %v", g, g.Degrees())
	}
	if got, want := g.String(), "directed graph of 3 nodes and 1 edges"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestNodeOutOfRangePanics(t *testing.T) {
	g := Ring(3)
	wantPanic(t, "Neighbors", func() { g.Neighbors(3) })
	wantPanic(t, "Degree", func() { g.Degree(-1) })
	wantPanic(t, "WeightedDegree", func() { g.WeightedDegree(7) })
	wantPanic(t, "Ring", func() { Ring(-1) })
	wantPanic(t, "Grid", func() { Grid(2, -1) })
}

func TestLattices(t *testing.T) {
	for _, c := range []struct {
		name  string
		g     *Graph
		nodes int
		edges int
		most  int
	}{
		{"no ring", Ring(0), 0, 0, 0},
		{"ring of 1", Ring(1), 1, 0, 0},
		{"ring of 2", Ring(2), 2, 1, 1},
		{"ring of 3", Ring(3), 3, 3, 2},
		{"ring of 9", Ring(9), 9, 9, 2},
		{"no grid", Grid(0, 4), 0, 0, 0},
		{"no grid", Grid(4, 0), 0, 0, 0},
		{"column", Grid(4, 1), 4, 3, 2},
		{"grid", Grid(3, 4), 12, 17, 4},
	} {
		checkGraph(t, c.g)
		if c.g.Nodes() != c.nodes || c.g.Edges() != c.edges || c.g.MaxDegree() != c.most || !c.g.Connected() {
			t.Errorf("%s: got %v, largest degree %d, connected %v", c.name, c.g, c.g.MaxDegree(), c.g.Connected())
		}
	}
	if got, want := Grid(3, 4).Neighbors(5), []int32{1, 4, 6, 9}; !slices.Equal(got, want) {
		t.Errorf("neighbours of grid node 5: got %v, want %v", got, want)
	}
	if got, want := Ring(5).Neighbors(0), []int32{1, 4}; !slices.Equal(got, want) {
		t.Errorf("neighbours of ring node 0: got %v, want %v", got, want)
	}
}

// Many goroutines may read one graph and one outage. The race detector watches.
func TestConcurrentReads(t *testing.T) {
	g := zoo()["blocks"]
	outage := NewOutage(g, random.Stream(1, "outage"))
	want := must(ShiftSpectral.Of(must(outage.At(0.3))))
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if got := must(ShiftSpectral.Of(must(outage.At(0.3)))); !got.Equal(want) {
				t.Error("another goroutine got another matrix")
			}
		})
	}
	wg.Wait()
}
