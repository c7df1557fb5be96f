package graph

import (
	"iter"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/random"
)

// must returns v; the inputs of the tests that use it are valid.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// zoo is the set of undirected graphs that every operator must handle.
func zoo() map[string]*Graph {
	rng := random.Stream(1, "zoo")
	var star, bipartite []Edge
	for i := 1; i < 9; i++ {
		star = append(star, Edge{From: 0, To: i, Weight: 1})
	}
	for i := range 3 {
		for j := 3; j < 8; j++ {
			bipartite = append(bipartite, Edge{From: i, To: j, Weight: 1})
		}
	}
	blocks := SBMConfig{Sizes: []int{10, 10, 10, 10, 10}, Intra: 0.8, Inter: 0.2}
	return map[string]*Graph{
		"empty":      Ring(0),
		"one node":   Ring(1),
		"isolated":   must(FromEdges(5, nil, false)),
		"one edge":   Ring(2),
		"ring":       Ring(7),
		"even ring":  Ring(8), // bipartite: -λmax is an eigenvalue
		"grid":       Grid(4, 5),
		"star":       must(FromEdges(10, star, false)), // node 9 is isolated
		"bipartite":  must(FromEdges(8, bipartite, false)),
		"weighted":   must(FromEdges(12, randomEdges(12, 0.4, false, rng), false)),
		"two pieces": must(FromEdges(6, []Edge{{0, 1, 1}, {1, 2, 1}, {3, 4, 2}, {4, 5, 2}}, false)),
		"blocks":     must(SBM(blocks, rng)),
		"sparse":     must(ErdosRenyi(60, 0.03, rng)), // in pieces
	}
}

// sorted visits graphs by name, so that every run of a test is the same.
func sorted(graphs map[string]*Graph) iter.Seq2[string, *Graph] {
	return func(yield func(string, *Graph) bool) {
		for _, name := range slices.Sorted(maps.Keys(graphs)) {
			if !yield(name, graphs[name]) {
				return
			}
		}
	}
}

// randomEdges returns each possible edge with probability p, weighted between
// 0.1 and 3.1.
func randomEdges(n int, p float64, directed bool, rng *rand.Rand) []Edge {
	var edges []Edge
	for i := range n {
		for j := range n {
			if (j > i || directed && j != i) && rng.Float64() < p {
				edges = append(edges, Edge{From: i, To: j, Weight: 0.1 + 3*rng.Float64()})
			}
		}
	}
	return edges
}

// checkGraph fails the test unless g keeps the promises of the type: a valid
// CSR, no self loops, positive weights, symmetric if undirected.
func checkGraph(t *testing.T, g *Graph) {
	t.Helper()
	a := g.Adjacency()
	if _, err := mat.NewCSR(g.Nodes(), g.Nodes(), a.RowPtr, a.Col, a.Val); err != nil {
		t.Fatalf("adjacency: %v", err)
	}
	for i := range a.Rows {
		col, val := a.Row(i)
		for e, j := range col {
			if int(j) == i || val[e] <= 0 {
				t.Fatalf("entry (%d,%d) is %v, want positive weights off the diagonal", i, j, val[e])
			}
		}
	}
	if !g.Directed() && !a.Equal(a.T()) {
		t.Fatal("an undirected graph has A ≠ Aᵀ")
	}
}

// permuted returns g with node i renamed to name[i].
func permuted(g *Graph, name []int) *Graph {
	var edges []Edge
	for i := range g.Nodes() {
		col, val := g.Adjacency().Row(i)
		for e, j := range col {
			if g.Directed() || int(j) > i {
				edges = append(edges, Edge{From: name[j], To: name[i], Weight: float64(val[e])})
			}
		}
	}
	return must(FromEdges(g.Nodes(), edges, g.Directed()))
}

// hasEdge says whether i hears j.
func hasEdge(g *Graph, i, j int) bool {
	_, ok := slices.BinarySearch(g.Neighbors(i), int32(j))
	return ok
}

// near says whether a and b differ by at most tol, relative to numbers above 1.
func near(a, b, tol float64) bool {
	return math.Abs(a-b) <= tol*max(1, math.Abs(a), math.Abs(b))
}

// wantError fails the test unless err mentions every one of the words.
func wantError(t *testing.T, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want one with %q", words)
	}
	for _, word := range append(words, "graph: ") {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("error %q does not mention %q", err, word)
		}
	}
}

// wantPanic fails the test unless f panics with a message that begins "graph: "
// and the operation.
func wantPanic(t *testing.T, op string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if text, ok := recover().(string); !ok || !strings.HasPrefix(text, "graph: "+op+": ") {
			t.Errorf("panic %q, want one that begins %q", text, "graph: "+op+": ")
		}
	}()
	f()
}
