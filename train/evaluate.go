package train

import (
	"context"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/mat"
)

// Evaluator runs a model over data without training it. The zero value works
// on one thread; it keeps scratch between calls.
type Evaluator struct {
	Engine *mat.Engine

	// PassRows is Config.PassRows.
	PassRows int

	tape    gnn.Tape
	pass    Pass
	y       mat.Dense
	samples []int
	first   bool // the pass is the first of its batch
}

// evalBatch is how many samples Each asks for at a time; they see one random
// graph where graphs are random.
const evalBatch = 64

// Each runs m over all samples, in order and a few at a time, and calls visit
// with each pass and its output. Data with random graphs draws them from seed.
func (ev *Evaluator) Each(ctx context.Context, m *gnn.WideDeep, data Data, seed uint64, visit func(p *Pass, y mat.Dense)) error {
	cfg := Config{PassRows: ev.PassRows}
	ev.tape.Engine = ev.Engine
	return inOrder(data, cfg.passRows(), &ev.samples, func(samples []int, k, passes, step int) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		ev.first, ev.pass.Weight = k == 0, float64(len(samples))
		if err := data.Fill(&ev.pass, samples, k, passes, Draw{Seed: seed, Step: step}); err != nil {
			return err
		}
		ev.y = ev.y.Resize(len(ev.pass.Rows), m.Outputs())
		m.Forward(ev.y, &ev.pass.Input, &ev.tape)
		visit(&ev.pass, ev.y)
		return nil
	})
}

// inOrder visits the passes over all samples, a batch of evalBatch after the
// other. memory holds the samples of a batch; nil means memory of its own.
func inOrder(data Data, rows int, memory *[]int, visit func(samples []int, k, passes, step int) error) error {
	if memory == nil {
		memory = new([]int)
	}
	for from, step := 0, 0; from < data.Len(); from, step = from+evalBatch, step+1 {
		*memory = (*memory)[:0]
		for s := from; s < min(from+evalBatch, data.Len()); s++ {
			*memory = append(*memory, s)
		}
		passes := data.Passes(len(*memory), rows)
		for k := range passes {
			if err := visit(*memory, k, passes, step); err != nil {
				return err
			}
		}
	}
	return nil
}

// Loss returns J over all samples: one mean over the rows that carry a loss,
// or 0 if none does.
func (ev *Evaluator) Loss(ctx context.Context, m *gnn.WideDeep, data Data, seed uint64) (float64, error) {
	sum, all := 0.0, 0.0
	err := ev.Each(ctx, m, data, seed, func(p *Pass, y mat.Dense) {
		sum += float64(p.Loss.Eval(mat.Dense{}, y) * float64(p.Share*p.Weight))
		if ev.first {
			all += p.Weight
		}
	})
	if all == 0 {
		return 0, err
	}
	return sum / all, err
}

// Accuracy returns the share of rows with a label whose class m finds.
func (ev *Evaluator) Accuracy(ctx context.Context, m *gnn.WideDeep, data Data, classes *Classes, seed uint64) (float64, error) {
	correct, labelled := 0, 0
	err := ev.Each(ctx, m, data, seed, func(p *Pass, y mat.Dense) {
		c, l := classes.Correct(y, p.Rows)
		correct, labelled = correct+c, labelled+l
	})
	return float64(correct) / float64(max(labelled, 1)), err
}

// LiveUnits counts the features of the deep part's last layer that are
// positive for at least one row of data. It returns -1 for a model without a
// deep part.
func (ev *Evaluator) LiveUnits(ctx context.Context, m *gnn.WideDeep, data Data, seed uint64) (int, error) {
	if len(m.Deep().Layers) == 0 {
		return -1, nil
	}
	alive := make([]bool, m.Config.Features)
	err := ev.Each(ctx, m, data, seed, func(*Pass, mat.Dense) {
		m.Deep().MarkLive(alive, ev.tape.Deep())
	})
	live := 0
	for _, a := range alive {
		if a {
			live++
		}
	}
	return live, err
}
