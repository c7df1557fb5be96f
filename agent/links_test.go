package agent_test

import (
	"slices"
	"testing"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/graph"
)

// A node hears those who have a link to it, in ascending order and with the
// weights of the links; one without links hears nobody.
func TestLinksOf(t *testing.T) {
	g, err := graph.FromEdges(4, []graph.Edge{{From: 3, To: 1, Weight: 0.5}, {From: 0, To: 1, Weight: 2}, {From: 1, To: 0, Weight: 1}}, true)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range [][]agent.Link{{{Node: 1, Weight: 1}}, {{Node: 0, Weight: 2}, {Node: 3, Weight: 0.5}}, nil, nil} {
		if got := agent.LinksOf(nil, g.Adjacency(), i); !slices.Equal(got, want) {
			t.Errorf("node %d: got %v, want %v", i, got, want)
		}
	}
}
