package flocking

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/wdgnn/wdgnn/graph"
)

// startTries bounds how often New draws positions before it gives up.
const startTries = 1000

// New draws the initial conditions of a flight: positions on rings, redrawn
// until all robots are MinDistanceMeters apart and the communication graph is
// connected, and velocities
//
//	v_i = own_i + common        own: uniform on ±MaxSpeedMPS, common: uniform on ±CommonSpeedMPS
//
// Faults draw from a generator of their own that is seeded last, so that
// flights with and without them begin alike.
func New(c Config, rng *rand.Rand) (*Swarm, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	position, err := scatter(c, rng)
	if err != nil {
		return nil, err
	}
	velocity := make([][2]float64, c.Robots)
	common := [2]float64{uniform(rng, c.CommonSpeedMPS), uniform(rng, c.CommonSpeedMPS)}
	for i := range velocity {
		velocity[i] = [2]float64{uniform(rng, c.MaxSpeedMPS) + common[0], uniform(rng, c.MaxSpeedMPS) + common[1]}
	}
	return newSwarm(c, position, velocity, rng), nil
}

// Start begins a flight at the given positions, in metres, and velocities, in
// metres per second, both of which it copies. Config fields that describe how
// New draws them play no part. The generator is for the faults and may be nil
// if there are none that draw.
//
// Wrong numbers of robots, values that are not finite or beyond 1e9, and two
// robots in one place are errors. The start need not be connected.
func Start(c Config, position, velocity [][2]float64, rng *rand.Rand) (*Swarm, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	var errs []error
	for _, v := range []struct {
		name   string
		values [][2]float64
	}{{"positions", position}, {"velocities", velocity}} {
		if len(v.values) != c.Robots {
			errs = append(errs, fmt.Errorf("flocking: %d %s for %d robots", len(v.values), v.name, c.Robots))
		}
		for i, x := range v.values {
			if !(math.Abs(x[0]) <= largest && math.Abs(x[1]) <= largest) {
				errs = append(errs, fmt.Errorf("flocking: %s: robot %d has %v, want finite numbers up to %g", v.name, i, x, largest))
			}
		}
	}
	errs = append(errs, coincident(position))
	if rng == nil && c.Faults.MessageLoss > 0 {
		errs = append(errs, errors.New("flocking: message loss needs a generator"))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return newSwarm(c, append([][2]float64(nil), position...), append([][2]float64(nil), velocity...), rng), nil
}

// coincident reports the first two robots that are in one place.
func coincident(position [][2]float64) error {
	at := make(map[[2]float64]int, len(position))
	for i, p := range position {
		if j, ok := at[p]; ok {
			return fmt.Errorf("flocking: robots %d and %d are both at (%v, %v) m; move one of them", j, i, p[0], p[1])
		}
		at[p] = i
	}
	return nil
}

// scatter draws positions until they are far enough apart and connected.
func scatter(c Config, rng *rand.Rand) ([][2]float64, error) {
	position := make([][2]float64, c.Robots)
	var (
		near, links graph.Builder
		parts       partition
		tight, cut  int
	)
	for range startTries {
		rings(position, c.spacing(), c.MinDistanceMeters, rng)
		if c.MinDistanceMeters > 0 {
			g, err := near.Geometric(position, c.MinDistanceMeters)
			if err != nil {
				return nil, fmt.Errorf("flocking: %w", err)
			}
			if g.Edges() > 0 {
				tight++
				continue
			}
		}
		g, err := links.Geometric(position, c.CommRadiusMeters)
		if err != nil {
			return nil, fmt.Errorf("flocking: %w", err)
		}
		if parts.count(g) == 1 {
			return position, nil
		}
		cut++
	}
	return nil, fmt.Errorf("flocking: none of %d starts will do: in %d two robots were within %v m of each other, %d were not connected; "+
		"try a smaller min_distance_meters or another spacing_meters", startTries, tight, c.MinDistanceMeters, cut)
}

// rings overwrites position with a start. Ring m = 1, 2, … has radius
// m·spacing and ⌊2πm⌋ slots at equal angles, which are filled from the inside.
// A robot leaves its slot by a uniform jitter of up to (spacing - apart)/2
// metres along the radius and as much along the ring.
//
// Two robots of one ring that move towards each other and inwards can come a
// little closer than apart; robots of different rings cannot.
func rings(position [][2]float64, spacing, apart float64, rng *rand.Rand) {
	jitter := (spacing - apart) / 2
	ring, slot, slots := 0, 0, 0
	for i := range position {
		if slot == slots {
			ring, slot = ring+1, 0
			slots = int(2 * math.Pi * float64(ring))
		}
		center := float64(float64(ring) * spacing)
		radius := center + uniform(rng, jitter)
		angle := 2*math.Pi*float64(slot)/float64(slots) + uniform(rng, jitter/center)
		sin, cos := math.Sincos(angle)
		position[i] = [2]float64{radius * cos, radius * sin}
		slot++
	}
}

// uniform draws from -bound ≤ x < bound.
func uniform(rng *rand.Rand, bound float64) float64 {
	return float64(bound * (2*float64(rng.Float64()) - 1))
}
