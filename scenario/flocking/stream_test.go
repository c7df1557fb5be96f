package flocking_test

import (
	"math"
	"slices"
	"testing"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/scenario/flocking"
)

// brake writes the action of robots that adapt to what they hear.
func brake(u, x mat.Dense) {
	for i := range x.Rows {
		u.Set(i, 0, -x.At(i, 0)+x.At(i, 4))
		u.Set(i, 1, -x.At(i, 1)+x.At(i, 5))
	}
}

func newStream(t *testing.T, c flocking.Config, cost flocking.Cost) *flocking.Stream {
	t.Helper()
	st, err := flocking.NewStream(newSwarm(t, c, 2), graph.ShiftSpectral, cost)
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// A stream is the flight that Fly makes of the same controller, and the cost of
// an action is what the next state shows.
// Reference: Section 6.2, Online learning.
func TestStreamIsFly(t *testing.T) {
	c := robots(20)
	c.DurationSeconds = 0.3
	x, u := mat.NewDense(20, flocking.Features, nil), mat.NewDense(20, 2, nil)
	want, err := flocking.Fly(newSwarm(t, c, 2), func(accel [][2]float64, s *flocking.Swarm) error {
		s.Signal(x)
		brake(u, x)
		for i := range accel {
			accel[i] = [2]float64{float64(u.At(i, 0)), float64(u.At(i, 1))}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, cost := range []flocking.Cost{flocking.CostVariation, flocking.CostNeighborhood, flocking.CostClearance} {
		st := newStream(t, c, cost)
		var costs []float64
		for sample := range st.Samples() {
			if sample.Time != len(costs) || sample.Shift.Rows != 20 || (sample.Mixing != nil) != (cost != flocking.CostVariation) {
				t.Fatalf("%s: sample %d has time %d, a shift of %d rows and mixing %v", cost, len(costs), sample.Time, sample.Shift.Rows, sample.Mixing)
			}
			brake(u, sample.Signal)
			j := st.Reveal(u)
			costs = append(costs, j.Eval(mat.Dense{}, u))
			if _, local := j.(loss.Local); local != (cost != flocking.CostVariation) {
				t.Errorf("%s: the cost is %T", cost, j)
			}
		}
		got := st.Flight()
		if st.Err() != nil || !slices.Equal(got.Variation, want.Variation) || got.Counts != want.Counts {
			t.Errorf("%s: the stream flies differently (%v)", cost, st.Err())
		}
		if cost == flocking.CostVariation {
			for k, j := range costs[:len(costs)-1] {
				if !closeTo(j, got.Variation[k+1], 1e-14) {
					t.Errorf("the action of step %d costs %v, want %v", k, j, got.Variation[k+1])
				}
			}
		}
	}
}

// Each step has a shift of its own, so that a learner may tell by the pointer
// whether it has seen it before.
func TestShiftsAreTold(t *testing.T) {
	for kind := graph.ShiftAdjacency; kind <= graph.ShiftRowStochastic; kind++ {
		s := newSwarm(t, robots(10), 1)
		var last *mat.CSR
		for range 5 {
			shift := shiftOf(t, s, kind)
			if shift == last {
				t.Fatalf("shift %v: step %d has that of the step before", kind, s.Time())
			}
			last = shift
			flyExpert(t, s, 1)
		}
	}
}

func TestStreamRefuses(t *testing.T) {
	_, err := flocking.NewStream(newSwarm(t, robots(3), 1), graph.ShiftSpectral, "price")
	wantError(t, err, `no cost is called "price"`, "variation")

	st := newStream(t, robots(3), flocking.CostVariation)
	for range st.Samples() {
	}
	wantError(t, st.Err(), "not given an action")

	st = newStream(t, robots(3), flocking.CostNeighborhood)
	bad := mat.NewDense(3, 2, nil)
	bad.Set(2, 0, float32(math.NaN()))
	for range st.Samples() {
		st.Reveal(bad)
	}
	wantError(t, st.Err(), "step 0", "robot 2")
	wantPanic(t, "Reveal", func() { st.Reveal(mat.NewDense(2, 2, nil)) })

	st, err = flocking.NewStream(newSwarm(t, robots(3), 1), graph.Shift(99), flocking.CostVariation)
	if err != nil {
		t.Fatal(err)
	}
	for range st.Samples() {
		t.Error("a sample without a shift")
	}
	wantError(t, st.Err(), "no such shift")

	for range newStream(t, robots(3), flocking.CostVariation).Samples() {
		break // a learner may stop early
	}
}
