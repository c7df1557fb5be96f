package lifecycle

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/config"
	"github.com/wdgnn/wdgnn/internal/recipe"
	"github.com/wdgnn/wdgnn/internal/robust"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/scenario/flocking"
	"github.com/wdgnn/wdgnn/train"
)

// flights is the scenario flocking: a controller of robots learns to do what the
// expert does, and is judged by how it flies.
type flights struct {
	*recipe.Flights
	spec  recipe.FlockSpec
	count map[string]int // of a part
	train recipe.Recorded
}

// drawFlights lets the expert fly. A sample is a flight; its rows are robots at
// one step after the other, with what they have heard by then.
func drawFlights(ctx context.Context, c *config.Config) (*Dataset, error) {
	s, world := c.Flights(), newFlights(c)
	d := &Dataset{
		task: config.Regress, Shift: s.Shift, Nodes: s.Robots, Steps: s.World().Steps(), in: flocking.Features, outputs: 2,
		each: s.World().Steps() * s.Robots, criterion: loss.MSE{}, scenario: world,
	}
	for _, p := range []struct {
		name string
		to   **Part
	}{{"train", &d.Train}, {"valid", &d.Valid}, {"test", &d.Test}} {
		*p.to = &Part{Samples: world.count[p.name]}
		if (*p.to).Samples == 0 {
			continue
		}
		room := 0
		if p.name == "train" {
			room = s.DaggerFlights
		}
		r, err := world.Record(ctx, world.spec, p.name, (*p.to).Samples, room)
		if err != nil {
			return nil, fmt.Errorf("flocking: %w", err)
		}
		if p.name == "train" {
			world.train = r
		}
		(*p.to).first(r, d.each)
	}
	return d, nil
}

// newFlights returns the scenario before anybody flies.
func newFlights(c *config.Config) *flights {
	s, threads := c.Flights(), c.Threads
	if threads < 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	arch := c.Model.Architecture(flocking.Features, 2)
	settings := recipe.DefaultFlocking(c.Seed, s.TrainFlights, c.Train.Epochs)
	settings.World, settings.DaggerFlights = s.World(), s.DaggerFlights
	return &flights{
		Flights: recipe.NewFlights(settings, 0, max(threads, 1)),
		spec:    recipe.FlockSpec{Kind: recipe.KindOf(arch), Shift: s.Shift, NearCap: s.NearCap, Order: c.Model.Order()},
		count:   map[string]int{"train": s.TrainFlights, "valid": s.ValidFlights, "test": s.TestFlights},
	}
}

// first makes the first samples of what was recorded those of p.
func (p *Part) first(r recipe.Recorded, each int) {
	p.shifted, p.Values = r.Rows.View(0, 0, p.Samples*each, r.Rows.Cols), r.Actions.View(0, 0, p.Samples*each, 2)
}

// start implements [scenario].
func (f *flights) start(gnn.Config) *rand.Rand { return f.Stream("init") }

// tune implements [scenario].
func (f *flights) tune(c *train.Config) { c.FoldWide = true }

// grow implements [scenario].
func (f *flights) grow() (half, all int) {
	if f.DaggerFlights == 0 {
		return 0, 0
	}
	return f.DaggerEpochs()
}

// grown implements [scenario]: flights that m flies, and what the expert would have
// done there.
func (f *flights) grown(ctx context.Context, m *gnn.WideDeep) (*Part, error) {
	p := &Part{Samples: f.Train + f.DaggerFlights}
	p.first(f.train, f.World.Steps()*f.World.Robots)
	return p, f.RecordOwn(ctx, f.spec, m, f.train, f.Train)
}

// measure implements [scenario]: the cost of flights that m flies.
func (f *flights) measure(ctx context.Context, m *gnn.WideDeep, part string) (float64, error) {
	return f.Cost(ctx, m, f.spec, part, f.count[part])
}

// report implements [scenario].
func (f *flights) report(ctx context.Context, s *Score, part string, measured float64) error {
	expert, err := f.ExpertCost(ctx, part, f.count[part])
	s.Cost, s.Expert = &measured, &expert
	return err
}

// keep implements [scenario].
func (f *flights) keep(file *modelfile.Model) { recipe.PutNearCap(file, f.spec.NearCap) }

// question asks the controller of a model file what it was asked in the first flight
// of a part, which it flies itself: the graphs and signals of every step, and the
// accelerations that it gave.
func (f *flights) question(m *modelfile.Model, part string) (*robust.Question, error) {
	if f.count[part] == 0 {
		return nil, fmt.Errorf("the configuration has no flights that are called %q", part)
	}
	s, err := f.Swarm(part, 0, f.spec.NearCap)
	if err != nil {
		return nil, err
	}
	control, err := (&recipe.Pilot{Model: m.Network, Shift: m.Meta.Shift}).Controller(f.World.Robots)
	if err != nil {
		return nil, err
	}
	n := f.World.Robots
	var graphs []*graph.Graph
	signals := mat.NewDense(f.World.Steps()*n, flocking.Features, nil)
	_, err = flocking.Fly(s, func(accel [][2]float64, s *flocking.Swarm) error {
		s.Signal(signals.View(len(graphs)*n, 0, n, signals.Cols))
		graphs = append(graphs, s.Heard().Clone())
		return control(accel, s)
	})
	if err != nil {
		return nil, fmt.Errorf("flocking: %w", err)
	}
	q, err := newQuestion(m, graphs, signals.View(0, 0, len(graphs)*n, signals.Cols), 1, nil)
	if err == nil {
		q.Unit = "m/s²"
	}
	return q, err
}
