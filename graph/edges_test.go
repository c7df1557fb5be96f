package graph

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/wdgnn/wdgnn/random"
)

func TestFromEdgesRefuses(t *testing.T) {
	ok := Edge{From: 0, To: 1, Weight: 1}
	for _, c := range []struct {
		name     string
		n        int
		edges    []Edge
		directed bool
		words    []string
	}{
		{"negative size", -1, nil, false, []string{"-1 nodes"}},
		{"from too large", 3, []Edge{ok, {3, 1, 1}}, false, []string{"position 1", "node 3 among 3"}},
		{"to negative", 3, []Edge{ok, ok, {1, -2, 1}}, true, []string{"position 2", "node -2"}},
		{"self loop", 3, []Edge{ok, {2, 2, 1}}, false, []string{"position 1", "node 2 linked to itself"}},
		{"not a number", 3, []Edge{{0, 1, math.NaN()}}, false, []string{"position 0", "weight NaN"}},
		{"infinite", 3, []Edge{{0, 1, math.Inf(1)}}, false, []string{"position 0", "weight +Inf"}},
		{"negative weight", 3, []Edge{{0, 1, -2}}, true, []string{"position 0", "0 → 1", "weight -2"}},
		{"no weight", 3, []Edge{{From: 0, To: 1}}, true, []string{"position 0", "write 1"}},
		{"vanishing weight", 3, []Edge{{0, 1, 1e-60}}, true, []string{"position 0", "1e-60"}},
		{"huge weight", 3, []Edge{{0, 1, 1e60}}, true, []string{"position 0", "1e+60"}},
		{"twice", 3, []Edge{ok, {1, 2, 1}, ok}, true, []string{"position 2", "position 0"}},
		{"both ways", 3, []Edge{{1, 2, 1}, ok, {1, 0, 1}, {2, 1, 4}}, false, []string{"position 2, 1 → 0", "position 1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			g, err := FromEdges(c.n, c.edges, c.directed)
			wantError(t, err, c.words...)
			if g != nil {
				t.Errorf("got %v beside an error", g)
			}
		})
	}
}

// Both directions of a pair are two edges of a directed graph.
func TestFromEdgesDirectedPair(t *testing.T) {
	g := must(FromEdges(2, []Edge{{0, 1, 2}, {1, 0, 3}}, true))
	checkGraph(t, g)
	if g.Edges() != 2 || g.Adjacency().At(1, 0) != 2 || g.Adjacency().At(0, 1) != 3 {
		t.Errorf("got %v: %v", g, g.Adjacency())
	}
}

// The order of the list plays no part.
func TestFromEdgesOrder(t *testing.T) {
	rng := random.Stream(1, "order")
	for _, directed := range []bool{false, true} {
		edges := randomEdges(20, 0.3, directed, rng)
		want := must(FromEdges(20, edges, directed))
		checkGraph(t, want)
		if want.Edges() != len(edges) {
			t.Errorf("got %d edges, want %d", want.Edges(), len(edges))
		}
		for range 5 {
			rng.Shuffle(len(edges), func(i, j int) { edges[i], edges[j] = edges[j], edges[i] })
			if got := must(FromEdges(20, edges, directed)); !got.Adjacency().Equal(want.Adjacency()) {
				t.Error("shuffled edges give another graph")
			}
		}
	}
}

// Whatever the list, FromEdges gives a graph that keeps its promises or an
// error, and the operators that follow give finite numbers or an error.
func FuzzFromEdges(f *testing.F) {
	edge := func(from, to int8, weight float64) []byte {
		return binary.LittleEndian.AppendUint64([]byte{byte(from), byte(to)}, math.Float64bits(weight))
	}
	f.Add(int8(3), false, append(edge(0, 1, 1), edge(1, 2, 0.5)...))
	f.Add(int8(3), true, append(edge(0, 1, 1), edge(1, 0, 3e38)...))
	f.Add(int8(4), false, append(edge(0, 1, 1e-45), edge(2, 3, 1e-45)...))
	f.Add(int8(2), true, append(edge(0, 0, 1), edge(1, 5, math.NaN())...))
	f.Add(int8(-1), false, []byte{})
	f.Fuzz(func(t *testing.T, n int8, directed bool, data []byte) {
		var edges []Edge
		for ; len(data) >= 10 && len(edges) < 200; data = data[10:] {
			edges = append(edges, Edge{
				From:   int(int8(data[0])),
				To:     int(int8(data[1])),
				Weight: math.Float64frombits(binary.LittleEndian.Uint64(data[2:])),
			})
		}
		g, err := FromEdges(int(n), edges, directed)
		if err != nil {
			if g != nil {
				t.Fatalf("got %v beside the error %v", g, err)
			}
			return
		}
		checkGraph(t, g)
		if g.Edges() != len(edges) {
			t.Errorf("got %d edges, want %d", g.Edges(), len(edges))
		}
		for s := range Shift(len(shiftNames)) {
			if op, err := s.Of(g); err == nil {
				if _, err := checked("", op); err != nil {
					t.Errorf("%v: %v", s, err)
				}
			}
		}
	})
}
