package perf

import (
	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/rule"
)

// Online learning on source localization: one signal, whose community the five
// detectors are told; a plain gradient step of the given size on the taps.
const (
	onlineStepSize  = 1e-3
	onlineCommunity = 3
)

var onlineCentral = Task{
	Name:   "sourceloc_online_central_step",
	Doc:    "one step of centralized online learning, eq. (7), 50 nodes, detectors read",
	Skips:  "the last layer at the five detectors, from five rows of each power of S; the readout's Gram matrix once",
	Peer:   "gradients of the frozen deep part; every node's output is computed",
	Wanted: 25,
	New: func(env Env) (func(), map[string]any, error) {
		return onlineStep(env, func(o *online.Observer, r rule.Config) (online.Learner, error) {
			return online.NewCentralized(o, r)
		})
	},
}

var onlineDistributed = Task{
	Name:   "sourceloc_online_distributed_step",
	Doc:    "one step of distributed online learning, eq. (9), 50 nodes, detectors read",
	Skips:  "as in the centralized step; nodes hold 6×5 numbers that stand for their 6×32 taps; W is sparse",
	Peer:   "gradients of the frozen deep part and of nodes without a cost; W is dense",
	Wanted: 20,
	New: func(env Env) (func(), map[string]any, error) {
		return onlineStep(env, func(o *online.Observer, r rule.Config) (online.Learner, error) {
			return online.NewConsensus(o, r)
		})
	},
}

// onlineStep returns a whole step, prediction and update, of a learner.
func onlineStep(env Env, make func(*online.Observer, rule.Config) (online.Learner, error)) (func(), map[string]any, error) {
	g, err := sourcelocGraph(env)
	if err != nil {
		return nil, nil, err
	}
	sample := graph.Sample{Signal: uniform(env.stream("signals"), sourcelocNodes, 1)}
	if sample.Shift, err = graph.ShiftSpectral.Of(g); err != nil {
		return nil, nil, err
	}
	if sample.Mixing, err = graph.Metropolis(g); err != nil {
		return nil, nil, err
	}
	m, err := gnn.NewRandom(sourcelocModel, env.stream("init"))
	if err != nil {
		return nil, nil, err
	}
	o, err := online.NewObserver(m, online.Config{Nodes: sourcelocNodes, Read: detectors, Engine: env.Engine})
	if err != nil {
		return nil, nil, err
	}
	l, err := make(o, rule.Config{StepSize: rule.StepSize{Value: onlineStepSize}})
	if err != nil {
		return nil, nil, err
	}
	j := atDetectors([]int32{onlineCommunity})
	y := mat.NewDense(sourcelocNodes, sourcelocClasses, nil)
	return func() { mustStep(l, y, sample, j) }, map[string]any{"batch": 1, "nodes": sourcelocNodes}, nil
}

// mustStep observes, predicts and updates. The data of a task give no errors.
func mustStep(l online.Learner, y mat.Dense, s graph.Sample, j loss.Loss) {
	must(l.Observe(s))
	must(l.Predict(y))
	must(l.Update(j))
}
