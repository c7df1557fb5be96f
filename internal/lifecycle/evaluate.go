package lifecycle

import (
	"context"
	"fmt"
	"math"

	"github.com/wdgnn/wdgnn/internal/config"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/train"
)

// Evaluate scores a model on the part of a configuration's data that is called
// train, valid or test. Nodes that have taps of their own use them. A loss that is
// not finite is an error.
func Evaluate(ctx context.Context, m *modelfile.Model, c *config.Config, part string) (*Score, error) {
	d, err := LoadDataset(c)
	if err != nil {
		return nil, err
	}
	p := map[string]*Part{"train": d.Train, "valid": d.Valid, "test": d.Test}[part]
	switch {
	case p == nil:
		return nil, fmt.Errorf("no part of the data is called %q: there are train, valid and test", part)
	case p.Samples == 0:
		return nil, fmt.Errorf("the configuration sets no samples aside to be called %s", part)
	case m.Meta.Shift != d.Shift:
		return nil, fmt.Errorf("the model was trained with shift %v, the configuration has %v", m.Meta.Shift, d.Shift)
	case m.Meta.Delayed != d.Delayed():
		return nil, delayMismatch(m.Meta.Delayed)
	}
	own, err := NodeTapsOf(m)
	if err == nil {
		err = own.Fits(d.Nodes)
	}
	if err != nil {
		return nil, err
	}
	b, err := d.bind(m.Network, p, 0)
	if err != nil {
		return nil, err
	}
	if own != nil {
		b.data = &corrected{b.data, d, own}
		b.correct = func(pass *train.Pass, y mat.Dense) { d.correct(own, pass, y) }
	}
	engine := mat.NewEngine(c.Threads)
	defer engine.Close()
	s, err := score(ctx, m.Network, b, engine, c)
	if err == nil && (math.IsNaN(s.Loss) || math.IsInf(s.Loss, 0)) {
		return nil, fmt.Errorf("the loss on %s is %v: numbers outgrew float32; scale the signals as those of training were", part, s.Loss)
	}
	return s, err
}

// corrected is data whose losses judge the outputs of nodes with taps of their
// own.
type corrected struct {
	train.Data
	set *Dataset
	own *NodeTaps
}

// Fill implements [train.Data].
func (c *corrected) Fill(p *train.Pass, samples []int, k, passes int, draw train.Draw) error {
	err := c.Data.Fill(p, samples, k, passes, draw)
	p.Loss = &correctedLoss{c, p, p.Loss}
	return err
}

// correctedLoss is the loss of one pass over such data.
type correctedLoss struct {
	data *corrected
	pass *train.Pass
	loss loss.Loss
}

// Eval implements [loss.Loss], without a gradient.
func (l *correctedLoss) Eval(dy, y mat.Dense) float64 {
	if !dy.Empty() {
		panic("experiment: Eval: there is no gradient of corrected outputs")
	}
	own := y.Clone()
	l.data.set.correct(l.data.own, l.pass, own)
	return l.loss.Eval(dy, own)
}

func delayMismatch(delayed bool) error {
	if delayed {
		return fmt.Errorf("the model has delayed filters, which need a graph with a time column")
	}
	return fmt.Errorf("the graph has a time column, but the model was trained on a graph that stays as it is")
}
