package graph

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/wdgnn/wdgnn/random"
)

// swarm returns the communication graphs of 50 robots at the given number of
// steps of 0.01 s: range 2 m, starts 1.05 m apart on rings, velocities up to
// 3 m/s per axis that fade at the given rate per step.
func swarm(steps int, fade float64, rng *rand.Rand) []*Graph {
	const n = 50
	var p, v [n][2]float64
	for i, ring, slot := 0, 1, 0; i < n; i++ {
		slots := int(2 * math.Pi * float64(ring))
		radius := 1.05*float64(ring) + 0.475*(2*rng.Float64()-1)
		angle := 2 * math.Pi * (float64(slot) + 0.4*(2*rng.Float64()-1)) / float64(slots)
		p[i] = [2]float64{radius * math.Cos(angle), radius * math.Sin(angle)}
		v[i] = [2]float64{6*rng.Float64() - 3, 6*rng.Float64() - 3}
		if slot++; slot == slots {
			ring, slot = ring+1, 0
		}
	}
	graphs := make([]*Graph, steps)
	for t := range graphs {
		graphs[t] = must(Geometric(p[:], 2))
		for i := range p {
			for d := range 2 {
				p[i][d] += 0.01 * v[i][d]
				v[i][d] *= 1 - fade
			}
		}
	}
	return graphs
}

// Along a trajectory the tracker agrees with the dense factorisation, whether
// the swarm stays together or flies apart.
func TestTrackerFollowsSwarm(t *testing.T) {
	for _, fade := range []float64{0, 0.05} {
		var tracker Tracker
		for step, g := range swarm(300, fade, random.Stream(1, "swarm")) {
			if step%3 != 0 { // a third of the comparisons is enough
				tracker.Largest(g)
				continue
			}
			got, want := tracker.Largest(g), LargestEigenvalue(g.Adjacency())
			if !near(got/want, 1, 1e-8) {
				t.Fatalf("fade %v, step %d: got %.12g, want %.12g", fade, step, got, want)
			}
		}
	}
}

// On any graph, after any other, the tracker agrees with LargestEigenvalue.
func TestTrackerOnStrangers(t *testing.T) {
	rng := random.Stream(1, "strangers")
	graphs := zoo()
	graphs["tiny weights"] = must(FromEdges(4, []Edge{{0, 1, 1e-6}, {1, 2, 2e-6}, {2, 3, 3e-6}}, false))
	graphs["directed"] = must(FromEdges(15, randomEdges(15, 0.3, true, rng), true))
	graphs["long path"] = Grid(1, 200)
	var tracker Tracker
	for range 2 {
		for name, g := range sorted(graphs) {
			got, want := tracker.Largest(g), LargestEigenvalue(g.Adjacency())
			if math.Abs(got-want) > 1e-8*want {
				t.Errorf("%s: got %.12g, want %.12g", name, got, want)
			}
		}
	}
}

// A part of the graph that was negligible for a long time may become the one
// that matters.
func TestTrackerFindsOtherPart(t *testing.T) {
	clique := func(from, size int) []Edge {
		var edges []Edge
		for i := from; i < from+size; i++ {
			for j := from; j < i; j++ {
				edges = append(edges, Edge{From: i, To: j, Weight: 1})
			}
		}
		return edges
	}
	left := must(FromEdges(20, append(clique(0, 10), clique(10, 3)...), false))
	right := must(FromEdges(20, append(clique(0, 9), clique(10, 10)...), false))
	var tracker Tracker
	for range 1000 {
		tracker.Largest(left)
	}
	if got := tracker.Largest(right); !near(got, 9, 1e-8) {
		t.Errorf("got %v, want 9", got)
	}
}

func TestTrackerSpectral(t *testing.T) {
	var tracker Tracker
	for name, g := range sorted(zoo()) {
		want, got := must(ShiftSpectral.Of(g)), tracker.Spectral(g)
		if _, err := checked("", got); err != nil || got.NNZ() != want.NNZ() {
			t.Fatalf("%s: got %d entries, %v, want %d", name, got.NNZ(), err, want.NNZ())
		}
		for e, v := range got.Val {
			if !near(float64(v), float64(want.Val[e]), 2e-7) {
				t.Errorf("%s, entry %d: got %v, want %v", name, e, v, want.Val[e])
			}
		}
	}
}

func TestTrackerAllocatesNothing(t *testing.T) {
	g := swarm(1, 0, random.Stream(1, "swarm"))[0]
	var tracker Tracker
	tracker.Largest(g)
	if got := testing.AllocsPerRun(10, func() { tracker.Largest(g) }); got != 0 {
		t.Errorf("got %v allocations, want 0", got)
	}
}

// One λmax per time step of a moving swarm of 50, warm start and dense.
func BenchmarkLargestEigenvalue(b *testing.B) {
	graphs := swarm(200, 0.02, random.Stream(1, "swarm"))
	b.Run("tracker", func(b *testing.B) {
		b.ReportAllocs()
		var tracker Tracker
		for t := 0; b.Loop(); t++ {
			tracker.Largest(graphs[t%len(graphs)])
		}
	})
	b.Run("tracker-shift", func(b *testing.B) {
		b.ReportAllocs()
		var tracker Tracker
		for t := 0; b.Loop(); t++ {
			tracker.Spectral(graphs[t%len(graphs)])
		}
	})
	b.Run("dense", func(b *testing.B) {
		b.ReportAllocs()
		for t := 0; b.Loop(); t++ {
			LargestEigenvalue(graphs[t%len(graphs)].Adjacency())
		}
	})
}

func BenchmarkMetropolis(b *testing.B) {
	g := swarm(1, 0, random.Stream(1, "swarm"))[0]
	b.ReportAllocs()
	for b.Loop() {
		must(Metropolis(g))
	}
}
