package graph

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"github.com/wdgnn/wdgnn/random"
)

func TestNearestTies(t *testing.T) {
	similarity := [][]float64{
		{9, 1, 2, 2, 2}, // 2, 2, 2 tie: the lower two
		{0, 9, 0, 0, 1}, // only one is positive
		{3, 1, 9, 2, 0},
		{-1, -2, 0, 9, -5}, // nobody
		{1, 1, 1, 1, math.NaN()},
	}
	g := must(Nearest(similarity, NearestConfig{Neighbors: 2}))
	checkGraph(t, g)
	for i, want := range [][]int32{{2, 3}, {4}, {0, 3}, {}, {0, 1}} {
		if got := g.Neighbors(i); !slices.Equal(got, want) {
			t.Errorf("node %d: got %v, want %v", i, got, want)
		}
	}
	if !g.Directed() || g.Adjacency().At(2, 0) != 3 {
		t.Errorf("got %v with A(2,0) = %v, want directed and 3", g, g.Adjacency().At(2, 0))
	}
}

// Nearest against sorting every row, and (A + Aᵀ)/2 against the dense formula.
func TestNearestIsSorting(t *testing.T) {
	const n, k = 40, 6
	rng := random.Stream(1, "nearest")
	similarity := make([][]float64, n)
	for i := range similarity {
		similarity[i] = make([]float64, n)
		for j := range similarity[i] {
			similarity[i][j] = math.Round(20*rng.Float64()) / 8 // with ties and zeros
		}
	}
	a := make([][]float64, n)
	for i, row := range similarity {
		var others []int
		for j := range row {
			if j != i && row[j] > 0 {
				others = append(others, j)
			}
		}
		slices.SortStableFunc(others, func(p, q int) int { return cmp.Compare(row[q], row[p]) })
		a[i] = make([]float64, n)
		for _, j := range others[:k] {
			a[i][j] = row[j]
		}
	}
	directed := must(Nearest(similarity, NearestConfig{Neighbors: k}))
	symmetric := must(Nearest(similarity, NearestConfig{Neighbors: k, Symmetric: true}))
	checkGraph(t, directed)
	checkGraph(t, symmetric)
	if !directed.Directed() || symmetric.Directed() {
		t.Error("directions are mixed up")
	}
	for i := range n {
		for j := range n {
			if got, want := directed.Adjacency().At(i, j), float32(a[i][j]); got != want {
				t.Errorf("A(%d,%d): got %v, want %v", i, j, got, want)
			}
			if got, want := symmetric.Adjacency().At(i, j), float32((a[i][j]+a[j][i])/2); got != want {
				t.Errorf("(A+Aᵀ)/2 (%d,%d): got %v, want %v", i, j, got, want)
			}
		}
	}
}

func TestNearestRefuses(t *testing.T) {
	_, err := Nearest([][]float64{{0, 1}, {1}}, NearestConfig{Neighbors: 1})
	wantError(t, err, "row 1 has 1 similarities")
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e300} {
		_, err = Nearest([][]float64{{0, bad}, {1, 0}}, NearestConfig{Neighbors: 1})
		wantError(t, err, "nodes 0 and 1")
	}
	_, err = Nearest([][]float64{{0, math.NaN()}, {1, 0}}, NearestConfig{})
	wantError(t, err, "Neighbors is 0", "nodes 0 and 1 is NaN")
	if g := must(Nearest(nil, NearestConfig{Neighbors: 1})); g.Nodes() != 0 {
		t.Errorf("got %v, want no nodes", g)
	}
}
