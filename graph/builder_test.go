package graph

import (
	"fmt"
	"math"
	"testing"

	"github.com/wdgnn/wdgnn/random"
)

// One builder for swarms of many sizes: what it built before leaves no trace.
func TestBuilderIsGeometric(t *testing.T) {
	rng := random.Stream(1, "builder")
	var b Builder
	for _, n := range []int{50, 0, 1, 400, 50, 3, 1000} {
		for _, radius := range []float64{0.1, 2, 50} {
			points := scattered(n, -10, 20, 20, rng)
			got, want := must(b.Geometric(points, radius)), allPairs(points, radius)
			checkGraph(t, got)
			if !got.Adjacency().Equal(want.Adjacency()) || got.Directed() {
				t.Errorf("%d nodes, radius %v: got %v, want %v", n, radius, got, want)
			}
		}
	}
}

// An input that is refused leaves the builder ready for the next.
func TestBuilderRefuses(t *testing.T) {
	var b Builder
	_, err := b.Geometric([][2]float64{{0, 0}}, -1)
	wantError(t, err, "Geometric", "radius -1")
	_, err = b.Geometric([][2]float64{{0, math.NaN()}}, 1)
	wantError(t, err, "Geometric", "node 0")
	if g := must(b.Geometric([][2]float64{{0, 0}, {0, 1}}, 1)); g.Edges() != 1 {
		t.Errorf("got %v, want one edge", g)
	}
}

// Keep asks about every link once, in order, and keeps weights.
func TestKeep(t *testing.T) {
	for name, g := range sorted(zoo()) {
		var b Builder
		var asked []Edge
		got := b.Keep(g, true, func(i, j int) bool {
			asked = append(asked, Edge{From: j, To: i, Weight: float64(g.Adjacency().At(i, j))})
			return (i+2*j)%3 != 0
		})
		var kept []Edge
		for _, e := range asked {
			if (e.To+2*e.From)%3 != 0 {
				kept = append(kept, e)
			}
		}
		want := must(FromEdges(g.Nodes(), kept, true))
		if len(asked) != g.Adjacency().NNZ() || !got.Directed() || !got.Adjacency().Equal(want.Adjacency()) {
			t.Errorf("%s: got %v after %d questions, want %v after %d", name, got, len(asked), want, g.Adjacency().NNZ())
		}

		mutual := b.Keep(g, false, func(i, j int) bool { return i+j != 3 })
		checkGraph(t, mutual)
		if mutual.Directed() || g.Nodes() > 2 && hasEdge(mutual, 1, 2) {
			t.Errorf("%s: got %v with the edge between 1 and 2, want it gone", name, mutual)
		}
	}
}

func TestKeepRefusesItsOwn(t *testing.T) {
	var b Builder
	g := must(b.Geometric([][2]float64{{0, 0}, {0, 1}}, 1))
	wantPanic(t, "Keep", func() { b.Keep(g, true, func(int, int) bool { return true }) })
}

// A clone outlives the next build.
func TestCloneOutlivesTheBuilder(t *testing.T) {
	rng := random.Stream(2, "builder")
	var b Builder
	points := scattered(60, 0, 10, 10, rng)
	kept := must(b.Geometric(points, 2)).Clone()
	must(b.Geometric(scattered(60, 0, 10, 10, rng), 2))
	if want := allPairs(points, 2); !kept.Adjacency().Equal(want.Adjacency()) {
		t.Errorf("got %v, want %v", kept, want)
	}
}

func TestBuilderAllocatesNothing(t *testing.T) {
	points := scattered(200, 0, 20, 20, random.Stream(3, "builder"))
	var whole, part Builder
	build := func() {
		g := must(whole.Geometric(points, 2))
		part.Keep(g, true, func(i, j int) bool { return (i+j)%2 == 0 })
	}
	build()
	if got := testing.AllocsPerRun(10, build); got != 0 {
		t.Errorf("got %v allocations, want 0", got)
	}
}

func BenchmarkBuilder(b *testing.B) {
	for _, n := range []int{50, 1000, 10_000} {
		b.Run(fmt.Sprintf("N=%d", n), func(b *testing.B) {
			side := math.Sqrt(float64(n) * 4 * math.Pi / 10) // about 10 neighbours within 2 m
			points := scattered(n, 0, side, side, random.Stream(1, "benchmark"))
			var builder Builder
			b.ReportAllocs()
			for b.Loop() {
				must(builder.Geometric(points, 2))
			}
		})
	}
}
