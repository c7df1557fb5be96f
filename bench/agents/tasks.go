package agents

import (
	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/flock"
	"github.com/wdgnn/wdgnn/internal/recipe"
	"github.com/wdgnn/wdgnn/internal/swarm"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/rule"
	"github.com/wdgnn/wdgnn/scenario/flocking"
)

// Models of measurements are not trained: they send and compute as much as
// those that are.

// sourceTask returns source localization with the architecture of Section 6.1
// on a network with all its links, learning by eq. (9).
func (b *Bench) sourceTask(signals int) (*swarm.Task, error) {
	m, err := gnn.NewRandom(gnn.Config{
		In: 1, Features: 32, Outputs: 5, Wide: &gnn.WideConfig{Order: 5},
		Deep: []gnn.LayerConfig{{Order: 5, Features: 32}, {Order: 5, Features: 32}},
	}, random.Stream(b.Seed, "bench source"))
	if err != nil {
		return nil, err
	}
	l, err := recipe.Locate(&modelfile.Model{Network: m, Meta: modelfile.Meta{
		Shift: graph.ShiftRowStochastic, Task: "classify", Seed: b.Seed,
	}}, nil)
	if err != nil {
		return nil, err
	}
	r := rule.Paper(false).Ungated()
	r.StepSize.Value = 1e-3 // what a model that was not trained can take
	return swarm.NewSourceTask(l, r, signals, 0, 0)
}

// flockTask returns a flight of 50 robots for so many steps, with the filters
// of Section 6.2, learning on. The controller aligns velocities and nothing
// else, so that the team stays together however long it flies.
func (b *Bench) flockTask(steps int) (*swarm.Task, error) {
	m, err := gnn.NewRandom(gnn.Config{
		In: flocking.Features, Features: 32, Outputs: 2, Wide: &gnn.WideConfig{Order: 3},
		Deep: []gnn.LayerConfig{{Order: 3, Features: 32, Activation: gnn.Tanh}},
	}, random.Stream(b.Seed, "bench flock"))
	if err != nil {
		return nil, err
	}
	for _, tap := range m.Params.Wide.Taps {
		tap.Zero()
	}
	m.Params.Readout.Weight.Zero()
	for c := range 2 {
		m.Params.Readout.Weight.Set(c, c, 1)
		m.Params.Wide.Taps[0].Set(c, c, -1) // against the difference of velocities
	}
	m.Params.Gain[gnn.GainDeep] = 0.02 // the deep part disturbs a little
	world := flocking.Default()
	world.DurationSeconds = float64(steps) * world.SampleSeconds
	c := &flock.Controller{Model: m, Shift: graph.ShiftRowStochastic}
	return swarm.NewFlockTask(c, world, flocking.CostNeighborhood, recipe.OnlineFlight(1e-4, 1), b.Seed, "")
}
