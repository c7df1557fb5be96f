package recipe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"

	"github.com/wdgnn/wdgnn/graph"
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
		return ClipStable, nil
	case ProfileClosest:
		return ClipClosest, nil
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

	Threads int // they do not change the result; 0 means one, less one per core

	// OnProgress, if set, is told what was just done and which share of all the
	// work is done, 0 to 1.
	OnProgress func(done float64, what string)
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
	s := DefaultFlocking(c.Seed, c.Flights, c.Epochs)
	s.World, s.NearCap = c.World, c.World.NearCap
	s.Order, s.Features = cmp.Or(c.Order, s.Order), cmp.Or(c.Features, s.Features)
	s.Depth = s.Order
	m := s.Spec(WideDeep, clip)
	m.Shift, m.NearCap, m.Dagger = c.Shift, c.World.NearCap, c.Dagger
	if !m.Dagger {
		s.DaggerFlights = 0
	}
	threads := max(c.Threads, 1)
	if c.Threads < 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	z := NewFlights(s, 0, threads)
	if c.OnProgress != nil {
		done, all := 0.0, DatasetCost+s.Work(m)
		if m.Dagger { // there is no model without it to go on from
			half, _ := s.DaggerEpochs()
			all += float64(half)
		}
		z.OnProgress = func(work float64, what string) {
			done = min(done+work, all)
			c.OnProgress(done/all, what)
		}
	}
	z.Reserve(new(Shelf), s.DaggerFlights)
	t, err := z.Fit(ctx, m)
	if err != nil {
		return nil, err
	}
	return t.Pilot(), nil
}
