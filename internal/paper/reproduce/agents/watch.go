package agents

import (
	"errors"
	"math"
	"slices"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/rule"
)

// meanDrift follows how far mixing alone moves the mean of all parameters. With
// a doubly stochastic W it does not; without what was lost W is row-stochastic
// only. Since all of W keeps the mean, what is missing is what moves it:
//
//	x̄ ← x̄ - (1/N) Σ_(i,j lost) W_ij (x_j - x_i)
type meanDrift struct{ sum []float64 }

// watch takes in a step of w over g, before its feedback.
func (d *meanDrift) watch(w *crew, g *graph.Graph) {
	if d.sum == nil {
		d.sum = make([]float64, len(w.nodes[0].Params()))
	}
	for _, pair := range w.unheard {
		i, j := pair[0], pair[1]
		weight := 1 / float64(1+max(len(g.Neighbors(i)), len(g.Neighbors(j)))) / float64(len(w.nodes))
		own, other := w.nodes[i].Params(), w.nodes[j].Params()
		for e := range d.sum {
			d.sum[e] -= float64(weight * (float64(other[e]) - float64(own[e])))
		}
	}
}

// against returns the length of the drift and that of the whole way of the
// mean from where it began, as distances between taps.
func (d *meanDrift) against(w *crew) (drift, way float64) {
	mean, moved := make([]float32, len(d.sum)), make([]float32, len(d.sum))
	for e := range d.sum {
		sum := 0.0
		for _, n := range w.nodes {
			sum += float64(n.Params()[e])
		}
		mean[e], moved[e] = float32(sum/float64(len(w.nodes))), float32(d.sum[e])
	}
	return w.plan.Basis.Distance(moved, nil), w.plan.Basis.Distance(mean, nil)
}

// bits compares agents with a learner of package online that takes the same
// steps in one process.
type bits struct {
	Steps int `json:"steps"`
	Same  int `json:"same"` // steps in which all outputs had the same bits
}

func (b *bits) add(o bits) { b.Steps, b.Same = b.Steps+o.Steps, b.Same+o.Same }

// twin is such a learner.
type twin struct {
	learner online.Learner
	y       mat.Dense
	bits
}

// newTwin returns a learner that computes as agents do. It learns by r, unless it
// is nil.
func newTwin(m *gnn.WideDeep, c online.Config, r *rule.Config) (*twin, error) {
	o, err := online.NewObserver(m, c)
	if err != nil || r == nil {
		return &twin{learner: o}, err
	}
	l, err := online.NewConsensus(o, *r)
	return &twin{learner: l}, err
}

// step takes the step in which the agents had the given outputs, at the cost j.
// A step that diverges is refused by the agents too. A nil twin does nothing.
func (t *twin) step(sample graph.Sample, outputs mat.Dense, j loss.Loss) error {
	if t == nil {
		return nil
	}
	t.y = t.y.Resize(outputs.Rows, outputs.Cols)
	if err := t.learner.Observe(sample); err != nil {
		return err
	}
	if err := t.learner.Predict(t.y); err != nil {
		return err
	}
	t.Steps++
	same := func(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) }
	if slices.EqualFunc(t.y.Data, outputs.Data, same) {
		t.Same++
	}
	if err := t.learner.Update(j); err != nil && !errors.Is(err, online.ErrDiverged) {
		return err
	}
	return nil
}
