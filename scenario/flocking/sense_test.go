package flocking_test

import (
	"math"
	"testing"

	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/scenario/flocking"
)

// Along a flight, the graph is that of all pairs within the radius and the
// features are those of a double loop.
// Reference: Section 6.2, eq. (23).
func TestFeaturesAreTheDoubleLoop(t *testing.T) {
	s := newSwarm(t, flocking.Default(), 3)
	x := mat.NewDense(50, flocking.Features, nil)
	for range 30 {
		p, v := s.Positions(), s.Velocities()
		s.Signal(x)
		for i, got := range s.Features() {
			var want [flocking.Features]float64
			degree := 0
			for j := range p {
				d := math.Hypot(p[i][0]-p[j][0], p[i][1]-p[j][1])
				if j == i || d > 2 {
					continue
				}
				degree++
				for k := range 2 {
					want[k] += v[i][k] - v[j][k]
					want[2+k] += (p[i][k] - p[j][k]) / math.Pow(d, 4)
					want[4+k] += (p[i][k] - p[j][k]) / math.Pow(d, 2)
				}
			}
			if s.Heard().Degree(i) != degree {
				t.Fatalf("robot %d hears %d others, want %d", i, s.Heard().Degree(i), degree)
			}
			for k := range want {
				if !closeTo(got[k], want[k], 1e-10) {
					t.Fatalf("robot %d, feature %d: got %v, want %v", i, k, got[k], want[k])
				}
				if x.At(i, k) != float32(got[k]) {
					t.Fatalf("robot %d, feature %d: signal %v, want %v", i, k, x.At(i, k), float32(got[k]))
				}
			}
		}
		flyExpert(t, s, 1)
	}
}

// The cell grid finds the pairs that a comparison of all robots finds.
func TestGraphIsAllPairs(t *testing.T) {
	s := newSwarm(t, robots(400), 1)
	flyExpert(t, s, 10)
	p, g := s.Positions(), s.Graph()
	edges, least := 0, math.Inf(1)
	for i := range p {
		for j := range i {
			d := math.Hypot(p[i][0]-p[j][0], p[i][1]-p[j][1])
			least = min(least, d)
			if d <= 2 {
				edges++
			}
		}
	}
	if g.Edges() != edges {
		t.Errorf("got %d links, want %d", g.Edges(), edges)
	}
	if _, got := s.Closest(); !closeTo(got, least, 1e-12) {
		t.Errorf("the closest robots are %v m apart, want %v", got, least)
	}
}

// Robots that meet in one point: features, expert and costs stay finite.
func TestCoincidentRobots(t *testing.T) {
	c := robots(3)
	c.SampleSeconds, c.DurationSeconds, c.RepulsionRadiusMeters = 0.5, 50, 1
	s := start(t, c, [][2]float64{{-1, 0}, {1, 0}, {0, 1}}, [][2]float64{{2, 0}, {-2, 0}, {0, 0}})
	step(t, s, make([][2]float64, 3)) // robots 0 and 1 meet at the origin
	if s.Positions()[0] != s.Positions()[1] {
		t.Fatalf("robots are at %v, want 0 and 1 in one place", s.Positions())
	}
	if got, want := s.Features()[0], [flocking.Features]float64{6, 0, 0, -1, 0, -1}; got != want {
		t.Errorf("features are %v, want %v: nothing from the robot in the same place but its velocity", got, want)
	}
	if collisions, meters := s.Closest(); collisions != 1 || meters != 0 {
		t.Errorf("%d collisions at %v m, want 1 at 0", collisions, meters)
	}
	flyExpert(t, s, 20)
	for i, x := range s.Features() {
		for k, v := range x {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				t.Errorf("robot %d, feature %d is %v", i, k, v)
			}
		}
	}
}

// Parts of a swarm are counted, and robots on their own sense nothing.
func TestComponents(t *testing.T) {
	s := start(t, robots(4), [][2]float64{{0, 0}, {1, 0}, {10, 0}, {20, 0}}, [][2]float64{{1, 0}, {2, 0}, {3, 0}, {4, 0}})
	if got := s.Components(); got != 3 {
		t.Errorf("got %d components, want 3", got)
	}
	if got := s.Features()[2]; got != [flocking.Features]float64{} {
		t.Errorf("a robot on its own has features %v, want 0", got)
	}
	if got, want := s.VelocityVariation(), 1.25; got != want {
		t.Errorf("velocity variation is %v, want %v", got, want)
	}
}

// A bound holds for the feature that grows as 1/d³, and for no other.
func TestNearCap(t *testing.T) {
	c := robots(3)
	at, velocity := [][2]float64{{0, 0}, {0.1, 0}, {0.1, 1}}, [][2]float64{{90, 0}, {0, -90}, {0, 0}}
	free := start(t, c, at, velocity)
	c.NearCap = 30
	bound := start(t, c, at, velocity)
	clamped := 0
	for i, x := range free.Features() {
		want := x
		for f := 2; f < 4; f++ {
			if want[f] = min(max(x[f], -30), 30); want[f] != x[f] {
				clamped++
			}
		}
		if got := bound.Features()[i]; got != want {
			t.Errorf("robot %d: features %v, want %v", i, got, want)
		}
	}
	if clamped != 2 {
		t.Errorf("%d features were bounded, want 2", clamped)
	}
}
