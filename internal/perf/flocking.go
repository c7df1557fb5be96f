package perf

import (
	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
)

// Flocking: 20 trajectories of 200 steps of 50 robots, whose graph changes at
// every step; twelve entries of S_t in a hundred are set. Filters are delayed ones.
const (
	flockingTrajectories = 20
	flockingSteps        = 200
	flockingNodes        = 50
	flockingDensity      = 0.12
	flockingWeight       = 1. / 8

	// Rows of a pass after a trajectory is shifted.
	flockingBlock = 1000
)

var flockingModel = gnn.Config{
	In: 6, Features: 32, Outputs: 2,
	Wide: &gnn.WideConfig{Order: 3},
	Deep: []gnn.LayerConfig{{Order: 3, Features: 32, Activation: gnn.Tanh}},
}

var flockingTrain = Task{
	Name:   "flocking_train_step",
	Doc:    "training step, 20 trajectories of 200 steps of 50 robots, delayed filters of 32 features",
	Skips:  "nothing: shifts of the input in the step; passes of 1000 rows each; S is sparse",
	Peer:   "nothing: shifts of the input in the step; S is dense, in batches",
	Wanted: 4,
	New: func(env Env) (func(), map[string]any, error) {
		l, err := newLearner(env, flockingModel, 5e-4)
		if err != nil {
			return nil, nil, err
		}
		const rows = flockingSteps * flockingNodes
		rng, z := env.stream("signals"), l.shifted(rows)
		var (
			shifts  []*mat.CSR
			signals []mat.Dense
			passes  [][]block
		)
		for i := range flockingTrajectories {
			s, err := flockingShift(env, i)
			if err != nil {
				return nil, nil, err
			}
			target := normal(rng, rows, 2)
			shifts, signals = append(shifts, s), append(signals, normal(rng, rows, 6))
			passes = append(passes, blocks(z, flockingBlock, func(lo, hi int) (loss.Loss, int) {
				return loss.MSE{Target: target.View(lo, 0, hi-lo, 2)}, hi - lo
			}))
		}
		return func() {
			l.begin()
			for i, s := range shifts {
				l.shifter.Shift(z, s, signals[i])
				l.passes(passes[i], 1./flockingTrajectories)
			}
			l.finish()
		}, map[string]any{"batch": flockingTrajectories}, nil
	},
}

// flockingShift returns the space-time shift of one trajectory.
func flockingShift(env Env, trajectory int) (*mat.CSR, error) {
	rng := env.stream("graph", trajectory)
	shifts := make([]*mat.CSR, flockingSteps)
	for t := range shifts {
		rowPtr, col, val := make([]int, 1, flockingNodes+1), []int32(nil), []float32(nil)
		for range flockingNodes {
			for j := range int32(flockingNodes) {
				if rng.Float64() < flockingDensity {
					col, val = append(col, j), append(val, flockingWeight)
				}
			}
			rowPtr = append(rowPtr, len(col))
		}
		s, err := mat.NewCSR(flockingNodes, flockingNodes, rowPtr, col, val)
		if err != nil {
			return nil, err
		}
		shifts[t] = s
	}
	return graph.SpaceTime(shifts), nil
}
