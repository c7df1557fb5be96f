package reproduce

import (
	"context"
	"errors"
	"fmt"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/rule"
	"github.com/wdgnn/wdgnn/scenario/flocking"
)

// Pilot is a controller of robots: a trained model, and how it learns in
// flight.
type Pilot struct {
	Model *gnn.WideDeep
	Shift graph.Shift   // that the model was trained with
	Cost  flocking.Cost // what it learns from; empty means that it does not learn
	Rule  rule.Config   // how it learns; not read if it does not
}

// OnlineFlight returns how a pilot learns in flight, to the letter of the
// paper: plain gradient steps on the taps, eq. (7) or eq. (9), with step size
// gamma and gradients no longer than clip; 0 never shortens them.
//
// Deviation: the paper mentions no clipping. It is rarely active, and keeps the
// gradient at a near-collision from throwing the taps far away.
func OnlineFlight(gamma, clip float64) rule.Config {
	return rule.Config{StepSize: rule.StepSize{Value: gamma}, Mixing: 1, ClipNorm: clip}
}

// Learner returns a learner at the start of a flight of so many robots: one
// that does not learn, a centralized one for flocking.CostVariation, or a
// distributed one for flocking.CostNeighborhood. A model that was made for
// something other than robots is an error.
func (p *Pilot) Learner(robots int) (online.Learner, error) {
	if c := p.Model.Config; c.In != flocking.Features || p.Model.Outputs() != 2 {
		return nil, fmt.Errorf("flocking: a model from %d features to %d outputs cannot fly robots, which have %d features and 2 components of acceleration; train one on flights",
			c.In, p.Model.Outputs(), flocking.Features)
	}
	c := online.Config{Nodes: robots, Rule: p.Rule, Delayed: true}
	switch p.Cost {
	case "":
		return online.NewFrozen(p.Model, c)
	case flocking.CostVariation:
		return online.NewCentralized(p.Model, c)
	case flocking.CostNeighborhood:
		return online.NewConsensus(p.Model, c)
	}
	return nil, fmt.Errorf("flocking: no cost is called %q; try %q or %q", p.Cost, flocking.CostVariation, flocking.CostNeighborhood)
}

// Flown is how one flight went.
type Flown struct {
	*flocking.Flight
	Refused int // updates that were refused because they diverged; the robots flew on with the taps before
}

// Fly lets a learner fly s until time T. Look, if not nil, sees the swarm and
// the action u, N×2, before the robots move at each step; an error of its own
// ends the flight. The learner must be at the start of a flight; see Learner
// and Land.
//
// The swarm is computed in float64, the model in float32.
func (p *Pilot) Fly(ctx context.Context, s *flocking.Swarm, l online.Learner, look func(s *flocking.Swarm, u mat.Dense) error) (Flown, error) {
	cost := p.Cost
	if cost == "" {
		cost = flocking.CostVariation
	}
	world, err := flocking.NewStream(s, p.Shift, cost)
	if err != nil {
		return Flown{}, err
	}
	flown := Flown{Flight: world.Flight()}
	u := mat.NewDense(s.Config().Robots, 2, nil)
	for sample := range world.Samples() {
		if err := ctx.Err(); err != nil {
			return flown, err
		}
		if err := l.Predict(u, sample); err != nil {
			return flown, err
		}
		j := world.Reveal(u)
		if look != nil {
			if err := look(s, u); err != nil {
				return flown, err
			}
		}
		switch err := l.Update(j); {
		case errors.Is(err, online.ErrDiverged):
			flown.Refused++
		case err != nil:
			return flown, fmt.Errorf("step %d: %w", sample.Time, err)
		}
	}
	return flown, world.Err()
}

// Land prepares a learner for the next flight: what robots heard is forgotten,
// what they learned is kept.
func Land(l online.Learner) error { return l.Restore(online.Snapshot{Nodes: l.Snapshot().Nodes}) }

// flown is what a row of a table knows of its flights.
type flown struct {
	Total   []float64 `json:"total"`   // velocity variation of all steps, by flight
	Final   []float64 `json:"final"`   // of the last step
	Curve   []float64 `json:"curve"`   // by time step, mean over flights
	Crashed float64   `json:"crashed"` // steps with a collision, mean over flights
	Refused int       `json:"refused"` // updates, in all flights
}

func newFlown(flights []Flown) *flown {
	f := &flown{Curve: make([]float64, len(flights[0].Variation))}
	for _, x := range flights {
		f.Total, f.Final = append(f.Total, x.Total()), append(f.Final, x.Final())
		f.Crashed += float64(x.Crashed()) / float64(len(flights))
		f.Refused += x.Refused
		for t, v := range x.Variation {
			f.Curve[t] += v / float64(len(flights))
		}
	}
	return f
}

// fly lets a pilot fly the flights of the given purpose, threads at a time. Each
// begins with the taps as trained, or, with carry, with those of the flight
// before.
func (z *swarms) fly(ctx context.Context, p *Pilot, purpose string, flights int, nearCap float64, carry bool, threads int) (*flown, error) {
	out := make([]Flown, flights)
	one := func(k int, l online.Learner) error {
		s, err := z.swarm(purpose, k, nearCap)
		if err != nil {
			return err
		}
		if out[k], err = p.Fly(ctx, s, l, nil); err != nil {
			return fmt.Errorf("flight %d: %w", k, err)
		}
		return nil
	}
	if !carry {
		err := each(ctx, threads, flights, func(k int) error {
			l, err := p.Learner(z.World.Robots)
			if err != nil {
				return err
			}
			return one(k, l)
		})
		if err != nil {
			return nil, err
		}
		return newFlown(out), nil
	}
	l, err := p.Learner(z.World.Robots)
	if err != nil {
		return nil, err
	}
	for k := range flights {
		if err := one(k, l); err != nil {
			return nil, err
		}
		if err := Land(l); err != nil {
			return nil, err
		}
	}
	return newFlown(out), nil
}

// flyExpert lets the expert fly the test flights.
func (z *swarms) flyExpert(ctx context.Context) (*flown, error) {
	out := make([]Flown, z.Test)
	err := each(ctx, 1, z.Test, func(k int) error {
		s, err := z.swarm("test", k, 0)
		if err != nil {
			return err
		}
		out[k].Flight, err = flocking.Fly(s, flocking.Expert)
		return err
	})
	if err != nil {
		return nil, err
	}
	return newFlown(out), nil
}
