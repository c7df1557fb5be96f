package flock

import (
	"context"
	"errors"
	"fmt"

	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/scenario/flocking"
)

// Online says how a controller learns in flight.
type Online string

// The ways to learn in flight.
const (
	OnlineOff         Online = "off"
	OnlineCentralized Online = "centralized" // eq. (7), from the velocity variation of all robots
	OnlineDistributed Online = "distributed" // eq. (9), each robot from its neighbourhood
)

// cost returns what is learned from; empty if nothing is.
func (o Online) cost() (flocking.Cost, error) {
	switch o {
	case "", OnlineOff:
		return "", nil
	case OnlineCentralized:
		return flocking.CostVariation, nil
	case OnlineDistributed:
		return flocking.CostNeighborhood, nil
	}
	return "", fmt.Errorf("flock: online is %q, want %s, %s or %s", o, OnlineOff, OnlineCentralized, OnlineDistributed)
}

// Plan describes flights of one controller.
type Plan struct {
	World   flocking.Config `json:"world"` // its NearCap is the controller's
	Seed    uint64          `json:"seed"`  // root of the starts and of what goes wrong
	Flights int             `json:"flights"`

	Online Online  `json:"online"`          // empty means off
	Gamma  float64 `json:"gamma,omitempty"` // γ > 0; not read if nothing is learned
	Clip   float64 `json:"clip,omitempty"`  // largest norm of a gradient, 0 for any
	Carry  bool    `json:"carry,omitempty"` // a flight begins with the taps that the one before ended with
}

// Validate reports everything that is wrong with p.
func (p *Plan) Validate() error {
	cost, err := p.Online.cost()
	errs := []error{p.World.Validate(), err}
	if p.Flights < 1 {
		errs = append(errs, fmt.Errorf("flock: flights is %d, want at least 1", p.Flights))
	}
	if cost != "" && !(p.Gamma > 0 && p.Gamma <= 1e6) {
		errs = append(errs, fmt.Errorf("flock: gamma is %v, want a positive number up to 1e6", p.Gamma))
	}
	if !(p.Clip >= 0) {
		errs = append(errs, fmt.Errorf("flock: clip is %v, want 0 or more", p.Clip))
	}
	if p.Carry && cost == "" {
		errs = append(errs, errors.New("flock: carry keeps what is learned in flight, and nothing is: "+
			"choose centralized or distributed learning"))
	}
	for _, stop := range p.World.Faults.Stops {
		if steps := p.World.Steps(); stop.Step >= steps {
			errs = append(errs, fmt.Errorf("flock: robot %d stops at step %d, and a flight has %d steps of %v s",
				stop.Robot, stop.Step, steps, p.World.SampleSeconds))
		}
	}
	return errors.Join(errs...)
}

// Instant is one step of a flight, before the robots move. Swarm and Learner are
// for looking at and change with the next step.
type Instant struct {
	Flight  int // from 0
	Swarm   *flocking.Swarm
	Learner online.Learner
	Expert  float64 // velocity variation of the expert at the same time
}

// Fly flies the plan. Watch, if not nil, sees every step of the learned
// controller; an error of its own ends the flight.
//
// Beside the controller the expert flies the same starts and, if there is
// learning, so does the controller as trained. Robots stop and messages are
// lost for all of them alike; the expert sees everything and only feels that
// robots stop.
func (p Plan) Fly(ctx context.Context, c *Controller, watch func(Instant) error) (*Result, error) {
	if err := errors.Join(p.Validate(), c.check()); err != nil {
		return nil, err
	}
	cost, err := p.Online.cost()
	if err != nil {
		return nil, err
	}
	if p.Online == "" {
		p.Online = OnlineOff
	}
	p.World.NearCap = c.NearCap
	r := &Result{Plan: p, Shift: c.Shift.String(), Learned: Row{Name: "learned"}, Expert: Row{Name: "expert"}}
	learner, err := c.pilot(cost, p.Gamma, p.Clip).Learner(p.World.Robots)
	if err != nil {
		return nil, err
	}
	if cost != "" {
		r.Learned.Name, r.Frozen = "learning in flight", &Row{Name: "as trained"}
	}
	for k := range p.Flights {
		if err := p.fly(ctx, c, r, learner, k, watch); err != nil {
			return nil, fmt.Errorf("flight %d: %w", k+1, err)
		}
		r.Drift = learner.Drift()
		if !p.Carry {
			if learner, err = c.pilot(cost, p.Gamma, p.Clip).Learner(p.World.Robots); err != nil {
				return nil, err
			}
		} else if err := land(learner); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// fly flies start k with every controller.
func (p Plan) fly(ctx context.Context, c *Controller, r *Result, l online.Learner, k int, watch func(Instant) error) error {
	s, err := p.start(k)
	if err != nil {
		return err
	}
	expert, err := flocking.Fly(s, flocking.Expert)
	if err != nil {
		return err
	}
	r.Expert.add(expert, 0)
	var frozen *flocking.Flight
	if r.Frozen != nil {
		if s, err = p.start(k); err != nil {
			return err
		}
		pilot := c.pilot("", 0, 0)
		trained, err := pilot.Learner(p.World.Robots)
		if err != nil {
			return err
		}
		flown, err := pilot.Fly(ctx, s, trained, nil)
		if err != nil {
			return fmt.Errorf("as trained: %w", err)
		}
		frozen = flown.Flight
		r.Frozen.add(frozen, 0)
	}
	if s, err = p.start(k); err != nil {
		return err
	}
	var tape *Recording
	if k == p.Flights-1 {
		tape = newRecording(p.World)
	}
	cost, err := p.Online.cost()
	if err != nil {
		return err
	}
	flown, err := c.pilot(cost, p.Gamma, p.Clip).Fly(ctx, s, l, func(s *flocking.Swarm, _ mat.Dense) error {
		if tape != nil {
			tape.add(s, l)
		}
		if watch == nil {
			return nil
		}
		return watch(Instant{Flight: k, Swarm: s, Learner: l, Expert: expert.Variation[s.Time()]})
	})
	if err != nil {
		return err
	}
	r.Learned.add(flown.Flight, flown.Refused)
	if tape != nil {
		tape.Learned, tape.Expert, tape.Frozen = flown.Flight, expert, frozen
		r.Recording = tape
	}
	return nil
}

// start returns the swarm at the start of flight k.
func (p Plan) start(k int) (*flocking.Swarm, error) {
	return flocking.New(p.World, random.Stream(p.Seed, "flock start", k))
}
