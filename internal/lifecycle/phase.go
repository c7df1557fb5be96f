package lifecycle

import (
	"context"

	"github.com/wdgnn/wdgnn/train"
)

// phase returns what the work of a long phase calls again and again: it tells Watch
// how much of all is done, and returns why to stop, if so.
func (t *Training) phase(ctx context.Context, name string) func(done, all int) error {
	return func(done, all int) error {
		if t.Watch != nil {
			t.Watch(name, done, all)
		}
		return ctx.Err()
	}
}

// watched returns data for evaluations that are a phase of that name: so many runs
// over all of it.
func (t *Training) watched(ctx context.Context, name string, data train.Data, runs int) train.Data {
	return &watched{Data: data, all: runs * data.Len(), step: t.phase(ctx, name)}
}

// watched is data that counts the samples which an Evaluator runs.
type watched struct {
	train.Data
	done, all int
	step      func(done, all int) error
}

// Fill implements [train.Data].
func (w *watched) Fill(p *train.Pass, samples []int, k, passes int, draw train.Draw) error {
	if err := w.Data.Fill(p, samples, k, passes, draw); err != nil {
		return err
	}
	if k == passes-1 {
		w.done += len(samples)
	}
	return w.step(w.done, w.all)
}
