package perf

import (
	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/rule"
	"github.com/wdgnn/wdgnn/scenario/flocking"
)

// Flights of 50 robots that keep together: the wide part brakes and keeps
// robots apart, the deep part is computed and has little say. Both sides fly
// this controller, so that their graphs are alike.
const (
	flightBrake   = 1.0  // m/s² for each m/s of Σ (v_i - v_j)
	flightRepel   = 0.1  // of the feature Σ (p_i - p_j)/d²
	flightDeep    = 1e-3 // scale of the deep part
	flightGamma   = 0.05
	flightClip    = 1
	creepSeconds  = 1e-6 // T_s of a flight whose graph stays the same
	creepDuration = 100  // so that it never ends
)

var flockingRollout = Task{
	Name:      "flocking_rollout",
	Doc:       "closed-loop flight of 200 steps of 50 robots with a frozen WD-GNN of 32 features",
	Skips:     "pairs of robots out of reach: graph from a cell grid, λmax from the step before; swarm in float64, model in float32",
	Peer:      "nothing: all pairs of robots, S is dense; λmax by eigvalsh or from the step before; everything in float64",
	Wanted:    8,
	allocates: "every flight is a swarm of its own, and every step has a shift with a pointer of its own",
	New: func(env Env) (func(), map[string]any, error) {
		model, err := flightModel(env)
		if err != nil {
			return nil, nil, err
		}
		first, err := flocking.New(flocking.Default(), env.stream("start"))
		if err != nil {
			return nil, nil, err
		}
		c := first.Config()
		position := append([][2]float64(nil), first.Positions()...)
		velocity := append([][2]float64(nil), first.Velocities()...)
		x, u := mat.NewDense(c.Robots, flocking.Features, nil), mat.NewDense(c.Robots, 2, nil)
		return func() {
			s, err := flocking.Start(c, position, velocity, nil)
			must(err)
			delayed := &gnn.Delayed{Model: model, Engine: env.Engine}
			for range c.Steps() {
				shift, err := s.Shift(graph.ShiftSpectral)
				must(err)
				s.Signal(x)
				delayed.Predict(u, shift, x)
				delayed.Advance()
				must(s.StepDense(u))
			}
		}, map[string]any{"robots": c.Robots, "steps": c.Steps()}, nil
	},
}

var flockingOnline = Task{
	Name: "flocking_online_step",
	Doc: "one control step of 50 robots with distributed online learning: " +
		"act, gradient, mixing, move; robots creep, so that every step has the same graph",
	Skips: "pairs out of reach; robots hold 24×2 numbers that stand for their 24×32 taps; W is sparse; " +
		"swarm in float64, model in float32",
	Peer:      "autograd: the gradient is written out; S and W are dense; λmax by eigvalsh or from the step before; everything in float64",
	Wanted:    6,
	allocates: "every step has a shift and a mixing matrix of its own",
	New: func(env Env) (func(), map[string]any, error) {
		model, err := flightModel(env)
		if err != nil {
			return nil, nil, err
		}
		c := flocking.Default()
		c.SampleSeconds, c.DurationSeconds = creepSeconds, creepDuration
		s, err := flocking.New(c, env.stream("start"))
		if err != nil {
			return nil, nil, err
		}
		o, err := online.NewObserver(model, online.Config{Nodes: c.Robots, Delayed: true, Engine: env.Engine})
		if err != nil {
			return nil, nil, err
		}
		l, err := online.NewConsensus(o, rule.Config{StepSize: rule.StepSize{Value: flightGamma}, ClipNorm: flightClip})
		if err != nil {
			return nil, nil, err
		}
		x, u := mat.NewDense(c.Robots, flocking.Features, nil), mat.NewDense(c.Robots, 2, nil)
		var cost flocking.Neighborhood
		return func() {
			sample := graph.Sample{Time: s.Time(), Signal: x}
			var err error
			s.Signal(x)
			sample.Shift, err = s.Shift(graph.ShiftSpectral)
			must(err)
			sample.Mixing, err = s.Mixing()
			must(err)
			must(l.Observe(sample))
			must(l.Predict(u))
			cost.Reset(s, u)
			must(l.Update(&cost))
			must(s.StepDense(u))
		}, map[string]any{"robots": c.Robots}, nil
	},
}

// flightModel returns the controller of both tasks.
func flightModel(env Env) (*gnn.WideDeep, error) {
	m, err := gnn.NewRandom(flockingModel, env.stream("init"))
	if err != nil {
		return nil, err
	}
	p := &m.Params
	for _, tap := range p.Wide.Taps {
		tap.Zero()
	}
	clear(p.Wide.Bias)
	p.Readout.Weight.Zero()
	clear(p.Readout.Bias)
	for g := range p.Readout.Weight.Rows {
		for c := range 2 {
			p.Readout.Weight.Set(g, c, flightDeep*float32(1-2*(g%2)))
		}
	}
	for c := range 2 {
		p.Readout.Weight.Set(c, c, 1)
		p.Wide.Taps[0].Set(c, c, -flightBrake)
		p.Wide.Taps[0].Set(4+c, c, flightRepel)
		for _, tap := range p.Deep[0].Taps {
			for f := range tap.Rows {
				tap.Set(f, c, 0)
			}
		}
		p.Deep[0].Bias[c] = 0
	}
	return m, nil
}

// must panics with an error: the data of a task give none.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
