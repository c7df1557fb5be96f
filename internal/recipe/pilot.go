package recipe

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

	// Centralized makes it learn one set of taps for all robots from
	// flocking.CostClearance; the other costs are of one kind of learning each.
	Centralized bool
}

// OnlineFlight returns how a pilot learns in flight, to the letter of the
// paper: plain gradient steps on the taps, eq. (7) or eq. (9), with step size
// gamma and gradients no longer than clip; 0 never shortens them.
//
// Deviation: the paper mentions no clipping. It is rarely active, and keeps the
// gradient at a near-collision from throwing the taps far away.
func OnlineFlight(gamma, clip float64) rule.Config {
	return rule.Config{StepSize: rule.StepSize{Value: gamma}, ClipNorm: clip}
}

// Learner returns a learner at the start of a flight of so many robots: one
// that does not learn, a centralized one for flocking.CostVariation, a
// distributed one for flocking.CostNeighborhood, or either for
// flocking.CostClearance. A model that was made for something other than robots is
// an error.
func (p *Pilot) Learner(robots int) (online.Learner, error) {
	if c := p.Model.Config; c.In != flocking.Features || p.Model.Outputs() != 2 {
		return nil, fmt.Errorf("flocking: a model from %d features to %d outputs cannot fly robots, "+
			"which have %d features and 2 components of acceleration; train one on flights",
			c.In, p.Model.Outputs(), flocking.Features)
	}
	o, err := online.NewObserver(p.Model, online.Config{Nodes: robots, Delayed: true})
	if err != nil {
		return nil, err
	}
	switch p.Cost {
	case "":
		return o, nil
	case flocking.CostVariation:
		return online.NewCentralized(o, p.Rule)
	case flocking.CostNeighborhood:
		return online.NewConsensus(o, p.Rule)
	case flocking.CostClearance:
		if p.Centralized {
			return online.NewCentralized(o, p.Rule)
		}
		return online.NewConsensus(o, p.Rule)
	}
	return nil, fmt.Errorf("flocking: no cost is called %q; try %q, %q or %q", p.Cost,
		flocking.CostVariation, flocking.CostNeighborhood, flocking.CostClearance)
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
func (p *Pilot) Fly(
	ctx context.Context, s *flocking.Swarm, l online.Learner, look func(s *flocking.Swarm, u mat.Dense) error,
) (Flown, error) {
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
		if err := l.Observe(sample); err != nil {
			return flown, err
		}
		if err := l.Predict(u); err != nil {
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

// Fly lets a pilot fly the flights of the given purpose, threads at a time. Each
// begins with the taps as trained.
func (z *Flights) Fly(ctx context.Context, p *Pilot, purpose string, flights int, nearCap float64, threads int) ([]Flown, error) {
	out := make([]Flown, flights)
	err := Each(ctx, threads, flights, func(k int) error {
		l, err := p.Learner(z.World.Robots)
		if err != nil {
			return err
		}
		out[k], err = z.FlyOne(ctx, p, l, purpose, k, nearCap)
		return err
	})
	return out, err
}

// FlyOne lets a pilot's learner fly flight k of the given purpose.
func (z *Flights) FlyOne(ctx context.Context, p *Pilot, l online.Learner, purpose string, k int, nearCap float64) (Flown, error) {
	s, err := z.Swarm(purpose, k, nearCap)
	if err != nil {
		return Flown{}, err
	}
	f, err := p.Fly(ctx, s, l, nil)
	if err != nil {
		return f, fmt.Errorf("flight %d: %w", k, err)
	}
	return f, nil
}
