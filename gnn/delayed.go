package gnn

import (
	"fmt"
	"slices"

	"github.com/wdgnn/wdgnn/mat"
)

// delayLine holds the shifted signals of the last step, which the next step
// shifts once more: with one exchange per step,
//
//	Z_0(t) = X_t      Z_k(t) = S_t Z_{k-1}(t-1)      Z_k = 0 before time 0
//
// so that Z_k(t) = S_t S_{t-1} … S_{t-k+1} X_{t-k}.
type delayLine struct {
	now, before mat.Dense // Z_0 over Z_1 over … over Z_K, or side by side: see pushBeside
	rows        int       // of each
	begun       bool      // something came before
}

// push computes Z_0(t) over … over Z_K(t). It leaves the line as it is.
func (d *delayLine) push(e *mat.Engine, s *mat.CSR, x mat.Dense, order int) mat.Dense {
	b := batch("Delayed", s, x)
	d.fit(x)
	d.now = d.now.Resize((order+1)*x.Rows, x.Cols)
	d.z(d.now, 0).CopyFrom(x)
	for k := 1; k <= order; k++ {
		if d.begun {
			shift(e, d.z(d.now, k), s, d.z(d.before, k-1), b)
		} else {
			d.z(d.now, k).Zero()
		}
	}
	return d.now
}

// pushBeside is push for a line that holds Z_0, …, Z_K side by side, as the wide part
// and the first layer read them.
func (d *delayLine) pushBeside(sh *Shifter, s *mat.CSR, x mat.Dense, order int) mat.Dense {
	d.fit(x)
	d.now = d.now.Resize(x.Rows, (order+1)*x.Cols)
	var before mat.Dense
	if d.begun {
		before = d.before
	}
	sh.Delay(d.now, s, x, before)
	return d.now
}

// fit panics unless x has as many rows as the signal before.
func (d *delayLine) fit(x mat.Dense) {
	if d.begun && d.rows != x.Rows {
		panic(fmt.Sprintf("gnn: Delayed: %d rows after a step of %d: Reset before the number of nodes changes", x.Rows, d.rows))
	}
	d.rows = x.Rows
}

// z returns Z_k of a stack.
func (d *delayLine) z(stack mat.Dense, k int) mat.Dense {
	return stack.View(k*d.rows, 0, d.rows, stack.Cols)
}

// advance makes the last pushed signals the ones before.
func (d *delayLine) advance() {
	d.now, d.before = d.before, d.now
	d.begun = true
}

func (d *delayLine) reset() { d.begun = false }

// DelayedFilter runs a filter on a graph that changes at every step, where
// information moves one hop per step, eq. (24):
//
//	Y_t = 1aᵀ + Σ_{k=0..K} S_t S_{t-1} ⋯ S_{t-(k-1)} X_{t-k} A_k
//
// A whole trajectory at once is the same filter on its space-time shift,
// [graph.SpaceTime], to the same bits: that is how it is trained. A
// DelayedFilter is not safe for concurrent use.
type DelayedFilter struct {
	Filter *Filter
	Engine *mat.Engine
	line   delayLine
}

// Step takes S_t and X_t, writes Y_t to y, overwritten, and moves on to t+1.
func (d *DelayedFilter) Step(y mat.Dense, s *mat.CSR, x mat.Dense) {
	z := d.line.push(d.Engine, s, x, d.Filter.Order())
	d.Filter.sum(d.Engine, y, d.line.z(z, 0), z.View(x.Rows, 0, z.Rows-x.Rows, z.Cols))
	d.line.advance()
}

// Reset forgets the past: the next step is time 0.
func (d *DelayedFilter) Reset() { d.line.reset() }

// Delayed runs a WideDeep on a graph that changes at every step: each of its
// filters is a DelayedFilter, and the wide part and the first layer share one
// delay line. It is not safe for concurrent use.
type Delayed struct {
	Model  *WideDeep
	Engine *mat.Engine

	lines   []delayLine // one per layer; that of the first is side by side
	shifted mat.Dense   // [Z_0(t) … Z_K(t)], in the first line
	shifter Shifter
	tape    Tape
}

// Predict writes Ψ at time t to y, overwritten, given S_t and X_t. It does not
// move on: predicting again gives the same.
func (d *Delayed) Predict(y mat.Dense, s *mat.CSR, x mat.Dense) {
	m, e := d.Model, d.Engine
	d.tape.Engine = e
	for len(d.lines) < max(len(m.Params.deep.Layers), 1) {
		d.lines = append(d.lines, delayLine{})
	}
	d.shifter.Engine = e
	d.shifted = d.lines[0].pushBeside(&d.shifter, s, x, m.InputOrder())
	m.forwardWide(d.shifted, &d.tape)
	var h mat.Dense
	for l := range m.Params.deep.Layers {
		layer := &m.Params.deep.Layers[l]
		for len(d.tape.deep.Layers) <= l {
			d.tape.deep.Layers = append(d.tape.deep.Layers, LayerTape{})
		}
		t := &d.tape.deep.Layers[l]
		t.Engine = e
		if l == 0 {
			layer.forwardShifted(d.shifted, t)
		} else {
			t.Out = t.Out.Resize(x.Rows, layer.Out())
			z := d.lines[l].push(e, s, h, layer.Order())
			layer.sum(e, t.Out, d.lines[l].z(z, 0), z.View(h.Rows, 0, z.Rows-h.Rows, z.Cols))
			layer.Activation.forward(e, t.Out)
		}
		h = t.Out
	}
	m.finish(y, h, &d.tape)
}

// Advance moves on to t+1 after Predict at t.
func (d *Delayed) Advance() {
	for l := range d.lines {
		d.lines[l].advance()
	}
}

// Shifted returns [Z_0(t) … Z_K(t)] of the last Predict, which is what the
// wide part's gradient reads. It belongs to d.
func (d *Delayed) Shifted() mat.Dense { return d.shifted }

// Reset forgets the past: the next step is time 0.
func (d *Delayed) Reset() {
	for l := range d.lines {
		d.lines[l].reset()
	}
}

// Memory returns a copy of the delay lines, one per layer and nil for those
// that nothing has passed yet: what Recall needs to go on with the same bits. Z_0 of
// all nodes comes first, then Z_1, up to Z_K.
func (d *Delayed) Memory() [][]float32 {
	var all [][]float32
	for l := range d.lines {
		var line []float32
		switch before := d.lines[l].before; {
		case !d.lines[l].begun:
		case l == 0:
			line = make([]float32, len(before.Data))
			beside(before, line, d.Model.Config.In, func(z, line mat.Dense) { line.CopyFrom(z) })
		default:
			line = slices.Clone(before.Data)
		}
		all = append(all, line)
	}
	return all
}

// Recall puts back delay lines that Memory returned, for a network of n nodes.
// An error says what does not fit and leaves d as it was.
func (d *Delayed) Recall(n int, memory [][]float32) error {
	m := d.Model
	if layers := max(len(m.Params.deep.Layers), 1); len(memory) > layers {
		return fmt.Errorf("gnn: Recall: %d delay lines for a model of %d", len(memory), layers)
	}
	lines := make([]delayLine, len(memory))
	for l, line := range memory {
		if line == nil {
			continue
		}
		order, features := m.InputOrder(), m.Config.In
		if l > 0 {
			order, features = m.Params.deep.Layers[l].Order(), m.Params.deep.Layers[l].In()
		}
		if len(line) != (order+1)*n*features {
			return fmt.Errorf("gnn: Recall: a delay line of %d numbers, want %d shifts of %d nodes with %d features",
				len(line), order+1, n, features)
		}
		lines[l] = delayLine{rows: n, begun: true}
		if l == 0 {
			lines[l].before = mat.NewDense(n, (order+1)*features, nil)
			beside(lines[l].before, line, features, func(z, line mat.Dense) { z.CopyFrom(line) })
		} else {
			lines[l].before = mat.NewDense((order+1)*n, features, slices.Clone(line))
		}
	}
	d.lines = lines
	return nil
}

// beside calls do for Z_0, Z_1, … of z, where they stand side by side, and of line,
// where they follow each other.
func beside(z mat.Dense, line []float32, features int, do func(z, line mat.Dense)) {
	n := z.Rows * features
	for k := range z.Cols / features {
		do(z.View(0, k*features, z.Rows, features), mat.NewDense(z.Rows, features, line[k*n:(k+1)*n]))
	}
}
