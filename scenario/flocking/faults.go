package flocking

import (
	"fmt"

	"github.com/wdgnn/wdgnn/graph"
)

// Faults is what goes wrong in a flight. The zero value is nothing. Faults
// change what robots hear and do, never what is measured: velocity variation,
// collisions and connectivity are those of all robots.
type Faults struct {
	Stops []Stop `json:"stops,omitempty"` // robots of which a part stops; a robot may appear more than once

	// MessageLoss is the probability, 0 ≤ p < 1, that robot i does not hear
	// robot j at a step although they are linked. Every direction of every
	// link has a draw of its own at every step.
	MessageLoss float64 `json:"message_loss,omitempty"`

	// DelaySteps is how many steps ago the messages were sent that robots
	// have: features, links, shifts and mixing matrices are those of that
	// time. Until the first messages arrive there are no links and features
	// are 0.
	DelaySteps int `json:"delay_steps,omitempty"`
}

// Stop makes a part of one robot fail for the rest of the flight.
type Stop struct {
	Robot int  `json:"robot"`          // 0 … N-1
	Step  int  `json:"step"`           // the first time step at which it fails, 0 or more
	Part  Part `json:"part,omitempty"` // the zero value is the whole robot
}

// Part is what of a robot fails.
type Part string

// The parts of a robot.
const (
	PartRobot    Part = "robot"    // both of the parts below
	PartActuator Part = "actuator" // u = 0 whatever the controller says: the robot coasts, and goes on talking
	PartRadio    Part = "radio"    // the robot hears nobody and nobody hears it; it goes on flying by its controller
)

// Counts says what faults have done up to the current time.
type Counts struct {
	Messages  int `json:"messages"`  // sent from robot to robot, one per linked pair, direction and step
	Lost      int `json:"lost"`      // of these, by MessageLoss
	Muted     int `json:"muted"`     // not sent because of a broken radio at one of the ends
	Blind     int `json:"blind"`     // time steps at which no message had arrived yet
	Idle      int `json:"idle"`      // actions of robots whose actuator was out
	Saturated int `json:"saturated"` // components of actions beyond ±MaxAccelMPS2; no fault, and none of the expert, who clamps its own
}

const mostDelay = 10_000

func (f Faults) validate(robots int) (errs []error) {
	complain := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("flocking: faults: "+format, args...))
	}
	for k, stop := range f.Stops {
		if stop.Robot < 0 || stop.Robot >= robots {
			complain("stop %d is of robot %d, want 0 to %d", k, stop.Robot, robots-1)
		}
		if stop.Step < 0 {
			complain("stop %d is at step %d, want 0 or more", k, stop.Step)
		}
		switch stop.Part {
		case "", PartRobot, PartActuator, PartRadio:
		default:
			complain("stop %d is of the %q, want %q, %q or %q", k, stop.Part, PartRobot, PartActuator, PartRadio)
		}
	}
	if !(f.MessageLoss >= 0 && f.MessageLoss < 1) {
		complain("message_loss is %v, want 0 ≤ p < 1", f.MessageLoss)
	}
	if f.DelaySteps < 0 || f.DelaySteps > mostDelay {
		complain("delay_steps is %d, want 0 to %d", f.DelaySteps, mostDelay)
	}
	return errs
}

// Counts returns what faults have done so far.
func (s *Swarm) Counts() Counts { return s.counts }

// fail stops what is due at the current time.
func (s *Swarm) fail() {
	for _, stop := range s.config.Faults.Stops {
		if stop.Step != s.time {
			continue
		}
		if stop.Part != PartRadio {
			s.idle[stop.Robot] = true
		}
		if stop.Part != PartActuator {
			s.mute[stop.Robot] = true
		}
	}
	if s.time < s.config.Faults.DelaySteps {
		s.counts.Blind++
	}
}

// radios returns the links of f between robots whose radios work.
func (s *Swarm) radios(f *frame) *graph.Graph {
	if len(s.config.Faults.Stops) == 0 {
		return f.near
	}
	linked := f.builders[1].Keep(f.near, false, func(i, j int) bool { return !s.mute[i] && !s.mute[j] })
	s.counts.Muted += f.near.Adjacency().NNZ() - linked.Adjacency().NNZ()
	return linked
}

// messages returns the links of f whose messages arrive.
func (s *Swarm) messages(f *frame) *graph.Graph {
	sent := f.linked.Adjacency().NNZ()
	s.counts.Messages += sent
	if s.losses == nil {
		return f.linked
	}
	p := s.config.Faults.MessageLoss
	heard := f.builders[2].Keep(f.linked, true, func(i, j int) bool { return s.losses.Float64() >= p })
	s.counts.Lost += sent - heard.Adjacency().NNZ()
	return heard
}
