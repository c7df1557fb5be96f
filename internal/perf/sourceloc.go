package perf

import (
	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/train"
)

// Source localization: 50 nodes in five blocks, edges with probability 0.8
// inside a block and 0.2 between blocks; 50 signals a batch, each with one
// class that five detectors should name.
const (
	sourcelocNodes   = 50
	sourcelocClasses = 5
	sourcelocSamples = 50
	sourcelocOrder   = 5
)

var (
	sourcelocModel = gnn.Config{
		In: 1, Features: 32, Outputs: sourcelocClasses,
		Wide: &gnn.WideConfig{Order: sourcelocOrder},
		Deep: []gnn.LayerConfig{{Order: sourcelocOrder, Features: 32}, {Order: sourcelocOrder, Features: 32}},
	}
	detectors = []int{1, 11, 21, 31, 41}
)

var sourcelocTrain = Task{
	Name:       "sourceloc_train_step",
	Doc:        "training step, 50 signals on 50 nodes, two layers of 32 features, every node computed",
	Skips:      "nothing: shifts of the input in the step, every node's output and gradient; three passes; S is sparse",
	Peer:       "nothing: shifts of the input in the step, every node's output and gradient; S is dense",
	Wanted:     2.5,
	WantedMany: 2,
	New:        func(env Env) (func(), map[string]any, error) { return sourcelocStep(env, sourcelocSamples) },
}

var sourcelocTrainMany = Task{
	Name:  "sourceloc_train_step_1000",
	Doc:   "the same step with 1000 signals",
	Skips: "nothing: as in the step with 50 signals; 50 passes",
	Peer:  "nothing: as in the step with 50 signals",
	New:   func(env Env) (func(), map[string]any, error) { return sourcelocStep(env, 1000) },
}

// sourcelocPass is the number of signals of a pass, that of wdgnn train.
const sourcelocPass = 20

// sourcelocStep returns a training step on that many signals.
func sourcelocStep(env Env, samples int) (func(), map[string]any, error) {
	s, err := sourcelocShift(env)
	if err != nil {
		return nil, nil, err
	}
	labels, rng := sourcelocLabels(env, samples), env.stream("signals")
	passes := (samples + sourcelocPass - 1) / sourcelocPass
	b, signals, st, width := new(batch), []mat.Dense(nil), s.T(), shiftedWidth(sourcelocModel)
	for k := range passes {
		lo, hi := samples*k/passes, samples*(k+1)/passes
		x := uniform(rng, sourcelocNodes*(hi-lo), 1)
		signals = append(signals, x)
		b.add(pass{rows: x.Rows, loss: atDetectors(labels[lo:hi]), share: float64(hi-lo) / float64(samples)})
	}
	b.input = func(p *train.Pass, k int) {
		p.Input = gnn.Input{Shift: s, ShiftT: st, Shifted: shift(p, s, signals[k], width)}
	}
	run, err := stepOn(env, sourcelocModel, 5e-3, b)
	return run, map[string]any{"batch": samples}, err
}

var sourcelocTrainPruned = Task{
	Name:   "sourceloc_train_step_pruned",
	Doc:    "the same step where only the five detectors are read",
	Skips:  "shifts of the input once per dataset; the last layer at the five detectors, from five rows of each power of S",
	Peer:   "the same",
	Wanted: 3,
	New: func(env Env) (func(), map[string]any, error) {
		l, err := newLearner(env, sourcelocModel, 5e-3)
		if err != nil {
			return nil, nil, err
		}
		s, err := sourcelocShift(env)
		if err != nil {
			return nil, nil, err
		}
		rows, err := gnn.NewRows(s, detectors, l.model.LastOrder())
		if err != nil {
			return nil, nil, err
		}
		read := len(detectors) * sourcelocSamples
		in := gnn.Input{
			Shift: s, ShiftT: s.T(), Shifted: l.shifted(sourcelocNodes * sourcelocSamples),
			Read: rows, ReadShifted: l.shifted(read),
		}
		l.shifter.Shift(in.Shifted, s, uniform(env.stream("signals"), in.Shifted.Rows, 1))
		rows.Gather(in.ReadShifted, in.Shifted, sourcelocSamples)
		j := everyDetector(sourcelocLabels(env, sourcelocSamples))
		return func() {
			l.begin()
			l.pass(&in, read, j, 1)
			l.finish()
		}, map[string]any{"batch": sourcelocSamples}, nil
	},
}

var sourcelocInfer = Task{
	Name:   "sourceloc_infer_one",
	Doc:    "the outputs of all 50 nodes for one signal",
	Skips:  "nothing: shifts of the input are computed every time",
	Peer:   "nothing; gradients are off",
	Wanted: 6,
	New: func(env Env) (func(), map[string]any, error) {
		l, err := newLearner(env, sourcelocModel, 5e-3)
		if err != nil {
			return nil, nil, err
		}
		s, err := sourcelocShift(env)
		if err != nil {
			return nil, nil, err
		}
		x := uniform(env.stream("signals"), sourcelocNodes, 1)
		in := gnn.Input{Shift: s, Shifted: l.shifted(sourcelocNodes)}
		y := mat.NewDense(sourcelocNodes, sourcelocClasses, nil)
		return func() {
			l.shifter.Shift(in.Shifted, s, x)
			l.model.Forward(y, &in, &l.tape)
		}, map[string]any{"batch": 1}, nil
	},
}

// sourcelocGraph returns a stochastic block model.
func sourcelocGraph(env Env) (*graph.Graph, error) {
	return graph.SBM(graph.SBMConfig{Sizes: []int{10, 10, 10, 10, 10}, Intra: 0.8, Inter: 0.2}, env.stream("graph"))
}

// sourcelocShift returns S = A/λmax of it.
func sourcelocShift(env Env) (*mat.CSR, error) {
	g, err := sourcelocGraph(env)
	if err != nil {
		return nil, err
	}
	return graph.ShiftSpectral.Of(g)
}

// sourcelocLabels returns one class per signal.
func sourcelocLabels(env Env, samples int) []int32 {
	rng := env.stream("labels")
	labels := make([]int32, samples)
	for i := range labels {
		labels[i] = rng.Int32N(sourcelocClasses)
	}
	return labels
}

// atDetectors is the cross-entropy at the detectors of a batch that computes
// all nodes: row i·B+b is node i of signal b.
func atDetectors(labels []int32) loss.Loss {
	b := len(labels)
	all := make([]int32, sourcelocNodes*b)
	for i := range all {
		all[i] = loss.NoLabel
	}
	for _, d := range detectors {
		copy(all[d*b:], labels)
	}
	return loss.CrossEntropy{Labels: all}
}

// everyDetector is the cross-entropy of outputs that are those of the
// detectors: row d·B+b is detector d of signal b.
func everyDetector(labels []int32) loss.Loss {
	var all []int32
	for range detectors {
		all = append(all, labels...)
	}
	return loss.CrossEntropy{Labels: all}
}
