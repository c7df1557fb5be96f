package train

import (
	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/mat"
)

// Gradients of passes wait for each other before they are added up: as many as
// fit groupValues, but at least leastGroup and at most mostGroup passes. That
// bounds memory; the order of the sum, and so its bits, do not depend on it.
const (
	groupValues = 1 << 20
	leastGroup  = 16
	mostGroup   = 256
)

// sumWork is the least number of values that a thread adds up.
const sumWork = 1 << 15

// workers compute the gradient of a batch, its passes shared out among threads.
// Every pass has a gradient of its own, and these are added up in the order of
// the passes: which thread ran which pass leaves no trace.
//
// The threads are those of a mat.Engine, which otherwise share out the rows of
// one product: passes are larger pieces of work, and a worker keeps its tape from
// one to the next.
type workers struct {
	model  *gnn.WideDeep
	data   Data
	rows   int
	engine *mat.Engine
	all    []worker            // one per thread
	run    func(thread, k int) // workers.work
	add    func(_, k int)      // workers.sum

	// The work at hand, written before other threads see it.
	batch   []int
	draw    Draw
	first   int // pass of this group
	passes  int // of the batch
	results []result
	total   []float32 // the gradient of the batch
	ready   int       // passes of the group
	parts   int       // in which their gradients are added up
}

// worker is what one thread needs to run a pass.
type worker struct {
	tape  gnn.Tape
	pass  Pass
	y, dy mat.Dense
}

// result is what one pass leaves.
type result struct {
	grad gnn.Params
	loss float64
	err  error
}

func newWorkers(m *gnn.WideDeep, data Data, rows int, engine *mat.Engine) *workers {
	c := &workers{model: m, data: data, rows: rows, engine: engine, all: make([]worker, engine.Threads())}
	c.results = make([]result, min(max(groupValues/len(m.Params.Flat), leastGroup), mostGroup))
	c.run, c.add = c.work, c.sum
	return c
}

// fold says whether passes fold the wide part into the readout.
func (c *workers) fold(on bool) {
	for w := range c.all {
		c.all[w].tape.Fold = on
	}
}

// gradient overwrites grad with the gradient of the mean loss of the batch and
// returns that loss.
func (c *workers) gradient(grad []float32, batch []int, draw Draw) (float64, error) {
	c.batch, c.draw = batch, draw
	c.passes = c.data.Passes(len(batch), c.rows)
	// A batch of one pass has nothing to share out but its products; of several,
	// those who have no pass help with the products of others.
	for w := range c.all {
		c.all[w].tape.Engine = c.engine.Within(w)
	}
	if c.passes == 1 {
		c.all[0].tape.Engine = c.engine
	}
	clear(grad)
	c.total = grad
	loss, group := 0.0, len(c.results)
	for c.first = 0; c.first < c.passes; c.first += group {
		c.ready = min(group, c.passes-c.first)
		for k := range c.ready {
			if c.results[k].grad.Flat == nil {
				c.results[k].grad = gnn.NewParams(c.model.Config, nil)
			}
		}
		c.engine.Share(c.ready, c.run)
		for k := range c.ready {
			r := &c.results[k]
			if r.err != nil {
				return 0, r.err
			}
			loss += r.loss
		}
		c.parts = min(max(c.ready*len(grad)/sumWork, 1), len(c.all))
		c.engine.Share(c.parts, c.add)
	}
	return loss, nil
}

// sum adds the gradients of the group to that of the batch, in the order of the
// passes: part k of all parameters.
func (c *workers) sum(_, k int) {
	lo, hi := part(len(c.total), k, c.parts)
	sum := mat.NewDense(1, hi-lo, c.total[lo:hi])
	for r := range c.ready {
		mat.Serial.AddScaled(sum, 1, mat.NewDense(1, hi-lo, c.results[r].grad.Flat[lo:hi]))
	}
}

// work runs pass k of the group.
func (c *workers) work(thread, k int) {
	r := &c.results[k]
	r.loss, r.err = c.pass(&c.all[thread], c.first+k, &r.grad)
}

// pass runs pass k and overwrites grad with its share of the gradient.
func (c *workers) pass(w *worker, k int, grad *gnn.Params) (float64, error) {
	p, m := &w.pass, c.model
	if err := c.data.Fill(p, c.batch, k, c.passes, c.draw); err != nil {
		return 0, err
	}
	w.y = w.y.Resize(len(p.Rows), m.Outputs())
	w.dy = w.dy.Resize(len(p.Rows), m.Outputs())
	m.Forward(w.y, &p.Input, &w.tape)
	j := float64(p.Share * p.Loss.Eval(w.dy, w.y))
	if p.Share != 1 {
		w.tape.Engine.Scale(w.dy, float32(p.Share))
	}
	clear(grad.Flat)
	m.Backward(grad, mat.Dense{}, w.dy, &p.Input, &w.tape)
	return j, nil
}
