package graph

import (
	"slices"
	"testing"

	"github.com/wdgnn/wdgnn/random"
)

func TestComponents(t *testing.T) {
	for _, c := range []struct {
		name     string
		n        int
		edges    []Edge
		directed bool
		want     []int
	}{
		{"empty", 0, nil, false, []int{}},
		{"one node", 1, nil, false, []int{0}},
		{"isolated", 3, nil, false, []int{0, 1, 2}},
		{"interleaved", 5, []Edge{{4, 2, 1}, {2, 0, 1}, {3, 1, 1}}, false, []int{0, 1, 0, 1, 0}},
		{"chain", 3, []Edge{{0, 1, 1}, {1, 2, 1}}, true, []int{0, 1, 2}},
		{"cycle", 3, []Edge{{0, 1, 1}, {1, 2, 1}, {2, 0, 1}}, true, []int{0, 0, 0}},
		{"two cycles, one way", 4, []Edge{{0, 3, 1}, {3, 0, 1}, {1, 2, 1}, {2, 1, 1}, {0, 1, 1}}, true, []int{0, 1, 1, 0}},
	} {
		g := must(FromEdges(c.n, c.edges, c.directed))
		got, count := g.Components()
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
		most := -1
		for _, k := range c.want {
			most = max(most, k)
		}
		if count != most+1 || g.Connected() != (count <= 1) {
			t.Errorf("%s: got %d components, connected %v", c.name, count, g.Connected())
		}
	}
	if !Grid(1, 100_000).Connected() {
		t.Error("a long chain is not connected")
	}
}

// Components against the definition: i and j are in one if each reaches the
// other.
func TestComponentsAreMutualReach(t *testing.T) {
	rng := random.Stream(1, "components")
	for range 20 {
		const n = 14
		g := must(FromEdges(n, randomEdges(n, 0.1, true, rng), true))
		var reach [n][n]bool
		for i := range n {
			reach[i][i] = true
			for _, j := range g.Neighbors(i) {
				reach[i][j] = true
			}
		}
		for k := range n {
			for i := range n {
				for j := range n {
					reach[i][j] = reach[i][j] || reach[i][k] && reach[k][j]
				}
			}
		}
		component, _ := g.Components()
		for i := range n {
			for j := range n {
				if got, want := component[i] == component[j], reach[i][j] && reach[j][i]; got != want {
					t.Errorf("nodes %d and %d: in one component %v, want %v", i, j, got, want)
				}
			}
		}
	}
}
