package flocking

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"path/filepath"
	"sync"

	"github.com/wdgnn/wdgnn/internal/paper/reproduce/study"
	"github.com/wdgnn/wdgnn/internal/recipe"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/scenario/flocking"
)

// From returns the paper's settings, or smaller ones if o asks.
func From(o study.Options) recipe.Flocking {
	s := recipe.DefaultFlocking(o.Seed, o.Flights, o.Epochs)
	s.World.Robots = cmp.Or(o.Robots, s.World.Robots)
	return s
}

// FlightsCost is about what the flights of a row take, in epochs of a WD-GNN,
// for progress.
const FlightsCost = 1

// Swarms is one realization of the dataset and the controllers trained on it, as
// a unit of a run.
type Swarms struct {
	*recipe.Flights
	Run    *study.Run
	Models map[recipe.FlockSpec]*recipe.FlockModel

	training string // name of the model that is trained now

	mu   sync.Mutex
	left float64 // work not done yet, for progress
}

func New(r *study.Run, s recipe.Flocking, index, threads int, work float64) *Swarms {
	z := &Swarms{Flights: recipe.NewFlights(s, index, threads), Run: r, Models: map[recipe.FlockSpec]*recipe.FlockModel{}, left: work}
	z.OnProgress = func(work float64, what string) { z.Advance(work, "realization %d: %s, %s", z.Index, z.training, what) }
	return z
}

// Advance says that work was done.
func (z *Swarms) Advance(work float64, format string, args ...any) {
	z.mu.Lock()
	work = max(min(work, z.left), 0)
	z.left -= work
	z.mu.Unlock()
	z.Run.Advance(work, format, args...)
}

// Finish says that all work is done.
func (z *Swarms) Finish() {
	z.Advance(math.Inf(1), "realization %d: flown", z.Index)
}

// Prepare trains a controller, or finds it among those that an earlier run
// saved.
func (z *Swarms) Prepare(ctx context.Context, m recipe.FlockSpec) (*recipe.FlockModel, error) {
	if t := z.Models[m]; t != nil {
		return t, nil
	}
	s := z.Flocking // without what changes no training or is named by m
	s.Test, s.Gamma, s.GammaLarge, s.OnlineClip, s.NearCap, s.Order, s.Features, s.Depth = 0, 0, 0, 0, 0, 0, 0, 0
	if !m.Dagger {
		s.DaggerFlights, s.DaggerAfter = 0, 0
	}
	key := study.Fingerprint([]any{s, m, z.Run.Version, mat.Family()})
	name := fmt.Sprintf("flocking-%s-%s-data%d.safetensors", key, m.Name(), z.Index)
	path := filepath.Join(z.Run.Models(), name)
	if !z.Run.Fresh {
		if t, err := recipe.LoadFlock(path); err == nil {
			z.Models[m] = t
			z.Advance(z.Work(m), "realization %d: %s found", z.Index, m.Name())
			return t, nil
		}
	}
	z.training = m.Name()
	t, err := z.Fit(ctx, m)
	if err != nil {
		return nil, fmt.Errorf("train %s: %w", m.Name(), err)
	}
	t.Info.File = filepath.ToSlash(filepath.Join("models", name))
	z.Models[m] = t
	return t, t.Save(path, z.Seed, z.Run.Version)
}

// flown is what a row of a table knows of its flights.
type flown struct {
	Total   []float64 `json:"total"`   // velocity variation of all steps, by flight
	Final   []float64 `json:"final"`   // of the last step
	Curve   []float64 `json:"curve"`   // by time step, mean over flights
	Crashed float64   `json:"crashed"` // steps with a collision, mean over flights
	Refused int       `json:"refused"` // updates, in all flights
}

func newFlown(flights []recipe.Flown) *flown {
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

// fly lets a pilot fly the test flights. Each begins with the taps as trained,
// or, with carry, with those of the flight before.
func (z *Swarms) fly(ctx context.Context, p *recipe.Pilot, nearCap float64, carry bool) (*flown, error) {
	const purpose = "test"
	if !carry {
		out, err := z.Fly(ctx, p, purpose, z.Test, nearCap, 1)
		if err != nil {
			return nil, err
		}
		return newFlown(out), nil
	}
	l, err := p.Learner(z.World.Robots)
	if err != nil {
		return nil, err
	}
	out := make([]recipe.Flown, z.Test)
	for k := range out {
		if out[k], err = z.FlyOne(ctx, p, l, purpose, k, nearCap); err != nil {
			return nil, err
		}
		if err := recipe.Land(l); err != nil {
			return nil, err
		}
	}
	return newFlown(out), nil
}

// flyExpert lets the expert fly the test flights.
func (z *Swarms) flyExpert(ctx context.Context) (*flown, error) {
	out := make([]recipe.Flown, z.Test)
	err := recipe.Each(ctx, 1, z.Test, func(k int) error {
		s, err := z.Swarm("test", k, 0)
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
