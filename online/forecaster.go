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
	nodes    []*rule.SeasonNode
	steps    uint64

	sent   mat.Dense // N×2C, what nodes send at this step
	mixed  uint64    // the step for which they were mixed
	fresh  bool      // nothing was told since
	mixing *mat.CSR  // the W that lazy belongs to
	lazy   mat.CSR   // (1-η)I + ηW
	y      []float32
}

var errTimes = errors.New("online: a forecast of a step below 0: steps count from the beginning of the training series")

// NewForecaster returns a learner whose nodes forecast as trained at first. Sigma is
// the usual error of the model as trained, a row per node with a number per horizon;
// see rule.NewSeasonNode. The second moment of a task that has none is
// [Config.Moment].
func NewForecaster(o *Observer, r rule.Config, task rule.SeasonTask, sigma [][]float64) (*Forecaster, error) {
	if len(task.Horizons) != o.model.Outputs() {
		return nil, fmt.Errorf("online: %d horizons for a model of %d outputs: each output is the forecast of one", len(task.Horizons), o.model.Outputs())
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
		observer: o, config: r, plan: p, sent: mat.NewDense(o.nodes, 2*p.Outputs(), nil), y: make([]float32, p.Outputs()),
	}
	for i, s := range sigma {
		if len(s) != p.Outputs() {
			return nil, fmt.Errorf("online: %d usual errors of node %d for %d horizons", len(s), i, p.Outputs())
		}
		f.nodes = append(f.nodes, rule.NewSeasonNode(p, s))
	}
	return f, nil
}

// Tell takes in the truths of step t, one per node in units of its scale, NaN where
// nobody knows. It belongs before Predict of step t; truths of earlier steps may
// still come, and each counts once. It returns how many forecasts were judged.
func (f *Forecaster) Tell(t uint64, truths []float32) (judged int) {
	if len(truths) != len(f.nodes) {
		panic(fmt.Sprintf("online: Tell: %d truths for %d nodes", len(truths), len(f.nodes)))
	}
	for i, v := range truths {
		judged += f.nodes[i].Tell(t, v)
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
		f.nodes[f.observer.read[r]].Predict(yi, t, base, z)
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
		f.nodes[i].Give(f.y, uint64(o.time), o.base.Row(r), o.z.Row(r))
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
	case f.config.Mixing == 0 || f.fresh && f.mixed == o.step:
		return nil
	}
	if f.mixing == nil || f.mixing != o.mixing {
		f.mixing = nil
		if err := lazily(&f.lazy, &f.config, o.mixing); err != nil {
			return err
		}
		f.mixing = o.mixing
	}
	for i, n := range f.nodes {
		copy(f.sent.Row(i), n.Sent())
	}
	for i, n := range f.nodes {
		rows, weights := f.lazy.Row(i)
		self, _ := slices.BinarySearch(rows, int32(i))
		n.Mix(weights, self, f.sent, rows)
	}
	f.mixed, f.fresh = o.step, true
	return nil
}

// Bounds returns those of the intervals that go with what the node of the r-th row
// answers at the open step, by horizon; nil without a rule.Config.Conformal. They
// belong to the learner, and hold until the next Tell.
func (f *Forecaster) Bounds(r int) []conformal.Bound { return f.nodes[f.observer.read[r]].Bounds() }

// Meter returns how often the intervals of the node of the r-th row held the truth.
func (f *Forecaster) Meter(r int) conformal.Meter { return f.nodes[f.observer.read[r]].Meter() }

// State returns how the answers of node i for horizon c do.
func (f *Forecaster) State(i, c int) rule.SeasonState { return f.nodes[i].State(c) }

// Begin gives the first nodes the states of a model file, one each. Nodes that are
// beyond them were not in training, and begin with the mean of those of their
// neighbours that were, by the weights of w, N×N; without such neighbours they begin
// with nothing. An error changes nothing.
func (f *Forecaster) Begin(states []rule.SeasonMemory, w *mat.CSR) error {
	if len(states) > len(f.nodes) {
		return fmt.Errorf("online: what %d nodes learned, for a network of %d", len(states), len(f.nodes))
	}
	for i := range states {
		if err := f.nodes[i].Fits(states[i]); err != nil {
			return fmt.Errorf("online: node %d: %w", i, err)
		}
	}
	all := make([]rule.SeasonMemory, 0, len(f.nodes))
	all = append(all, states...)
	for i := len(states); i < len(f.nodes); i++ {
		all = append(all, newcomer(f.nodes[i], i, states, w))
	}
	return f.restore(all)
}

// newcomer returns the memory that node i begins with, which was not in training.
func newcomer(n *rule.SeasonNode, i int, states []rule.SeasonMemory, w *mat.CSR) rule.SeasonMemory {
	var near []rule.SeasonMemory
	var weights []float64
	if w != nil {
		col, val := w.Row(i)
		for e, j := range col {
			if int(j) < len(states) && val[e] > 0 {
				near, weights = append(near, states[j]), append(weights, float64(val[e]))
			}
		}
	}
	if near == nil {
		return n.Memory()
	}
	return rule.Average(near, weights)
}

// Drift implements [Learner]. The distances are those of what the second stage adds
// to the taps, in whitened features, the farthest horizon of a node.
func (f *Forecaster) Drift() Drift {
	d := Drift{Steps: int(f.steps)}
	for c := range f.plan.Outputs() {
		var mean []float64
		for _, n := range f.nodes {
			taps := n.Taps(c)
			if mean == nil {
				mean = make([]float64, len(taps))
			}
			for e, v := range taps {
				mean[e] += v / float64(len(f.nodes))
			}
		}
		for _, n := range f.nodes {
			moved, apart := 0.0, 0.0
			for e, v := range n.Taps(c) {
				moved += float64(v * v)
				apart += float64((v - mean[e]) * (v - mean[e]))
			}
			d.Moved, d.Disagreement = max(d.Moved, math.Sqrt(moved)), max(d.Disagreement, math.Sqrt(apart))
		}
	}
	return d
}

// Snapshot implements [Learner].
func (f *Forecaster) Snapshot() Snapshot {
	s := Snapshot{Delay: f.observer.memory(), Given: f.steps}
	for _, n := range f.nodes {
		s.Season = append(s.Season, n.Memory())
	}
	return s
}

// Restore implements [Learner].
func (f *Forecaster) Restore(s Snapshot) error {
	if len(s.Nodes) != 0 {
		return fmt.Errorf("online: restore: taps of %d nodes for a learner of seasons", len(s.Nodes))
	}
	if len(s.Season) != len(f.nodes) {
		return fmt.Errorf("online: restore: the seasons of %d nodes for %d", len(s.Season), len(f.nodes))
	}
	if err := f.fits(s.Season); err != nil {
		return err
	}
	if err := f.observer.recall(s.Delay); err != nil {
		return err
	}
	f.steps, f.learned = s.Given, f.observer.step
	return f.restore(s.Season)
}

// fits reports what keeps memories from being restored, one per node.
func (f *Forecaster) fits(memories []rule.SeasonMemory) error {
	for i, n := range f.nodes {
		if err := n.Fits(memories[i]); err != nil {
			return fmt.Errorf("online: restore: node %d: %w", i, err)
		}
	}
	return nil
}

// restore gives every node its memory, all of them or none.
func (f *Forecaster) restore(memories []rule.SeasonMemory) error {
	if err := f.fits(memories); err != nil {
		return err
	}
	for i, n := range f.nodes {
		if err := n.Restore(memories[i]); err != nil {
			return fmt.Errorf("online: restore: node %d: %w", i, err)
		}
	}
	f.fresh = false
	return nil
}
