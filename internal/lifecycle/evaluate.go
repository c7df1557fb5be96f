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
	a, err := ask(ctx, m, c, part)
	if err != nil {
		return nil, err
	}
	if a.own != nil {
		a.bound.data = &corrected{a.bound.data, a}
		a.bound.correct = func(pass *train.Pass, y mat.Dense) { a.set.correct(a.own, a.part, pass, y) }
	}
	engine := mat.NewEngine(c.Threads)
	defer engine.Close()
	s, err := score(ctx, m.Network, a.bound, engine, c)
	if err == nil && a.own == nil {
		err = a.set.judge(ctx, s, m.Network, part)
	}
	if err == nil && (math.IsNaN(s.Loss) || math.IsInf(s.Loss, 0)) {
		return nil, fmt.Errorf("the loss on %s is %v: numbers outgrew float32; scale the signals as those of training were", part, s.Loss)
	}
	if err == nil && c.Forecast != nil {
		s.Forecast, err = evaluateForecasts(ctx, m, c, part)
	}
	return s, err
}

// asked is a part of a configuration's data, ready for a model.
type asked struct {
	set   *Dataset
	part  *Part
	bound bound
	own   *NodeTaps // of the model; nil if it has none
}

// ask loads the part of the data that is called train, valid or test, and checks
// that the model fits it.
func ask(ctx context.Context, m *modelfile.Model, c *config.Config, part string) (*asked, error) {
	d, err := loadDataset(ctx, c)
	if err != nil {
		return nil, err
	}
	a := &asked{set: d, part: map[string]*Part{"train": d.Train, "valid": d.Valid, "test": d.Test}[part]}
	switch {
	case a.part == nil:
		return nil, fmt.Errorf("no part of the data is called %q: there are train, valid and test", part)
	case a.part.Samples == 0:
		return nil, fmt.Errorf("the configuration sets no samples aside to be called %s", part)
	case m.Meta.Shift != d.Shift:
		return nil, fmt.Errorf("the model was trained with shift %v, the configuration has %v", m.Meta.Shift, d.Shift)
	case m.Meta.Delayed != d.Delayed():
		return nil, delayMismatch(m.Meta.Delayed)
	}
	if a.own, err = d.nodeTaps(m); err != nil {
		return nil, err
	}
	a.bound, err = d.bind(m.Network, a.part, train.Outage{})
	return a, err
}

// corrected is data whose losses judge the outputs of nodes with taps of their
// own.
type corrected struct {
	train.Data
	of *asked
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
	l.data.of.set.correct(l.data.of.own, l.data.of.part, l.pass, own)
	return l.loss.Eval(dy, own)
}

func delayMismatch(delayed bool) error {
	if delayed {
		return fmt.Errorf("the model has delayed filters, which need a graph with a time column")
	}
	return fmt.Errorf("the graph has a time column, but the model was trained on a graph that stays as it is")
}
