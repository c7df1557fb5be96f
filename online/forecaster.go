package online

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/wdgnn/wdgnn/conformal"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/rule"
)

// Forecaster is how a network of sensors keeps learning to forecast: a
// [rule.SeasonNode] at every node, all in one process; agents that run one each get
// the same bits. Output c of the model is the forecast for h_c steps later, so what
// it should have been is known h_c steps later. Truths are told by the step that
// they are of:
//
//	for t := range steps {
//		forecaster.Tell(t, truths)           // x(t), if known; before it those that came late
//		err := observer.Observe(sample)      // of time t
//		err = forecaster.Predict(y)          // forecasts that know every truth up to t
//		err = forecaster.Update(nil)         // they are given; what they cost is told later
//	}
//
// It is a [Learner] whose Update learns nothing from the cost it is given, which may
// be nil.
type Forecaster struct {
	observer *Observer
	learned  uint64 // the last step that was answered
	config   rule.Config
	plan     *rule.SeasonPlan
	nodes    []*rule.SeasonNode // nil: has not joined yet
	sigma    [][]float64        // by node; nil as well
	steps    uint64

	sent    mat.Dense // N×2C, what nodes send at this step
	mixed   uint64    // the step for which they were mixed
	fresh   bool      // nothing was told since
	mixing  *mat.CSR  // the W that weights is
	weights diagonal  // W
	y       []float32
}

var errTimes = errors.New("online: a forecast of a step below 0: steps count from the beginning of the training series")

// NewForecaster returns a learner whose nodes forecast as trained at first. Sigma is
// the usual error of the model as trained, a row per node with a number per horizon;
// see rule.NewSeasonNode. A node whose row is nil is a newcomer, and answers as
// trained until it joins; see Join. The second moment of a task that has none is
// [Config.Moment].
func NewForecaster(o *Observer, r rule.Config, task rule.SeasonTask, sigma [][]float64) (*Forecaster, error) {
	if len(task.Horizons) != o.model.Outputs() {
		return nil, fmt.Errorf("online: %d horizons for a model of %d outputs: each output is the forecast of one",
			len(task.Horizons), o.model.Outputs())
	}
	if len(sigma) != o.nodes {
		return nil, fmt.Errorf("online: usual errors of %d nodes for a network of %d", len(sigma), o.nodes)
	}
	if task.Moment == nil {
		task.Moment = o.moment
	}
	if inputs := (o.model.InputOrder() + 1) * o.model.Config.In; len(task.Lagged) > 0 && slices.Max(task.Lagged) >= inputs {
		return nil, fmt.Errorf("online: column %d of %d shifted inputs is to be a reading", slices.Max(task.Lagged), inputs)
	}
	p, err := rule.NewSeasonPlan(&r, task)
	if err != nil {
		return nil, err
	}
	f := &Forecaster{
		observer: o, config: r, plan: p, nodes: make([]*rule.SeasonNode, o.nodes), sigma: make([][]float64, o.nodes),
		sent: mat.NewDense(o.nodes, 2*p.Outputs(), nil), y: make([]float32, p.Outputs()),
	}
	for i, s := range sigma {
		if s == nil {
			continue
		}
		if err := f.Join(i, s, nil); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// Join lets node i begin, with usual errors of its own and what a state says: that of
// a model file, or for a sensor that was not in training the [rule.SeasonPlan.Average] of its
// neighbours'; nil for nothing. What it did before is forgotten. An error changes
// nothing.
func (f *Forecaster) Join(i int, sigma []float64, state rule.State) error {
	if len(sigma) != f.plan.Outputs() {
		return fmt.Errorf("online: %d usual errors of node %d for %d horizons", len(sigma), i, f.plan.Outputs())
	}
	n := rule.NewSeasonNode(f.plan, sigma)
	if err := n.Restore(state); err != nil {
		return fmt.Errorf("online: node %d: %w", i, err)
	}
	f.nodes[i], f.sigma[i], f.fresh = n, slices.Clone(sigma), false
	return nil
}

// Joined says whether node i has begun.
func (f *Forecaster) Joined(i int) bool { return f.nodes[i] != nil }

// Tell takes in the truths of step t, one per node in units of its scale, NaN where
// nobody knows. It belongs before Predict of step t; truths of earlier steps may
// still come, and each counts once. It returns how many forecasts were judged.
func (f *Forecaster) Tell(t uint64, truths []float32) (judged int) {
	if len(truths) != len(f.nodes) {
		panic(fmt.Sprintf("online: Tell: %d truths for %d nodes", len(truths), len(f.nodes)))
	}
	for i, n := range f.nodes {
		if n != nil {
			judged += len(n.Tell(t, truths[i]))
		}
	}
	f.fresh = false
	return judged
}

// Observe implements [Learner].
func (f *Forecaster) Observe(sample graph.Sample) error { return f.observer.Observe(sample) }

// Predict implements [Learner]: what every node answers, within its bound.
func (f *Forecaster) Predict(y mat.Dense) error {
	if err := f.mix(); err != nil {
		return err
	}
	t := uint64(f.observer.time)
	return f.observer.each(y, func(r int, yi, base, z []float32) {
		if n := f.nodes[f.observer.read[r]]; n != nil {
			n.Predict(yi, t, base, z)
		} else {
			copy(yi, base)
		}
	})
}

// Update implements [Learner]: what Predict says is given as the answer of this step.
func (f *Forecaster) Update(loss.Loss) error {
	o := f.observer
	if !o.open || f.learned == o.step {
		return errNothingNew
	}
	if err := f.mix(); err != nil {
		return err
	}
	f.learned = o.step
	for r, i := range o.read {
		if n := f.nodes[i]; n != nil {
			n.Give(f.y, uint64(o.time), o.base.Row(r), o.z.Row(r))
		}
	}
	f.steps++
	o.advance()
	return nil
}

// mix lets every node mix what its neighbours send at the open step.
func (f *Forecaster) mix() error {
	o := f.observer
	switch {
	case !o.open:
		return errNoSample
	case o.time < 0:
		return errTimes
	case !f.config.Mixes() || f.fresh && f.mixed == o.step:
		return nil
	}
	if f.mixing == nil || f.mixing != o.mixing {
		f.mixing = nil
		if err := f.weights.take(o.mixing); err != nil {
			return err
		}
		f.mixing = o.mixing
	}
	for i, n := range f.nodes {
		if n != nil {
			copy(f.sent.Row(i), n.Sent())
		} else {
			clear(f.sent.Row(i))
		}
	}
	for i, n := range f.nodes {
		if n == nil {
			continue
		}
		rows, weights := f.weights.Row(i)
		n.Mix(weights, f.weights.self[i], f.sent, rows)
	}
	f.mixed, f.fresh = o.step, true
	return nil
}

// Bounds returns those of the intervals that go with what the node of the r-th row
// answers at the open step, by horizon; nil without a rule.Config.Conformal. They
// belong to the learner, and hold until the next Tell.
func (f *Forecaster) Bounds(r int) []conformal.Bound {
	if n := f.nodes[f.observer.read[r]]; n != nil {
		return n.Bounds()
	}
	return nil
}

// Meter returns how often the intervals of the node of the r-th row held the truth.
func (f *Forecaster) Meter(r int) conformal.Meter {
	if n := f.nodes[f.observer.read[r]]; n != nil {
		return n.Meter()
	}
	return conformal.Meter{}
}

// State returns how the answers of node i for horizon c do.
func (f *Forecaster) State(i, c int) rule.SeasonState {
	if n := f.nodes[i]; n != nil {
		return n.Does(c)
	}
	return rule.SeasonState{}
}

// Begin gives the first nodes the states of a model file, one each; further ones are
// those of sensors that were not in training. An error changes nothing.
func (f *Forecaster) Begin(states []rule.State) error {
	if len(states) > len(f.nodes) {
		return fmt.Errorf("online: what %d nodes learned, for a network of %d", len(states), len(f.nodes))
	}
	return f.restore(states)
}

// Average returns the state with which a newcomer joins; see [rule.SeasonPlan.Average].
func (f *Forecaster) Average(states []rule.State, weights []float64) rule.State {
	return f.plan.Average(states, weights)
}

// Uncounted ends a replay of the past: see [rule.SeasonNode.Uncounted].
func (f *Forecaster) Uncounted() {
	for _, n := range f.nodes {
		if n != nil {
			n.Uncounted()
		}
	}
}

// Drift implements [Learner]. The distances are those of what the second stage adds
// to the taps, in whitened features, of the horizon where they are largest.
func (f *Forecaster) Drift() Drift {
	d := Drift{Steps: int(f.steps)}
	for c := range f.plan.Outputs() {
		var all [][]float64
		for _, n := range f.nodes {
			if n != nil {
				all = append(all, n.Taps(c))
			}
		}
		moved, apart := distances(all)
		d.Moved, d.Disagreement = max(d.Moved, moved), max(d.Disagreement, apart)
	}
	return d
}

// distances returns how far the farthest of some vectors is from 0 and from their
// mean.
func distances(all [][]float64) (moved, apart float64) {
	if len(all) == 0 {
		return 0, 0
	}
	mean := make([]float64, len(all[0]))
	for _, x := range all {
		for e, v := range x {
			mean[e] += v / float64(len(all))
		}
	}
	for _, x := range all {
		m, a := 0.0, 0.0
		for e, v := range x {
			m += float64(v * v)
			a += float64((v - mean[e]) * (v - mean[e]))
		}
		moved, apart = max(moved, math.Sqrt(m)), max(apart, math.Sqrt(a))
	}
	return moved, apart
}

// Snapshot implements [Learner]. Of nodes that have not joined it holds nothing.
func (f *Forecaster) Snapshot() Snapshot {
	s := Snapshot{Delay: f.observer.memory(), Given: f.steps, Nodes: make([]rule.State, len(f.nodes))}
	for i, n := range f.nodes {
		if n != nil {
			s.Nodes[i] = n.State()
		}
	}
	return s
}

// Restore implements [Learner]. Nodes of which the snapshot holds nothing have not
// joined then.
func (f *Forecaster) Restore(s Snapshot) error {
	if len(s.Nodes) != len(f.nodes) {
		return fmt.Errorf("online: restore: the seasons of %d nodes for %d", len(s.Nodes), len(f.nodes))
	}
	if err := f.fits(s.Nodes); err != nil {
		return err
	}
	if err := f.observer.recall(s.Delay); err != nil {
		return err
	}
	f.steps, f.learned = s.Given, f.observer.step
	return f.restore(s.Nodes)
}

// fits reports what keeps the first nodes from being given states.
func (f *Forecaster) fits(states []rule.State) error {
	for i, m := range states {
		if len(m) == 0 {
			continue
		}
		if f.sigma[i] == nil {
			return fmt.Errorf("online: restore: node %d has not joined: its usual errors are not known", i)
		}
		n := f.nodes[i]
		if n == nil {
			n = rule.NewSeasonNode(f.plan, f.sigma[i])
		}
		if err := n.Fits(m); err != nil {
			return fmt.Errorf("online: restore: node %d: %w", i, err)
		}
	}
	return nil
}

// restore gives the first nodes their states, all of them or none.
func (f *Forecaster) restore(states []rule.State) error {
	if err := f.fits(states); err != nil {
		return err
	}
	for i, m := range states {
		if len(m) == 0 {
			f.nodes[i] = nil
			continue
		}
		if f.nodes[i] == nil {
			f.nodes[i] = rule.NewSeasonNode(f.plan, f.sigma[i])
		}
		if err := f.nodes[i].Restore(m); err != nil {
			return fmt.Errorf("online: restore: node %d: %w", i, err)
		}
	}
	f.fresh = false
	return nil
}
