package flock

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/rule"
	"github.com/wdgnn/wdgnn/scenario/flocking"
)

// Online says how a controller learns in flight.
type Online string

// The ways to learn in flight.
const (
	OnlineOff         Online = "off"
	OnlineCentralized Online = "centralized" // eq. (7), from what all robots pay together
	OnlineDistributed Online = "distributed" // eq. (9), each robot from what it pays itself
)

// Cost says what is learned from in flight.
type Cost string

// The costs.
const (
	CostDistances  Cost = "distances"  // velocities around a robot and what it comes too close to; see flocking.Clearance
	CostVelocities Cost = "velocities" // how much velocities differ, as in the paper
)

// Validate reports a cost that there is not; empty means CostDistances.
func (c Cost) Validate() error {
	if c != "" && c != CostDistances && c != CostVelocities {
		return fmt.Errorf("flock: cost is %q, want %s or %s", c, CostDistances, CostVelocities)
	}
	return nil
}

// OfRobots returns the cost as every robot pays it.
func (c Cost) OfRobots() flocking.Cost {
	if c == CostVelocities {
		return flocking.CostNeighborhood
	}
	return flocking.CostClearance
}

// Plan describes flights of one controller.
type Plan struct {
	World   flocking.Config `json:"world"` // its NearCap is the controller's
	Seed    uint64          `json:"seed"`  // root of the starts and of what goes wrong
	Flights int             `json:"flights"`

	Online Online  `json:"online"`          // empty means off
	Cost   Cost    `json:"cost,omitempty"`  // empty means CostDistances; not read if nothing is learned
	Gamma  float64 `json:"gamma,omitempty"` // γ > 0; not read if nothing is learned
	Clip   float64 `json:"clip,omitempty"`  // largest norm of a gradient, 0 for any
	Carry  bool    `json:"carry,omitempty"` // a flight begins with the taps that the one before ended with

	// Ungated lets robots fly by what they learned whatever it costs. From
	// velocities, as in the paper, they always do.
	Ungated bool `json:"ungated,omitempty"`
}

// learns says whether anything is learned in flight.
func (p *Plan) learns() bool { return p.Online != "" && p.Online != OnlineOff }

// gated says whether robots have gates, see rule.Gate.
func (p *Plan) gated() bool { return p.learns() && p.Cost != CostVelocities && !p.Ungated }

// cost returns what is learned from.
func (p *Plan) cost() flocking.Cost {
	if p.Cost == CostVelocities && p.Online == OnlineCentralized {
		return flocking.CostVariation
	}
	return p.Cost.OfRobots()
}

// Validate reports everything that is wrong with p.
func (p *Plan) Validate() error {
	errs := []error{p.World.Validate(), p.Cost.Validate()}
	complain := func(format string, args ...any) { errs = append(errs, fmt.Errorf("flock: "+format, args...)) }
	switch p.Online {
	case "", OnlineOff, OnlineCentralized, OnlineDistributed:
	default:
		complain("online is %q, want %s, %s or %s", p.Online, OnlineOff, OnlineCentralized, OnlineDistributed)
	}
	if p.Flights < 1 {
		complain("flights is %d, want at least 1", p.Flights)
	}
	if p.learns() && !(p.Gamma > 0 && p.Gamma <= 1e6) {
		complain("gamma is %v, want a positive number up to 1e6", p.Gamma)
	}
	if !(p.Clip >= 0) {
		complain("clip is %v, want 0 or more", p.Clip)
	}
	if p.Carry && !p.learns() {
		complain("carry keeps what is learned in flight, and nothing is: choose centralized or distributed learning")
	}
	for _, stop := range p.World.Faults.Stops {
		if steps := p.World.Steps(); stop.Step >= steps {
			complain("robot %d stops at step %d, and a flight has %d steps of %v s", stop.Robot, stop.Step, steps, p.World.SampleSeconds)
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
	if p.Online == "" {
		p.Online = OnlineOff
	}
	if p.learns() {
		p.Cost = cmp.Or(p.Cost, CostDistances)
	} else {
		p.Cost = ""
	}
	p.World.NearCap = c.NearCap
	r := &Result{Plan: p, Shift: c.Shift.String(), Learned: Row{Name: "learned"}, Expert: Row{Name: "expert"}}
	learner, err := c.pilot(&p).Learner(p.World.Robots)
	if err != nil {
		return nil, err
	}
	if p.learns() {
		r.Learned.Name, r.Frozen = "learning in flight", &Row{Name: "frozen"}
	}
	for k := range p.Flights {
		if err := p.fly(ctx, c, r, learner, k, watch); err != nil {
			return nil, fmt.Errorf("flight %d: %w", k+1, err)
		}
		r.Drift = learner.Drift()
		if !p.Carry {
			if learner, err = c.pilot(&p).Learner(p.World.Robots); err != nil {
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
		pilot := c.frozen()
		trained, err := pilot.Learner(p.World.Robots)
		if err != nil {
			return err
		}
		flown, err := pilot.Fly(ctx, s, trained, nil)
		if err != nil {
			return fmt.Errorf("frozen: %w", err)
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
	flown, err := c.pilot(&p).Fly(ctx, s, l, func(s *flocking.Swarm, _ mat.Dense) error {
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
	if gates, ok := l.(interface{ Gates() []rule.GateState }); ok {
		r.Learned.addGates(gates.Gates())
	}
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
