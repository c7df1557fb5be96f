package graph

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/wdgnn/wdgnn/random"
)

// scattered returns n points in a width×height rectangle whose corner is at
// (left, left).
func scattered(n int, left, width, height float64, rng *rand.Rand) [][2]float64 {
	points := make([][2]float64, n)
	for i := range points {
		points[i] = [2]float64{left + width*rng.Float64(), left + height*rng.Float64()}
	}
	return points
}

// allPairs is the specification of Geometric.
func allPairs(points [][2]float64, radius float64) *Graph {
	var pairs []pair
	for i, p := range points {
		for j := i + 1; j < len(points); j++ {
			if within(&p, &points[j], radius*radius) {
				pairs = append(pairs, pair{int32(i), int32(j)})
			}
		}
	}
	return fromPairs(len(points), pairs)
}

func TestGeometricIsAllPairs(t *testing.T) {
	rng := random.Stream(1, "geometric")
	lattice := make([][2]float64, 400) // many distances equal the radius
	for i := range lattice {
		lattice[i] = [2]float64{float64(i%20) * 0.1, float64(i/20) * 0.1}
	}
	for _, c := range []struct {
		name   string
		points [][2]float64
		radius float64
	}{
		{"none", nil, 1},
		{"one", scattered(1, 0, 1, 1, rng), 1},
		{"square", scattered(400, 0, 20, 20, rng), 2},
		{"offset", scattered(400, -1e6, 20, 20, rng), 2},
		{"thin", scattered(300, 0, 100, 0.01, rng), 0.5},
		{"line", scattered(300, 3, 0, 50, rng), 1},
		{"wide", scattered(300, 0, 1e6, 1e6, rng), 1},
		{"vast", scattered(50, -1e149, 1e150, 1e150, rng), 2e149},
		{"all linked", scattered(60, 0, 1, 1, rng), 10},
		{"one place", make([][2]float64, 40), 1e-300},
		{"lattice", lattice, 0.1},
		{"lattice diagonals", lattice, 0.1 * math.Sqrt2},
		{"lattice twos", lattice, 0.2},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := must(Geometric(c.points, c.radius))
			checkGraph(t, got)
			if want := allPairs(c.points, c.radius); !got.Adjacency().Equal(want.Adjacency()) {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
}

// The border counts: ‖p_i - p_j‖ = r is a link.
func TestGeometricBorder(t *testing.T) {
	points := [][2]float64{{0, 0}, {3, 4}, {-5.000001, 0}}
	g := must(Geometric(points, 5))
	if !hasEdge(g, 0, 1) || hasEdge(g, 0, 2) {
		t.Errorf("got neighbours %v of node 0, want [1]", g.Neighbors(0))
	}
}

func TestGeometricRefuses(t *testing.T) {
	for _, radius := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		_, err := Geometric(make([][2]float64, 3), radius)
		wantError(t, err, "Geometric", fmt.Sprint(radius))
	}
	for _, bad := range []float64{math.NaN(), math.Inf(-1), 1e200} {
		_, err := Geometric([][2]float64{{0, 0}, {1, bad}}, 1)
		wantError(t, err, "Geometric", "node 1", fmt.Sprint(bad))
		_, err = Geometric([][2]float64{{bad, 0}, {1, 1}}, 1)
		wantError(t, err, "node 0")
	}
}

func BenchmarkGeometric(b *testing.B) {
	for _, n := range []int{50, 10_000} {
		b.Run(fmt.Sprintf("N=%d", n), func(b *testing.B) {
			side := math.Sqrt(float64(n) * 4 * math.Pi / 10) // about 10 neighbours within 2 m
			points := scattered(n, 0, side, side, random.Stream(1, "benchmark"))
			b.ReportAllocs()
			for b.Loop() {
				must(Geometric(points, 2))
			}
		})
	}
}
