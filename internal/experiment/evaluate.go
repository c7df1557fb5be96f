package experiment

import (
	"context"
	"fmt"

	"github.com/wdgnn/wdgnn/internal/config"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/modelfile"
)

// Evaluate scores a model on the part of a configuration's data that is called
// train, valid or test.
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
	b, err := d.bind(m.Network, p, 0)
	if err != nil {
		return nil, err
	}
	engine := mat.NewEngine(c.Threads)
	defer engine.Close()
	return score(ctx, m.Network, b, engine, c)
}

func delayMismatch(delayed bool) error {
	if delayed {
		return fmt.Errorf("the model has delayed filters, which need a graph with a time column")
	}
	return fmt.Errorf("the graph has a time column, but the model was trained on a graph that stays as it is")
}
