package perf

import (
	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/optim"
	"github.com/wdgnn/wdgnn/train"
)

// pass is one pass of a batch: the loss of its outputs, and the share of that in
// the loss of the batch.
type pass struct {
	rows  int
	loss  loss.Loss
	share float64
}

// batch is a train.Data that holds one batch, its passes cut and its losses laid
// out beforehand. What a pass must compute first, such as shifts of its signals,
// input does on the thread of the pass.
type batch struct {
	passes []pass
	input  func(p *train.Pass, k int) // sets p.Input
	rows   []int                      // as many as the longest pass has
	fold   bool                       // train.Config.FoldWide
}

func (b *batch) Len() int            { return 1 }
func (b *batch) Passes(_, _ int) int { return len(b.passes) }

func (b *batch) Fill(p *train.Pass, _ []int, k, _ int, _ train.Draw) error {
	own := &b.passes[k]
	b.input(p, k)
	p.Rows, p.Loss, p.Share = b.rows[:own.rows], own.loss, own.share
	return nil
}

// add appends a pass.
func (b *batch) add(p pass) {
	b.passes = append(b.passes, p)
	b.rows = make([]int, max(len(b.rows), p.rows))
}

// stepOn returns a function that takes one training step on the batch with a model of
// its own, as wdgnn train does it: passes on all threads.
func stepOn(env Env, c gnn.Config, stepSize float64, b *batch) (func(), error) {
	m, err := gnn.NewRandom(c, env.stream("init"))
	if err != nil {
		return nil, err
	}
	if env.trained != nil {
		env.trained(m)
	}
	if env.batch != nil {
		env.batch(b)
	}
	s, err := train.NewStepper(m, train.Job{
		Config: train.Config{Epochs: 1, BatchSize: 1, FoldWide: b.fold, Adam: optim.AdamConfig{StepSize: stepSize}},
		Train:  b, Engine: env.Engine,
	})
	if err != nil {
		return nil, err
	}
	first := []int{0}
	return func() { must(s.Step(first)) }, nil
}

// shiftedWidth is the number of columns of the shifts of a signal.
func shiftedWidth(c gnn.Config) int {
	return (max(c.Wide.Order, c.Deep[0].Order) + 1) * c.In
}

// signalShifter is what a pass that shifts whole signals keeps.
type signalShifter struct {
	shifter gnn.Shifter
	z       mat.Dense
}

// shift returns the shifts of x, in memory of the pass.
func shift(p *train.Pass, s *mat.CSR, x mat.Dense, width int) mat.Dense {
	own, ok := p.Own.(*signalShifter)
	if !ok {
		own = new(signalShifter)
		p.Own = own
	}
	own.z = own.z.Resize(x.Rows, width)
	own.shifter.Shift(own.z, s, x)
	return own.z
}
