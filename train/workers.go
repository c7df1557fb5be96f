package train

import (
	"sync"
	"sync/atomic"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/mat"
)

// group is how many passes run before their gradients are added up. It bounds
// memory; the order of the sum, and so its bits, do not depend on it.
const group = 16

// workers compute the gradient of a batch, its passes shared out among threads.
// Every pass has a gradient of its own, and these are added up in the order of
// the passes: which thread ran which pass leaves no trace.
//
// They are goroutines of their own beside those of a mat.Engine, which share out
// the rows of one product: passes are larger pieces of work, and a worker keeps
// its tape from one to the next. Like an Engine they stay alive between batches,
// so that a step of training allocates nothing.
type workers struct {
	model  *gnn.WideDeep
	data   Data
	rows   int
	engine *mat.Engine
	all    []worker
	wake   []chan struct{} // one per helping goroutine
	done   sync.WaitGroup

	// The work at hand, written before the helpers wake.
	batch       []int
	draw        Draw
	first, last int // passes of this group
	passes      int // of the batch
	next        atomic.Int64
	results     [group]result
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
	for w := 1; w < len(c.all); w++ {
		wake := make(chan struct{}, 1)
		c.wake = append(c.wake, wake)
		go func() {
			for range wake {
				c.work(&c.all[w])
				c.done.Done()
			}
		}()
	}
	return c
}

// fold says whether passes fold the wide part into the readout.
func (c *workers) fold(on bool) {
	for w := range c.all {
		c.all[w].tape.Fold = on
	}
}

// close ends the helping goroutines.
func (c *workers) close() {
	for _, wake := range c.wake {
		close(wake)
	}
}

// gradient overwrites grad with the gradient of the mean loss of the batch and
// returns that loss.
func (c *workers) gradient(grad []float32, batch []int, draw Draw) (float64, error) {
	c.batch, c.draw = batch, draw
	c.passes = c.data.Passes(len(batch), c.rows)
	// A batch of one pass has nothing to share out but its products.
	c.all[0].tape.Engine = nil
	if c.passes == 1 {
		c.all[0].tape.Engine = c.engine
	}
	clear(grad)
	sum, total := mat.NewDense(1, len(grad), grad), 0.0
	for c.first = 0; c.first < c.passes; c.first += group {
		c.last = min(c.first+group, c.passes)
		c.share()
		for k := range c.last - c.first {
			r := &c.results[k]
			if r.err != nil {
				return 0, r.err
			}
			mat.Serial.AddScaled(sum, 1, mat.NewDense(1, len(grad), r.grad.Flat))
			total += r.loss
		}
	}
	return total, nil
}

// share runs the passes of the group on all threads.
func (c *workers) share() {
	for k := range c.last - c.first {
		if c.results[k].grad.Flat == nil {
			c.results[k].grad = gnn.NewParams(c.model.Config, nil)
		}
	}
	c.next.Store(int64(c.first))
	helpers := c.wake[:min(len(c.wake), c.last-c.first-1)]
	c.done.Add(len(helpers))
	for _, wake := range helpers {
		wake <- struct{}{}
	}
	c.work(&c.all[0])
	c.done.Wait()
}

// work runs passes until none is left.
func (c *workers) work(w *worker) {
	for {
		k := int(c.next.Add(1)) - 1
		if k >= c.last {
			return
		}
		r := &c.results[k-c.first]
		r.loss, r.err = c.pass(w, k, &r.grad)
	}
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
