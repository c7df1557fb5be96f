package recipe

import (
	"context"
	"errors"
	"fmt"

	gonum "gonum.org/v1/gonum/mat"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/rule"
	"github.com/wdgnn/wdgnn/scenario/sourceloc"
)

// LearnerSpec is a model with a way to learn online.
type LearnerSpec struct {
	ID     string
	Kind   Kind
	Mode   Mode
	Config rule.Config

	// Curved takes 1/C_s of the training data for γ, whatever Config says: see Smooth.
	Curved bool

	// After counts what a learner would answer once it has learned from the right
	// answer to the same signal. That is leakage, for comparison only.
	After bool
}

// Gated returns the learner as users have it, behind gates.
func (l LearnerSpec) Gated() LearnerSpec {
	l.ID, l.Config.Gate = l.ID+", gated", &rule.Gate{}
	return l
}

// Mode is how a learner adapts.
type Mode int

// The modes.
const (
	Frozen      Mode = iota // not at all
	Centralized             // eq. (7)
	Distributed             // eq. (9)
)

// Observers hold one observer of each model, for all learners that begin with it.
type Observers map[Kind]*online.Observer

// Observe shows a signal to all of them.
func (o Observers) Observe(sample graph.Sample) error {
	for _, one := range o {
		if err := one.Observe(sample); err != nil {
			return err
		}
	}
	return nil
}

// Learner returns the learner that spec describes, whose model is one of Models,
// on the observer of that model in shared, which is made for the first.
func (z *Source) Learner(spec LearnerSpec, shared Observers) (online.Learner, error) {
	o := shared[spec.Kind]
	if o == nil {
		t := z.Models[spec.Kind]
		var err error
		o, err = online.NewObserver(t.Network, online.Config{Nodes: z.Net.Graph.Nodes(), Moment: t.Moment, Read: z.Read()})
		if err != nil {
			return nil, err
		}
		shared[spec.Kind] = o
	}
	if spec.Curved {
		spec.Config.StepSize = rule.StepSize{Value: 1 / z.Models[spec.Kind].Smooth()}
	}
	switch spec.Mode {
	case Centralized:
		return online.NewCentralized(o, spec.Config)
	case Distributed:
		return online.NewConsensus(o, spec.Config)
	}
	return o, nil
}

// Smooth returns C_s, the curvature in 𝒜 of the mean cost of the training signals, at
// most: ½ λmax(Σ) λmax(ΩᵀΩ), Σ the second moment of the shifted inputs and Ω what lies
// behind the taps. It is rounded to a float32, so that the last digit of a float64
// norm decides nothing.
func (t *SourceModel) Smooth() float64 {
	n, readout := t.Moment.Inputs, t.Network.Params.Readout.Weight
	sigma := gonum.NewDense(n+1, n+1, t.Moment.Mean).Slice(0, n, 0, n) // without the 1 behind z
	omega := gonum.NewDense(readout.Rows, readout.Cols, nil)
	for g := range readout.Rows {
		for c, v := range readout.Row(g) {
			omega.Set(g, c, float64(t.Network.Params.Gain[gnn.GainWide])*float64(v))
		}
	}
	stretch := gonum.Norm(omega, 2)
	return float64(float32(gonum.Norm(sigma, 2) * stretch * stretch / 2))
}

// Blank puts a model that was not trained into Models, for learners that begin
// from nothing: the shifted inputs, each with a weight of 0 for every output. Of
// the training signals it has the second moments, and no answer to any.
func (z *Source) Blank() error {
	c := z.Architecture(Filter)
	c.Features = c.Outputs
	m, err := gnn.New(c)
	if err != nil {
		return err
	}
	for k := range c.Outputs {
		m.Params.Readout.Weight.Set(k, k, 1)
	}
	shift, err := z.Operator().Of(z.Net.Graph)
	if err != nil {
		return err
	}
	signals, _ := z.Net.Draw(z.Train, z.Stream("train"))
	t := &SourceModel{Network: m, Moment: online.InputMoment(m, shift, signals, z.Read(), nil, nil), Info: SourceInfo{Kind: Blank}}
	online.HearEach(t.Moment, m, shift, signals, z.Read(), nil)
	z.Models[Blank] = t
	return nil
}

// Played is what came out of one pass of a learner over a stream.
type Played struct {
	Accuracy float64 // of all answers, %
	Last     float64 // of those to the last 30 % of the signals
	Right    []int   // right answers up to and including each signal
	Answers  []int32 // by signal and detector, if kept
	Drift    online.Drift
}

// Play runs learners over a stream, side by side: the forward pass of a model is
// computed once per signal for all that begin with it. Answers are kept if keep
// says so.
func (z *Source) Play(ctx context.Context, specs []LearnerSpec, stream *sourceloc.Stream, keep bool) ([]*Played, error) {
	shared, learners := Observers{}, make([]online.Learner, len(specs))
	played, meters := make([]*Played, len(specs)), make([]online.Meter, len(specs))
	for k, spec := range specs {
		var err error
		if learners[k], err = z.Learner(spec, shared); err != nil {
			return nil, err
		}
		played[k] = &Played{}
	}
	y := mat.NewDense(z.Net.Graph.Nodes(), z.World.Communities, nil)
	for sample := range stream.Samples() {
		if err := errors.Join(ctx.Err(), shared.Observe(sample)); err != nil {
			return nil, err
		}
		for k, l := range learners {
			if err := z.step(l, y, stream, &meters[k], played[k], keep, specs[k].After); err != nil {
				return nil, fmt.Errorf("%s: step %d: %w", specs[k].ID, sample.Time, err)
			}
		}
	}
	detectors, from := len(z.Net.Detectors), stream.Len()*7/10
	for k, r := range played {
		r.Accuracy, r.Drift = 100*meters[k].Accuracy(), learners[k].Drift()
		r.Last = 100 * float64(meters[k].Right-r.Right[from-1]) / float64((stream.Len()-from)*detectors)
	}
	return played, nil
}

// step lets a learner answer the signal that its observer was shown, notes the
// answer, and lets it learn; with after, it learns first.
func (z *Source) step(
	l online.Learner, y mat.Dense, stream *sourceloc.Stream, m *online.Meter, r *Played, keep, after bool,
) error {
	if err := l.Predict(y); err != nil {
		return err
	}
	j := stream.Reveal(y)
	if after {
		if err := errors.Join(l.Update(j), l.Predict(y)); err != nil {
			return err
		}
	}
	m.Watch(y, j)
	r.Right = append(r.Right, m.Right)
	if keep {
		for _, i := range z.Read() {
			r.Answers = append(r.Answers, int32(mat.Argmax(y.Row(i))))
		}
	}
	if after {
		return nil
	}
	return l.Update(j)
}

// Subgraph returns what is left of the network if each link is lost with
// probability p. Subgraphs of one number are nested over p.
func (z *Source) Subgraph(number int, p float64) (*graph.Graph, error) {
	if p == 0 {
		return z.Net.Graph, nil
	}
	return graph.NewOutage(z.Net.Graph, z.Stream("outage", number)).At(p)
}

// TestStream returns the test signals as they are heard over a subgraph.
func (z *Source) TestStream(number int, p float64) (*sourceloc.Stream, error) {
	return z.TestOver(z.Operator().Of, number, p)
}

// TestOver is TestStream with another shift of the subgraph.
func (z *Source) TestOver(shift func(*graph.Graph) (*mat.CSR, error), number int, p float64) (*sourceloc.Stream, error) {
	g, err := z.Subgraph(number, p)
	if err != nil {
		return nil, err
	}
	signals, labels := z.Net.Draw(z.Test, z.Stream("test"))
	return z.Net.NewStreamOver(shift, []*graph.Graph{g}, 0, signals, labels)
}
