package flocking_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/scenario/flocking"
)

// flights lets the expert fly 40 trajectories and returns the mean total and
// final velocity variation.
func flights(t *testing.T, c flocking.Config, seed uint64) (total, final float64) {
	t.Helper()
	const trajectories = 40
	for k := range trajectories {
		s, err := flocking.New(c, random.Stream(seed, "trajectory", k))
		if err != nil {
			t.Fatal(err)
		}
		flight, err := flocking.Fly(s, flocking.Expert)
		if err != nil {
			t.Fatal(err)
		}
		total += flight.Total() / trajectories
		final += flight.Final() / trajectories
		if len(flight.Variation) != 200 || flight.Components[0] != 1 {
			t.Errorf("trajectory %d has %d steps and starts in %d parts, want 200 and 1", k, len(flight.Variation), flight.Components[0])
		}
	}
	return total, final
}

// The optimal controller's row of Table 2 is 52 ± 2 and 0.0035 ± 0.0001.
// Reference: Section 6.2, Table 2.
func TestExpertIsThePapers(t *testing.T) {
	for seed := range uint64(3) {
		total, final := flights(t, flocking.Default(), seed)
		if !(total > 49.5 && total < 54) {
			t.Errorf("seed %d: total velocity variation is %v, want 49.5 to 54", seed, total)
		}
		if !(final > 0.0032 && final < 0.0039) {
			t.Errorf("seed %d: final velocity variation is %v, want 0.0032 to 0.0039", seed, final)
		}
	}
}

// Robots that repel each other at half a metre settle within the flight.
func TestShortRepulsionSettles(t *testing.T) {
	c := flocking.Default()
	c.RepulsionRadiusMeters = 0.5
	total, final := flights(t, c, 1)
	if !(total > 46 && total < 52) || final > 1e-12 {
		t.Errorf("velocity variation is %v in all and %v in the end, want about 49 and 0", total, final)
	}
}

// A flight records the states before the actions, the initial one included.
func TestFlight(t *testing.T) {
	c := robots(3)
	c.SampleSeconds, c.DurationSeconds = 1, 3
	c.CommRadiusMeters, c.CollisionMeters = 5, 1
	s := start(t, c, [][2]float64{{0, 0}, {4, 0}, {8, 0}}, [][2]float64{{0, 0}, {-3, 0}, {0, 0}})
	coast := func(accel [][2]float64, _ *flocking.Swarm) error { clear(accel); return nil }
	flight, err := flocking.Fly(s, coast) // robot 1 is at 4, 1, -2
	if err != nil {
		t.Fatal(err)
	}
	if got, want := flight.Components, []int{1, 2, 2}; !slices.Equal(got, want) {
		t.Errorf("components are %v, want %v", got, want)
	}
	if got, want := flight.Closest, []float64{4, 1, 2}; !slices.Equal(got, want) {
		t.Errorf("closest distances are %v m, want %v", got, want)
	}
	if got := flight.Collisions; !slices.Equal(got, []int{0, 0, 0}) || flight.Crashed() != 0 {
		t.Errorf("collisions are %v, want none: 1 m is not closer than 1 m", got)
	}
	if flight.Total() != 6 || flight.Final() != 2 || flight.MinDistance() != 1 || flight.Connected() != 1 {
		t.Errorf("total %v, final %v, distance %v m, connected at %d; want 6, 2, 1 and 1", flight.Total(), flight.Final(), flight.MinDistance(), flight.Connected())
	}
	if s.Time() != 3 {
		t.Errorf("the flight ends at step %d, want 3", s.Time())
	}
	var none flocking.Flight
	if none.Final() != 0 || none.Total() != 0 || none.MinDistance() != 0 {
		t.Error("a flight that saw nothing reports something")
	}
}

// An error of the controller ends the flight and says when.
func TestFlyReportsTheController(t *testing.T) {
	broken := errors.New("broken")
	control := func(accel [][2]float64, s *flocking.Swarm) error {
		if s.Time() == 7 {
			return broken
		}
		return flocking.Expert(accel, s)
	}
	_, err := flocking.Fly(newSwarm(t, robots(5), 1), control)
	if !errors.Is(err, broken) {
		t.Errorf("got %v, want the controller's error", err)
	}
	wantError(t, err, "step 7")
	nan := func(accel [][2]float64, _ *flocking.Swarm) error { accel[0][0] = math.NaN(); return nil }
	_, err = flocking.Fly(newSwarm(t, robots(5), 1), nan)
	wantError(t, err, "step 0", "robot 0")
}

// Row t·N+i of a trajectory is robot i at time t: what it knew, and what the
// expert would have done, whoever flies.
func TestRecord(t *testing.T) {
	c := robots(20)
	c.DurationSeconds = 0.1
	half := func(accel [][2]float64, s *flocking.Swarm) error {
		s.Expert(accel)
		for i := range accel {
			accel[i][0] /= 2
		}
		return nil
	}
	for name, control := range map[string]flocking.Controller{"expert": flocking.Expert, "other": half} {
		tr, err := flocking.Record(newSwarm(t, c, 1), graph.ShiftSpectral, control)
		if err != nil {
			t.Fatal(err)
		}
		if tr.Signals.Rows != 200 || tr.Targets.Rows != 200 || len(tr.Shifts) != 10 || len(tr.Flight.Variation) != 10 {
			t.Fatalf("%s: %d signals, %d targets, %d shifts, want 200, 200 and 10", name, tr.Signals.Rows, tr.Targets.Rows, len(tr.Shifts))
		}
		s, accel, want := newSwarm(t, c, 1), make([][2]float64, 20), make([][2]float64, 20)
		for k := range 10 {
			s.Expert(want)
			for i, x := range s.Features() {
				for f, v := range x {
					if got := tr.Signals.At(20*k+i, f); got != float32(v) {
						t.Fatalf("%s: step %d, robot %d, feature %d: got %v, want %v", name, k, i, f, got, v)
					}
				}
				for d, u := range want[i] {
					if got := tr.Targets.At(20*k+i, d); got != float32(u) {
						t.Fatalf("%s: step %d, robot %d: target %v, want %v", name, k, i, got, u)
					}
				}
			}
			if got := shiftOf(t, s, graph.ShiftSpectral); !tr.Shifts[k].Equal(got) {
				t.Errorf("%s: step %d: shifts differ", name, k)
			}
			if err := control(accel, s); err != nil {
				t.Fatal(err)
			}
			step(t, s, accel)
		}
		if sample := tr.Sample(); sample.Shift.Rows != 200 || sample.Signal.Rows != 200 {
			t.Errorf("%s: the sample has %d rows on a shift of %d, want 200", name, sample.Signal.Rows, sample.Shift.Rows)
		}
	}
	_, err := flocking.Record(newSwarm(t, c, 1), graph.Shift(99), flocking.Expert)
	wantError(t, err, "no such shift")
}
