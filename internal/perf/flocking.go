package perf

import (
	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/train"
)

// Flocking: 20 trajectories of 200 steps of 50 robots, whose graph changes at
// every step; twelve entries of S_t in a hundred are set. Filters are delayed ones.
const (
	flockingTrajectories = 20
	flockingSteps        = 200
	flockingNodes        = 50
	flockingDensity      = 0.12
	flockingWeight       = 1. / 8

	// Steps of a trajectory in a pass, some 1000 rows as in wdgnn train.
	flockingBlock = 20
)

var flockingModel = gnn.Config{
	In: 6, Features: 32, Outputs: 2,
	Wide: &gnn.WideConfig{Order: 3},
	Deep: []gnn.LayerConfig{{Order: 3, Features: 32, Activation: gnn.Tanh}},
}

var flockingTrain = Task{
	Name: "flocking_train_step",
	Doc:  "training step, 20 trajectories of 200 steps of 50 robots, delayed filters of 32 features",
	Skips: "nothing: shifts of the input in the step; passes of 1000 rows each; S is sparse; " +
		"wide taps meet the readout before the signal, as when flocks train",
	Peer:       "nothing: shifts of the input in the step; S is dense, in batches; with and without wide taps that meet the readout first",
	Wanted:     4,
	WantedMany: 4,
	New: func(env Env) (func(), map[string]any, error) {
		const rows = flockingSteps * flockingNodes
		rng := env.stream("signals")
		var all flights
		b := batch{fold: true}
		for i := range flockingTrajectories {
			s, err := flockingShift(env, i)
			if err != nil {
				return nil, nil, err
			}
			target := normal(rng, rows, 2)
			all.shifts, all.signals = append(all.shifts, s), append(all.signals, normal(rng, rows, 6))
			for t := 0; t < flockingSteps; t += flockingBlock {
				const n = flockingBlock * flockingNodes
				b.add(pass{
					rows: n, loss: loss.MSE{Target: target.View(t*flockingNodes, 0, n, 2)},
					share: 1. / (flockingTrajectories * flockingSteps / flockingBlock),
				})
			}
		}
		b.input = all.input
		run, err := stepOn(env, flockingModel, 5e-4, &b)
		return run, map[string]any{"batch": flockingTrajectories}, err
	},
}

// flights are trajectories whose inputs are shifted pass by pass.
type flights struct {
	shifts  []*mat.CSR
	signals []mat.Dense
}

// flight is what a pass keeps: the shifts of a trajectory, of which it computes
// the rows it needs.
type flight struct {
	z    mat.Dense
	rows mat.CSR // some rows of the shift
}

// input shifts the block of pass k. Sums over neighbours reach one step back, so
// Z_k begins K-k steps before the block.
func (f *flights) input(p *train.Pass, k int) {
	const blocks = flockingSteps / flockingBlock
	s, x := f.shifts[k/blocks], f.signals[k/blocks]
	own, ok := p.Own.(*flight)
	if !ok {
		own = &flight{z: mat.NewDense(x.Rows, shiftedWidth(flockingModel), nil)}
		p.Own = own
	}
	z, n := own.z, x.Cols
	lo := k % blocks * flockingBlock * flockingNodes
	hi := lo + flockingBlock*flockingNodes
	order := z.Cols/n - 1
	from := max(lo-order*flockingNodes, 0)
	z.View(from, 0, hi-from, n).CopyFrom(x.View(from, 0, hi-from, n))
	for h := 1; h <= order; h++ {
		from := max(lo-(order-h)*flockingNodes, 0)
		own.rows = mat.CSR{Rows: hi - from, Cols: s.Cols, RowPtr: s.RowPtr[from : hi+1], Col: s.Col, Val: s.Val}
		mat.Serial.SpMM(z.View(from, h*n, hi-from, n), &own.rows, z.View(0, (h-1)*n, z.Rows, n))
	}
	p.Input = gnn.Input{Shifted: z.View(lo, 0, hi-lo, z.Cols)}
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
