package flocking_test

import (
	"errors"
	"math"
	"slices"
	"testing"

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
		t.Errorf("total %v, final %v, distance %v m, connected at %d; want 6, 2, 1 and 1",
			flight.Total(), flight.Final(), flight.MinDistance(), flight.Connected())
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
