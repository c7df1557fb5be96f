package flocking_test

import (
	"math"
	"slices"
	"testing"

	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/scenario/flocking"
)

// Swarms of any size start connected, with the minimal distance, and at rest
// relative to each other within the speed.
// Reference: Section 6.2, Dataset.
func TestInitialConditions(t *testing.T) {
	for _, n := range []int{1, 2, 3, 7, 25, 50, 51, 200, 1000, 10_000} {
		c := robots(n)
		for seed := range uint64(3) {
			s := newSwarm(t, c, seed)
			if got := s.Components(); got != 1 {
				t.Errorf("%d robots, seed %d: %d components, want 1", n, seed, got)
			}
			collisions, closest := s.Closest()
			if collisions != 0 || closest < c.MinDistanceMeters {
				t.Errorf("%d robots, seed %d: %d pairs closer than 0.1 m, the closest %v m", n, seed, collisions, closest)
			}
			var lo, hi [2]float64
			for i, v := range s.Velocities() {
				for d := range v {
					if i == 0 || v[d] < lo[d] {
						lo[d] = v[d]
					}
					if i == 0 || v[d] > hi[d] {
						hi[d] = v[d]
					}
				}
			}
			for d := range lo {
				if hi[d]-lo[d] > 6 || lo[d] < -6 || hi[d] > 6 {
					t.Errorf("%d robots, seed %d: velocities from %v to %v m/s, want them 6 apart at most and within ±6", n, seed, lo[d], hi[d])
				}
			}
		}
	}
}

// Ring m has radius 1.05 m and ⌊2πm⌋ slots: 6, 12, 18, 25, …
func TestRings(t *testing.T) {
	s := newSwarm(t, robots(100), 1)
	for i, p := range s.Positions() {
		ring, slot, slots := 1, i, 6
		for slot >= slots {
			slot -= slots
			ring++
			slots = int(2 * math.Pi * float64(ring))
		}
		radius, angle := math.Hypot(p[0], p[1]), math.Atan2(p[1], p[0])
		center := 1.05 * float64(ring)
		off := math.Remainder(angle-2*math.Pi*float64(slot)/float64(slots), 2*math.Pi)
		if math.Abs(radius-center) > 0.475+1e-9 || math.Abs(off)*center > 0.475+1e-9 {
			t.Errorf("robot %d is at radius %v and %v rad from slot %d of ring %d, want it within 0.475 m both ways", i, radius, off, slot, ring)
		}
	}
}

// Uniform velocities on ±3 have variance 2·9/3 = 6, of which N robots show
// (N-1)/N on average. The common velocity does not matter.
func TestInitialVariation(t *testing.T) {
	const draws = 400
	mean := 0.0
	for seed := range uint64(draws) {
		mean += newSwarm(t, flocking.Default(), seed).VelocityVariation() / draws
	}
	if want := 6.0 * 49 / 50; math.Abs(mean-want) > 0.1 {
		t.Errorf("mean initial velocity variation is %v, want about %v", mean, want)
	}
	c := flocking.Default()
	still := c
	still.CommonSpeedMPS = 0
	if a, b := newSwarm(t, c, 1).VelocityVariation(), newSwarm(t, still, 1).VelocityVariation(); !closeTo(a, b, 1e-12) {
		t.Errorf("velocity variation is %v with a common velocity, want %v as without", a, b)
	}
}

// One seed is one flight, to the last bit; faults do not change its start.
func TestSameSeedSameBits(t *testing.T) {
	c := flocking.Default()
	c.Faults = flocking.Faults{MessageLoss: 0.2, DelaySteps: 1, Stops: []flocking.Stop{{Robot: 4, Step: 3}}}
	a, b := newSwarm(t, c, 7), newSwarm(t, c, 7)
	plain := newSwarm(t, flocking.Default(), 7)
	if !slices.Equal(a.Positions(), plain.Positions()) || !slices.Equal(a.Velocities(), plain.Velocities()) {
		t.Error("a flight with faults starts elsewhere than one without")
	}
	flyExpert(t, a, 50)
	flyExpert(t, b, 50)
	if !slices.Equal(a.Positions(), b.Positions()) || !slices.Equal(a.Features(), b.Features()) || a.Counts() != b.Counts() {
		t.Error("two flights of one seed differ")
	}
	other := newSwarm(t, c, 8)
	if slices.Equal(other.Velocities(), plain.Velocities()) {
		t.Error("two seeds give one start")
	}
}

func TestStartThatCannotBe(t *testing.T) {
	c := flocking.Default()
	c.SpacingMeters = 10 // robots of neighbouring rings never hear each other
	_, err := flocking.New(c, random.Stream(1, "swarm"))
	wantError(t, err, "none of 1000 starts", "1000 were not connected", "spacing_meters")
}

func TestStartRefuses(t *testing.T) {
	c := robots(2)
	two := [][2]float64{{0, 0}, {1, 0}}
	for _, bad := range []struct {
		position, velocity [][2]float64
		want               string
	}{
		{two[:1], two, "1 positions for 2 robots"},
		{two, nil, "0 velocities for 2 robots"},
		{[][2]float64{{0, 0}, {math.NaN(), 0}}, two, "positions: robot 1 has [NaN 0]"},
		{two, [][2]float64{{0, 0}, {0, 1e10}}, "velocities: robot 1 has [0 1e+10]"},
		{[][2]float64{{3, 4}, {3, 4}}, two, "robots 0 and 1 are both at (3, 4) m"},
	} {
		_, err := flocking.Start(c, bad.position, bad.velocity, nil)
		wantError(t, err, bad.want)
	}
	c.Faults.MessageLoss = 0.5
	_, err := flocking.Start(c, two, two, nil)
	wantError(t, err, "message loss needs a generator")
}

// Start copies its arguments.
func TestStartCopies(t *testing.T) {
	position, velocity := [][2]float64{{0, 0}, {1, 0}}, [][2]float64{{1, 0}, {1, 0}}
	s := start(t, robots(2), position, velocity)
	position[0], velocity[0] = [2]float64{9, 9}, [2]float64{9, 9}
	if s.Positions()[0] != [2]float64{} || s.Velocities()[0] != [2]float64{1, 0} {
		t.Errorf("robot 0 is at %v and flies %v, want the start that was given", s.Positions()[0], s.Velocities()[0])
	}
}
