package graph

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/random"
)

// must returns v and fails the test on an error.
func must[T any](t testing.TB, v T, err error) T {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// zoo is the set of undirected graphs that every operator must handle.
func zoo(t testing.TB) map[string]*Graph {
	t.Helper()
	rng := random.Stream(1, "zoo")
	var star, bipartite, weighted []Edge
	for i := 1; i < 9; i++ {
		star = append(star, Edge{From: 0, To: i, Weight: 1})
	}
	for i := range 3 {
		for j := 3; j < 8; j++ {
			bipartite = append(bipartite, Edge{From: i, To: j, Weight: 1})
		}
	}
	for i := range 12 {
		for j := i + 1; j < 12; j++ {
			if rng.Float64() < 0.4 {
				weighted = append(weighted, Edge{From: i, To: j, Weight: 0.1 + 3*rng.Float64()})
			}
		}
	}
	sbm := SBMConfig{Sizes: []int{10, 10, 10, 10, 10}, Intra: 0.8, Inter: 0.2}
	return map[string]*Graph{
		"empty":      Ring(0),
		"one node":   Ring(1),
		"isolated":   must(t, must(t, FromEdges(5, nil, false))),
		"one edge":   Ring(2),
		"ring":       Ring(7),
		"even ring":  Ring(8), // bipartite: -λmax is an eigenvalue
		"grid":       Grid(4, 5),
		"star":       must(t, must(t, FromEdges(10, star, false))), // node 9 is isolated
		"bipartite":  must(t, must(t, FromEdges(8, bipartite, false))),
		"weighted":   must(t, must(t, FromEdges(12, weighted, false))),
		"two pieces": must(t, must(t, FromEdges(6, []Edge{{0, 1, 1}, {1, 2, 1}, {3, 4, 2}, {4, 5, 2}}, false))),
		"blocks":     must(t, must(t, SBM(sbm, rng))),
		"sparse":     must(t, must(t, ErdosRenyi(60, 0.03, rng))), // in pieces
	}
}
