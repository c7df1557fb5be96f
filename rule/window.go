package rule

import (
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
)

// Window is the cost of the last m steps of one node, or of a whole network:
//
//	J(x) = mean over the steps that brought a cost, of the mean over their rows,
//	       of J_r(y†_r + z_r x R)
//
// What is kept of a step is z and y†, not the answer that was given: both are the
// model's as trained, and with them every old step can be judged again at the
// parameters of now. A gradient at old answers would be one of parameters that
// nobody has any more. Steps without a cost take a place in the window but no
// share of the mean, so that a node which is told rarely takes steps as long as
// one which is told always.
//
// With m = 1 it is the cost of the current step alone, and any cost will do;
// then nothing of it is kept afterwards. A longer window keeps targets and
// needs a [loss.Targeted].
//
// Only steps of one kind of cost are in a window, with targets of one length.
// A Window allocates nothing once it is full. It is not safe for concurrent
// use.
type Window struct {
	basis  *Basis
	config *Config
	length int // m
	per    int // rows per step at most

	z        []float64 // slot·per·rows: inputs, and 1 if the bias is retrained
	base     []float32 // slot·per·C
	target   []float32 // slot·per·targets
	count    []int     // rows of each slot
	newest   int       // slot of the current step
	filled   int       // slots in use, the newest included
	held     int       // rows in all slots in use
	targets  int       // numbers per target
	one      []float32 // one target
	restored bool      // targets came from outside

	judge   loss.Targeted // costs a row with its target
	current loss.Loss     // costs the rows of the newest slot; set during one update with m = 1

	effective, g       []float64 // rows×C
	scratch, projected []float64 // a row of C values, and as many as x has
	y, dy              mat.Dense
}

func newWindow(f *Basis, c *Config, rows int) *Window {
	m := max(c.Window, 1)
	return &Window{
		basis: f, config: c, length: m, per: rows,
		count:     make([]int, m),
		effective: make([]float64, f.rows*f.outputs), g: make([]float64, f.rows*f.outputs),
		scratch: make([]float64, f.outputs), projected: make([]float64, f.Len()),
		y: mat.NewDense(rows, f.outputs, nil), dy: mat.NewDense(rows, f.outputs, nil),
	}
}

// begin opens the slot of a new step and forgets the one m steps ago.
func (w *Window) begin() {
	if w.filled < w.length {
		w.newest = w.filled
		w.filled++
	} else {
		w.newest = (w.newest + 1) % w.length
		w.held -= w.count[w.newest]
	}
	w.count[w.newest] = 0
}

// drop empties the newest slot.
func (w *Window) drop() {
	if w.filled > 0 {
		w.held -= w.count[w.newest]
		w.count[w.newest] = 0
	}
}

// forget drops all steps.
func (w *Window) forget() { w.filled, w.held = 0, 0 }

// setTargets makes room for targets of n numbers. Old ones of another length
// belong to another kind of cost, which nobody can judge any more: steps with
// observations are dropped.
func (w *Window) setTargets(n int) {
	if n == w.targets {
		return
	}
	if w.held > 0 {
		w.forget()
	}
	w.targets, w.one, w.target = n, make([]float32, n), nil
}

// row returns [z_r 1] or z_r, as the basis has it.
func (w *Window) row(r int) []float64 { return w.z[r*w.basis.rows : (r+1)*w.basis.rows] }

// add puts an observation into the newest slot and returns where its target
// goes.
func (w *Window) add(z, base []float32) (target []float32) {
	if w.z == nil { // most nodes of a network may never see a cost
		w.z = make([]float64, w.length*w.per*w.basis.rows)
		w.base = make([]float32, w.length*w.per*w.basis.outputs)
	}
	if w.target == nil {
		w.target = make([]float32, w.length*w.per*w.targets)
	}
	r := w.newest*w.per + w.count[w.newest]
	row := w.row(r)
	row[len(row)-1] = 1 // of the bias; an input overwrites it if that is not retrained
	for k, v := range z {
		row[k] = float64(v)
	}
	copy(w.base[r*w.basis.outputs:(r+1)*w.basis.outputs], base)
	w.count[w.newest]++
	w.held++
	return w.target[r*w.targets : (r+1)*w.targets]
}

// take puts the observations of a step into the window: rows of z and base,
// those whose cost the loss carries. Row r is row rows[r] of the loss.
func (w *Window) take(z, base mat.Dense, rows []int32, j loss.Targeted) {
	w.setTargets(j.TargetLen(w.basis.outputs))
	if w.restored && !w.suits(j) {
		w.forget()
	}
	w.restored = false
	w.judge = j
	w.begin()
	for r := range z.Rows {
		if j.TargetOf(int(rows[r]), w.one) {
			copy(w.add(z.Row(r)[:w.basis.inputs], base.Row(r)), w.one)
		}
	}
}

// suits says whether j can judge the targets in the window. Any number will
// do, except where targets are labels.
func (w *Window) suits(j loss.Targeted) bool {
	switch j.(type) {
	case loss.CrossEntropy, *loss.CrossEntropy:
	default:
		return true
	}
	for s := range w.slots {
		for _, v := range w.target[s*w.per : s*w.per+w.count[s]] {
			if !(v >= 0 && v < float32(w.basis.outputs)) {
				return false
			}
		}
	}
	return true
}

// takeAll puts all rows of a step into the window, to be judged by j together
// until the update is over.
func (w *Window) takeAll(z, base mat.Dense, j loss.Loss) {
	w.setTargets(0)
	w.begin()
	for r := range z.Rows {
		w.add(z.Row(r)[:w.basis.inputs], base.Row(r))
	}
	w.current = j
}

// release drops what belongs to the caller.
func (w *Window) release() {
	w.judge, w.current = nil, nil
	if w.length == 1 {
		w.forget()
	}
}

// slots yields the slots that hold observations, the oldest first.
func (w *Window) slots(yield func(slot int) bool) {
	for k := range w.filled {
		s := (w.newest + 1 + k) % w.filled // if filled < m, the newest is the last
		if w.count[s] > 0 && !yield(s) {
			return
		}
	}
}
