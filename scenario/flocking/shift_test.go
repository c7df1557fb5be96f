package flocking_test

import (
	"math"
	"testing"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/scenario/flocking"
)

func shiftOf(t testing.TB, s *flocking.Swarm, kind graph.Shift) *mat.CSR {
	t.Helper()
	got, err := s.Shift(kind)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// Shifts are those of package graph, with and without lost messages.
func TestShift(t *testing.T) {
	for _, loss := range []float64{0, 0.3} {
		c := flocking.Default()
		c.Faults.MessageLoss = loss
		s := newSwarm(t, c, 1)
		for range 10 {
			for _, kind := range []graph.Shift{graph.ShiftRowStochastic, graph.ShiftAdjacency} {
				got := shiftOf(t, s, kind)
				want, err := kind.Of(s.Heard())
				if err != nil || !got.Equal(want) {
					t.Fatalf("loss %v, step %d: shift %v differs from that of package graph (%v)", loss, s.Time(), kind, err)
				}
			}
			got := shiftOf(t, s, graph.ShiftSpectral)
			lambda := graph.LargestEigenvalue(s.Graph().Adjacency())
			for e, v := range got.Val {
				if !closeTo(float64(v)*lambda, 1, 1e-6) {
					t.Fatalf("loss %v, step %d, entry %d: got %v, want %v", loss, s.Time(), e, v, 1/lambda)
				}
			}
			if again := shiftOf(t, s, graph.ShiftSpectral); !again.Equal(got) || got.NNZ() != s.Heard().Adjacency().NNZ() {
				t.Fatal("the shift changes when it is asked for again")
			}
			flyExpert(t, s, 1)
		}
	}
}

// Robots without neighbours, or without a graph at all.
func TestShiftWithoutLinks(t *testing.T) {
	s := start(t, robots(2), [][2]float64{{0, 0}, {9, 0}}, make([][2]float64, 2))
	for _, kind := range []graph.Shift{graph.ShiftSpectral, graph.ShiftRowStochastic} {
		if got := shiftOf(t, s, kind); got.NNZ() != 0 || got.Rows != 2 {
			t.Errorf("shift %v is %d×%d with %d entries, want 2×2 with none", kind, got.Rows, got.Cols, got.NNZ())
		}
	}
	_, err := s.Shift(graph.Shift(99))
	wantError(t, err, "no such shift")
}

// Without losses W is Metropolis. With losses its rows still sum to 1, on what
// was heard.
// Reference: Section 3, eq. (9).
func TestMixing(t *testing.T) {
	s := newSwarm(t, flocking.Default(), 1)
	got, err := s.Mixing()
	if err != nil {
		t.Fatal(err)
	}
	want, err := graph.Metropolis(s.Graph())
	if err != nil || !got.Equal(want) {
		t.Fatalf("W is not Metropolis (%v)", err)
	}

	c := flocking.Default()
	c.Faults.MessageLoss = 0.4
	lossy := newSwarm(t, c, 1)
	got, err = lossy.Mixing()
	if err != nil {
		t.Fatal(err)
	}
	for i := range got.Rows {
		col, val := got.Row(i)
		sum := 0.0
		for e, j := range col {
			sum += float64(val[e])
			if int(j) != i && val[e] != want.At(i, int(j)) {
				t.Errorf("W(%d,%d) is %v, want %v", i, j, val[e], want.At(i, int(j)))
			}
		}
		if len(col) != lossy.Heard().Degree(i)+1 || math.Abs(sum-1) > 1e-6 || got.At(i, i) < want.At(i, i) {
			t.Errorf("row %d of W has %d entries with sum %v, want %d with sum 1", i, len(col), sum, lossy.Heard().Degree(i)+1)
		}
	}
}
