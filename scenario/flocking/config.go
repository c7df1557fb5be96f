package flocking

import (
	"errors"
	"fmt"
	"math"
)

// Config describes a flight. Default returns the paper's.
type Config struct {
	Robots           int     `json:"robots"`             // N ≥ 1
	CommRadiusMeters float64 `json:"comm_radius_meters"` // r > 0; robots at most r apart hear each other
	SampleSeconds    float64 `json:"sample_seconds"`     // T_s > 0
	DurationSeconds  float64 `json:"duration_seconds"`   // length of a flight, at least one step; see Steps
	MaxAccelMPS2     float64 `json:"max_accel_mps2"`     // > 0, metres per second squared; bounds each component of u

	MinDistanceMeters float64 `json:"min_distance_meters"` // ≥ 0, distance of any two robots at the start
	SpacingMeters     float64 `json:"spacing_meters"`      // of the first rings, ≥ MinDistanceMeters; 0 means (r + MinDistanceMeters)/2
	MaxSpeedMPS       float64 `json:"max_speed_mps"`       // ≥ 0, metres per second; bounds each component of a robot's own initial velocity
	CommonSpeedMPS    float64 `json:"common_speed_mps"`    // ≥ 0, metres per second; bounds what velocities have in common at the start

	RepulsionRadiusMeters float64 `json:"repulsion_radius_meters"` // R ≥ 0 of the expert; 0 is an expert that lets robots collide
	CollisionMeters       float64 `json:"collision_meters"`        // ≥ 0; two robots closer than this collide; 0 counts no collisions

	// NearCap bounds each component of the feature Σ (p_i - p_j)/d⁴, which
	// reaches 1e7 when two robots nearly collide; 0 means no bound.
	//
	// Deviation: the paper does not bound features.
	NearCap float64 `json:"near_cap,omitempty"`

	Faults Faults `json:"faults,omitzero"` // what goes wrong; the zero value is nothing
}

// Default returns 50 robots that fly for 2 seconds in steps of 10 ms.
//
// Deviation: the paper says neither how far robots repel each other nor how
// robots are put "randomly in a circle". A repulsion radius of 1 m brings the
// paper's final velocity variation of the expert about, and rings with jitter
// keep the distance of 0.1 m and a connected graph. The common velocity, which
// the paper does not mention, changes neither features nor costs.
func Default() Config {
	return Config{
		Robots: 50, CommRadiusMeters: 2, SampleSeconds: 0.01, DurationSeconds: 2, MaxAccelMPS2: 10,
		MinDistanceMeters: 0.1, MaxSpeedMPS: 3, CommonSpeedMPS: 3,
		RepulsionRadiusMeters: 1, CollisionMeters: 0.1,
	}
}

// Steps returns T, the number of time steps of a flight.
func (c Config) Steps() int { return int(math.Round(c.DurationSeconds / c.SampleSeconds)) }

const (
	mostRobots = 10_000_000
	mostSteps  = 100_000_000
	largest    = 1e9 // bounds lengths, speeds and accelerations, so that no flight overflows
)

// Validate reports everything that is wrong with c.
func (c Config) Validate() error {
	var errs []error
	complain := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("flocking: "+format, args...))
	}
	if c.Robots < 1 || c.Robots > mostRobots {
		complain("robots is %d, want 1 to %d", c.Robots, mostRobots)
	}
	for _, f := range []struct {
		name     string
		value    float64
		positive bool // 0 is not allowed
	}{
		{"comm_radius_meters", c.CommRadiusMeters, true},
		{"sample_seconds", c.SampleSeconds, true},
		{"duration_seconds", c.DurationSeconds, true},
		{"max_accel_mps2", c.MaxAccelMPS2, true},
		{"min_distance_meters", c.MinDistanceMeters, false},
		{"spacing_meters", c.SpacingMeters, false},
		{"max_speed_mps", c.MaxSpeedMPS, false},
		{"common_speed_mps", c.CommonSpeedMPS, false},
		{"repulsion_radius_meters", c.RepulsionRadiusMeters, false},
		{"collision_meters", c.CollisionMeters, false},
		{"near_cap", c.NearCap, false},
	} {
		switch {
		case f.positive && !(f.value > 0 && f.value <= largest):
			complain("%s is %v, want a positive number up to %g", f.name, f.value, largest)
		case !(f.value >= 0 && f.value <= largest):
			complain("%s is %v, want a number from 0 to %g", f.name, f.value, largest)
		}
	}
	if steps := c.DurationSeconds / c.SampleSeconds; c.SampleSeconds > 0 && c.DurationSeconds > 0 && !(steps >= 0.5 && steps <= mostSteps) {
		complain("duration_seconds is %v, want 1 to %d steps of %v s", c.DurationSeconds, mostSteps, c.SampleSeconds)
	}
	if spacing := c.spacing(); spacing > 0 && spacing < c.MinDistanceMeters {
		complain("min_distance_meters is %v, want at most the spacing of the rings, %v", c.MinDistanceMeters, spacing)
	}
	errs = append(errs, c.Faults.validate(c.Robots)...)
	return errors.Join(errs...)
}

// spacing returns the distance of neighbouring rings at the start, in metres.
func (c Config) spacing() float64 {
	if c.SpacingMeters > 0 {
		return c.SpacingMeters
	}
	return (c.CommRadiusMeters + c.MinDistanceMeters) / 2
}
