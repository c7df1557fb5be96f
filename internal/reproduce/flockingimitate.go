package reproduce

import (
	"context"
	"errors"
	"fmt"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/recipe"
	"github.com/wdgnn/wdgnn/scenario/flocking"
)

// Profile names how gradients are clipped when a controller learns to imitate
// the expert.
type Profile string

// The profiles.
const (
	ProfileStable  Profile = "stable"  // to norm 1: all models fly better
	ProfileClosest Profile = "closest" // to norm 10: closest to the paper's numbers
)

// clip returns the norm that gradients are clipped to.
func (p Profile) clip() (float64, error) {
	switch p {
	case "", ProfileStable:
		return clipStable, nil
	case ProfileClosest:
		return clipClosest, nil
	}
	return 0, fmt.Errorf("flocking: no profile is called %q; try %q or %q", p, ProfileStable, ProfileClosest)
}

// Imitation says how a WD-GNN learns to fly robots from the expert.
type Imitation struct {
	World    flocking.Config
	Seed     uint64
	Flights  int         // of the expert; 0 means 400
	Epochs   int         // 0 means 30
	Order    int         // K; 0 means 3
	Features int         // G; 0 means 32
	Shift    graph.Shift // ShiftSpectral as in the tables, or ShiftRowStochastic, which robots can compute themselves
	Profile  Profile     // empty means stable
	Dagger   bool        // learn from flights of its own as well

	Threads    int // they do not change the result; 0 means one
	OnProgress func(Progress)
}

// Validate reports everything that is wrong with c.
func (c *Imitation) Validate() error {
	_, err := c.Profile.clip()
	errs := []error{c.World.Validate(), err}
	for _, p := range []struct {
		name  string
		value int
	}{{"flights", c.Flights}, {"epochs", c.Epochs}, {"order", c.Order}, {"features", c.Features}} {
		if p.value < 0 {
			errs = append(errs, fmt.Errorf("flocking: %s is %d, want 0 for the default or more", p.name, p.value))
		}
	}
	return errors.Join(errs...)
}

// Imitate trains a controller as the tables do and returns it, not learning in
// flight. It touches no files.
func Imitate(ctx context.Context, c Imitation) (*Pilot, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	clip, err := c.Profile.clip()
	if err != nil {
		return nil, err
	}
	s := flockingFrom(Options{Seed: c.Seed, Flights: c.Flights, Epochs: c.Epochs})
	s.World, s.NearCap = c.World, c.World.NearCap
	s.Order, s.Features = or(c.Order, s.Order), or(c.Features, s.Features)
	s.Depth = s.Order
	m := s.model(recipe.WideDeep, clip)
	m.Shift, m.NearCap, m.Dagger = c.Shift, c.World.NearCap, c.Dagger
	if !m.Dagger {
		s.DaggerFlights = 0
	}
	r := &runner{Options: Options{Threads: c.Threads, OnProgress: c.OnProgress}}
	work := datasetCost + s.work(m)
	r.expect(work)
	z := newSwarms(r, s, 0, r.threads(), work)
	rows := s.World.Steps() * s.World.Robots
	z.set = new(shelf).take((s.Train+s.DaggerFlights)*rows, (s.Depth+1)*flocking.Features, rows)
	t, err := z.fit(ctx, m)
	if err != nil {
		return nil, err
	}
	return t.pilot(), nil
}
