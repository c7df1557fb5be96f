package flocking

import "fmt"

// Flight records what a flight showed at every time step, t = 0 … T-1: the
// state before the step's action, the initial state included. The zero Flight
// is ready to use.
type Flight struct {
	Variation  []float64 `json:"variation"`      // velocity variation
	Components []int     `json:"components"`     // parts into which the communication graph falls
	Collisions []int     `json:"collisions"`     // pairs closer than CollisionMeters
	Closest    []float64 `json:"closest_meters"` // distance of the two closest robots; see Swarm.Closest
	Counts     Counts    `json:"counts"`         // what faults did
}

// Watch adds the present state of s.
func (f *Flight) Watch(s *Swarm) {
	collisions, closest := s.Closest()
	f.Variation = append(f.Variation, s.VelocityVariation())
	f.Components = append(f.Components, s.Components())
	f.Collisions = append(f.Collisions, collisions)
	f.Closest = append(f.Closest, closest)
	f.Counts = s.Counts()
}

// Total returns the sum of the velocity variations.
//
// Deviation: the paper sums over t = 1 … T. Its numbers come out if the
// initial state is counted and the state after the last action is not.
func (f *Flight) Total() float64 {
	sum := 0.0
	for _, v := range f.Variation {
		sum += v
	}
	return sum
}

// Final returns the last velocity variation, that of t = T-1; 0 if there is
// none.
func (f *Flight) Final() float64 {
	if len(f.Variation) == 0 {
		return 0
	}
	return f.Variation[len(f.Variation)-1]
}

// Connected returns at how many of the recorded steps the communication graph
// was connected.
func (f *Flight) Connected() int {
	steps := 0
	for _, parts := range f.Components {
		if parts == 1 {
			steps++
		}
	}
	return steps
}

// MinDistance returns the smallest of Closest, in metres; 0 if there is none.
func (f *Flight) MinDistance() float64 {
	if len(f.Closest) == 0 {
		return 0
	}
	least := f.Closest[0]
	for _, d := range f.Closest {
		least = min(least, d)
	}
	return least
}

// Crashed returns at how many of the recorded steps two robots or more
// collided.
func (f *Flight) Crashed() int {
	steps := 0
	for _, pairs := range f.Collisions {
		if pairs > 0 {
			steps++
		}
	}
	return steps
}

// Controller writes an acceleration for every robot, in metres per second
// squared, to accel. It reads from s what it may know.
type Controller func(accel [][2]float64, s *Swarm) error

// Expert is the Controller of Swarm.Expert.
func Expert(accel [][2]float64, s *Swarm) error {
	s.Expert(accel)
	return nil
}

// Fly lets control fly s until time T and returns what it saw on the way.
func Fly(s *Swarm, control Controller) (*Flight, error) {
	flight, accel := new(Flight), make([][2]float64, len(s.position))
	for s.time < s.config.Steps() {
		flight.Watch(s)
		if err := control(accel, s); err != nil {
			return nil, fmt.Errorf("flocking: step %d: %w", s.time, err)
		}
		if err := s.Step(accel); err != nil {
			return nil, err
		}
	}
	flight.Counts = s.Counts()
	return flight, nil
}
