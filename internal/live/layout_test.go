package live

import (
	"math"
	"slices"
	"testing"
)

// Positions are the same every time, inside the square, and apart.
func TestPlace(t *testing.T) {
	for _, n := range []int{0, 1, 2, 50, 1500, 30_000} {
		s := ringScene(max(n, 3))
		s.Nodes, s.Edges = s.Nodes[:n], s.Edges[:max(n-1, 0)]
		first, again := place(&s), place(&s)
		if !slices.Equal(first, again) {
			t.Errorf("%d nodes: two layouts differ", n)
		}
		if len(first) != 2*n {
			t.Fatalf("%d nodes: %d coordinates", n, len(first))
		}
		for i, v := range first {
			if !(v >= 0 && v <= 1) {
				t.Errorf("%d nodes: coordinate %d is %v, want 0 to 1", n, i, v)
			}
		}
		seen := map[[2]float32]int{}
		for i := range n {
			seen[[2]float32{first[2*i], first[2*i+1]}]++
		}
		if n <= 1500 && len(seen) < n*9/10 {
			t.Errorf("%d nodes in %d places", n, len(seen))
		}
	}
}

// A node without links does not squeeze the others into a corner.
func TestPlaceAlone(t *testing.T) {
	s := ringScene(20)
	s.Nodes = append(s.Nodes, "alone")
	p := place(&s)
	low, high := float32(1), float32(0)
	for i := range 20 {
		low, high = min(low, p[2*i]), max(high, p[2*i])
	}
	if high-low < 0.5 {
		t.Errorf("the ring is %v wide, want half of the picture at least", high-low)
	}
}

// Nodes of a group are nearer to each other than to those of others.
func TestPlaceGroups(t *testing.T) {
	s := ringScene(40)
	for i := range s.Nodes {
		s.Groups = append(s.Groups, i/10)
	}
	p := place(&s)
	within := mean(p, func(i, j int) bool { return s.Groups[i] == s.Groups[j] })
	between := mean(p, func(i, j int) bool { return s.Groups[i] != s.Groups[j] })
	if !(2*within < between) {
		t.Errorf("distance %v inside groups, %v between them", within, between)
	}
}

func mean(p Floats, of func(i, j int) bool) float64 {
	sum, count := 0.0, 0.0
	for i := range len(p) / 2 {
		for j := range i {
			if of(i, j) {
				sum += math.Hypot(float64(p[2*i]-p[2*j]), float64(p[2*i+1]-p[2*j+1]))
				count++
			}
		}
	}
	return sum / count
}
