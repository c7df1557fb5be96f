package gnn_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/twintest"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/optim"
)

// Inputs and parameters of the twin are exact in float32, so all that may
// differ is rounding, 6e-8 at a time. Errors are relative to the largest number
// of a tensor: an element that is small because large terms cancel has no
// better. Each limit is two to four times the worst error that the two kernel
// sets of amd64 make.
const (
	twinOutputTolerance = 1e-6 // worst 2.8e-7
	twinCostTolerance   = 3e-7 // worst 1.1e-7, after ten steps: J averages the errors of many outputs
	twinGradTolerance   = 5e-6 // worst 2.1e-6, where the gradient of a bias cancels down to a sixth of its terms
)

// twinCase is one model of the twin, its data and what came out. Signals,
// targets and outputs are sample × node × feature.
type twinCase struct {
	Config    gnn.Config            `json:"config"`
	Params    map[string]twinTensor `json:"params"`
	Shifts    twinTensor            `json:"shifts"`  // one, one per time if delayed, or one per training step
	Delayed   bool                  `json:"delayed"` // nodes are then those of time 0, those of time 1, …
	Signal    twinTensor            `json:"signal"`
	Read      []int                 `json:"read"` // nodes that carry a loss
	Loss      string                `json:"loss"`
	Labels    [][]int32             `json:"labels"`
	Targets   twinTensor            `json:"targets"`
	Threshold float32               `json:"threshold"`
	Optimizer string                `json:"optimizer"`
	StepSize  float64               `json:"step_size"`

	Output    twinTensor            `json:"output"`
	Cost      float64               `json:"cost"`
	Grads     map[string]twinTensor `json:"grads"`
	InputGrad twinTensor            `json:"input_grad"`
	Losses    []float64             `json:"losses"` // J before each training step and after the last
}

// forEachTwin runs f on the cases of the file that suit it and says how large
// errors were.
func forEachTwin(t *testing.T, suits func(c *twinCase) bool, f func(t *testing.T, c *twinCase, check *twinCheck)) {
	t.Helper()
	cases := twintest.Cases[*twinCase](t)
	maps.DeleteFunc(cases, func(_ string, c *twinCase) bool { return !suits(c) })
	if len(cases) == 0 {
		t.Fatal("the twin has no case for this test")
	}
	for _, name := range slices.Sorted(maps.Keys(cases)) {
		t.Run(name, func(t *testing.T) {
			check := &twinCheck{t: t}
			f(t, cases[name], check)
			t.Logf("largest relative errors: outputs %.1e, J %.1e, gradients %.1e", check.output, check.cost, check.grad)
		})
	}
}

func anyTwin(*twinCase) bool       { return true }
func delayedTwin(c *twinCase) bool { return c.Delayed }
func bareFilterTwin(c *twinCase) bool {
	return c.Delayed && len(c.Config.Deep) == 0 && c.Config.Outputs == 0
}

// model returns the model that the twin computed with.
func (c *twinCase) model(t *testing.T) *gnn.WideDeep {
	t.Helper()
	m, err := gnn.New(c.Config)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := len(m.Params.Windows()), len(c.Params); got != want {
		t.Fatalf("model has %d tensors, want the twin's %d", got, want)
	}
	for _, w := range m.Params.Windows() {
		p := c.Params[w.Name]
		if !slices.Equal(p.shape, []int{w.Rows, w.Cols}) && !(w.Rows == 1 && slices.Equal(p.shape, []int{w.Cols})) {
			t.Fatalf("%s: %d×%d, want the twin's %v", w.Name, w.Rows, w.Cols, p.shape)
		}
		for i, v := range p.data {
			m.Params.Flat[w.Offset+i] = float32(v)
		}
	}
	return m
}

// shifts returns all shifts of the case.
func (c *twinCase) shifts(t *testing.T) []*mat.CSR {
	t.Helper()
	var all []*mat.CSR
	n := c.Shifts.shape[1]
	for k := range c.Shifts.shape[0] {
		var entries []mat.Entry
		for i := range n {
			for j, v := range c.Shifts.row(k, i) {
				if v != 0 {
					entries = append(entries, mat.Entry{Row: i, Col: j, Val: float32(v)})
				}
			}
		}
		s, err := mat.FromEntries(n, n, entries)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	return all
}

// shift returns the shift of a training step, over all times if delayed.
func (c *twinCase) shift(t *testing.T, step int) *mat.CSR {
	t.Helper()
	all := c.shifts(t)
	if c.Delayed {
		return graph.SpaceTime(all)
	}
	return all[step%len(all)]
}

// cost returns J over outputs with the given rows. Rows that the twin does not
// read carry no loss.
func (c *twinCase) cost(t *testing.T, rows []twinPlace) loss.Loss {
	t.Helper()
	target := mat.NewDense(len(rows), c.Output.shape[2], nil)
	mask := make([]bool, len(rows))
	labels := make([]int32, len(rows))
	for r, at := range rows {
		mask[r], labels[r] = slices.Contains(c.Read, at.node), loss.NoLabel
		if c.Loss != "cross-entropy" {
			c.Targets.copyRow(target.Row(r), at)
		} else if mask[r] {
			labels[r] = c.Labels[at.sample][at.node]
		}
	}
	switch c.Loss {
	case "cross-entropy":
		return loss.CrossEntropy{Labels: labels}
	case "mse":
		return loss.MSE{Target: target, Mask: mask}
	case "smooth-l1":
		return loss.SmoothL1{Target: target, Mask: mask, Threshold: c.Threshold}
	}
	t.Fatalf("no loss is called %q", c.Loss)
	return nil
}

// optimizer returns a new optimizer for m.
func (c *twinCase) optimizer(t *testing.T, m *gnn.WideDeep) (o optim.Optimizer) {
	t.Helper()
	var err error
	switch n := len(m.Params.Flat); c.Optimizer {
	case "adam":
		o, err = optim.NewAdam(n, optim.AdamConfig{StepSize: c.StepSize})
	case "sgd":
		o, err = optim.NewSGD(n, optim.SGDConfig{StepSize: c.StepSize})
	default:
		err = fmt.Errorf("no optimizer is called %q", c.Optimizer)
	}
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// twinPlace is what one row of a pass stands for.
type twinPlace struct{ sample, node int }

// signal returns the signals at the given rows.
func (c *twinCase) signal(rows []twinPlace) mat.Dense {
	x := mat.NewDense(len(rows), c.Config.In, nil)
	for r, at := range rows {
		c.Signal.copyRow(x.Row(r), at)
	}
	return x
}

// places returns the rows of nodes from, …, to-1 of all samples, node by node.
func (c *twinCase) places(from, to int) (rows []twinPlace) {
	for i := from; i < to; i++ {
		for b := range c.Signal.shape[0] {
			rows = append(rows, twinPlace{b, i})
		}
	}
	return rows
}

// twinPass is what goes through a model at once: some samples on one shift.
type twinPass struct {
	shift *mat.CSR
	rows  []twinPlace
	read  []int // the nodes of shift that carry a loss
}

// The ways to cut the samples of a case into passes.
var twinLayouts = map[string]func(c *twinCase, s *mat.CSR) []twinPass{
	"batch": func(c *twinCase, s *mat.CSR) []twinPass { return []twinPass{c.batch(s)} },
	"one by one": func(c *twinCase, s *mat.CSR) (passes []twinPass) {
		for b := range c.Signal.shape[0] {
			p := twinPass{shift: s, read: c.Read}
			for i := range s.Rows {
				p.rows = append(p.rows, twinPlace{b, i})
			}
			passes = append(passes, p)
		}
		return passes
	},
	"a block per sample": func(c *twinCase, s *mat.CSR) []twinPass {
		var p twinPass
		var blocks []*mat.CSR
		for b := range c.Signal.shape[0] {
			blocks = append(blocks, s)
			for i := range s.Rows {
				p.rows = append(p.rows, twinPlace{b, i})
			}
			for _, i := range c.Read {
				p.read = append(p.read, b*s.Rows+i)
			}
		}
		p.shift = mat.BlockDiagonal(blocks...)
		return []twinPass{p}
	},
}

// batch is all samples on one shift, node by node.
func (c *twinCase) batch(s *mat.CSR) twinPass {
	return twinPass{shift: s, rows: c.places(0, s.Rows), read: c.Read}
}

// twinResult is what a model made of a pass.
type twinResult struct {
	rows []twinPlace // of y
	y    mat.Dense
	dx   mat.Dense // empty if only some rows are computed
	j    float64   // J of the pass times its share of the samples
}

// twinMemory is what passes over one model reuse.
type twinMemory struct {
	tape gnn.Tape
	read *gnn.Rows
}

// run sends p through m and adds the gradients to grad. Pruned, only the rows
// that carry a loss are computed.
func (p twinPass) run(t *testing.T, c *twinCase, m *gnn.WideDeep, grad *gnn.Params, memory *twinMemory, pruned bool) twinResult {
	t.Helper()
	b, x := len(p.rows)/p.shift.Rows, c.signal(p.rows)
	in := &gnn.Input{Shift: p.shift, ShiftT: p.shift.T(), Shifted: mat.NewDense(x.Rows, (m.InputOrder()+1)*x.Cols, nil)}
	new(gnn.Shifter).Shift(in.Shifted, p.shift, x)
	out := twinResult{rows: p.rows, dx: mat.NewDense(x.Rows, x.Cols, nil)}
	if pruned {
		in.Read = memory.rows(t, p, m.LastOrder())
		in.ReadShifted = mat.NewDense(len(p.read)*b, in.Shifted.Cols, nil)
		in.Read.Gather(in.ReadShifted, in.Shifted, b)
		out.rows, out.dx = nil, mat.Dense{}
		for _, i := range p.read {
			out.rows = append(out.rows, p.rows[i*b:(i+1)*b]...)
		}
	}
	out.y = mat.NewDense(len(out.rows), m.Outputs(), nil)
	m.Forward(out.y, in, &memory.tape)
	dy := mat.NewDense(out.y.Rows, out.y.Cols, nil)
	share := float64(len(p.rows)) / float64(c.Signal.shape[0]*c.Signal.shape[1])
	out.j = share * c.cost(t, out.rows).Eval(dy, out.y)
	mat.Serial.Scale(dy, float32(share))
	m.Backward(grad, out.dx, dy, in, &memory.tape)
	return out
}

// rows prepares what is read of p; if the nodes are those of the pass before,
// by Reset.
func (memory *twinMemory) rows(t *testing.T, p twinPass, order int) *gnn.Rows {
	t.Helper()
	if memory.read != nil && slices.Equal(memory.read.Nodes, p.read) {
		memory.read.Reset(p.shift, order)
		return memory.read
	}
	var err error
	if memory.read, err = gnn.NewRows(p.shift, p.read, order); err != nil {
		t.Fatal(err)
	}
	return memory.read
}

// The models, their costs and all gradients agree with the twin: sample by
// sample, in a batch, and with a block of one large graph per sample; with all
// rows computed and with those that are read; one graph and a trajectory of
// graphs. One memory serves all passes of a model.
// Reference: Section 2, eq. (2)-(4), and Section 6, eq. (24).
func TestTwin(t *testing.T) {
	forEachTwin(t, anyTwin, func(t *testing.T, c *twinCase, check *twinCheck) {
		m, memory := c.model(t), new(twinMemory)
		for _, layout := range slices.Sorted(maps.Keys(twinLayouts)) {
			for _, pruned := range []bool{false, true} {
				check.where = fmt.Sprintf("%s, pruned %v", layout, pruned)
				grad, j := gnn.NewParams(c.Config, nil), 0.0
				for _, p := range twinLayouts[layout](c, c.shift(t, 0)) {
					result := p.run(t, c, m, &grad, memory, pruned)
					j += result.j
					check.outputs("output", result.y, result.rows, c.Output)
					if !pruned {
						check.inputGrad(result.dx, result.rows, c.InputGrad)
					}
				}
				check.value("J", j, c.Cost)
				check.grads(&grad, c.Grads)
			}
		}
	})
}

// Ten steps of Adam or of gradient descent give the twin's costs, on one graph
// and on another one at each step.
func TestTwinTraining(t *testing.T) {
	forEachTwin(t, anyTwin, func(t *testing.T, c *twinCase, check *twinCheck) {
		for _, pruned := range []bool{false, true} {
			check.where = fmt.Sprintf("pruned %v", pruned)
			m, memory := c.model(t), new(twinMemory)
			grad, optimizer := gnn.NewParams(c.Config, nil), c.optimizer(t, m)
			for step, want := range c.Losses {
				clear(grad.Flat)
				result := c.batch(c.shift(t, step)).run(t, c, m, &grad, memory, pruned)
				check.value(fmt.Sprintf("J after %d steps", step), result.j, want)
				optimizer.Step(m.Params.Flat, grad.Flat)
			}
		}
	})
}

// Step by step, one exchange at a time, a model on changing graphs gives the
// twin's outputs, and again after Reset.
// Reference: Section 6, eq. (24).
func TestTwinDelayed(t *testing.T) {
	forEachTwin(t, delayedTwin, func(t *testing.T, c *twinCase, check *twinCheck) {
		d := gnn.Delayed{Model: c.model(t)}
		for _, run := range []string{"first run", "after Reset"} {
			for now, s := range c.shifts(t) {
				check.where = fmt.Sprintf("%s, time %d", run, now)
				rows := c.places(now*s.Rows, (now+1)*s.Rows)
				x, y := c.signal(rows), mat.NewDense(len(rows), d.Model.Outputs(), nil)
				for range 2 { // predicting again changes nothing
					d.Predict(y, s, x)
					check.outputs("output", y, rows, c.Output)
				}
				d.Advance()
			}
			d.Reset()
		}
	})
}

// A filter alone agrees with the twin in all its forms.
// Reference: Section 2, eq. (3), and Section 6, eq. (24).
func TestTwinFilter(t *testing.T) {
	forEachTwin(t, bareFilterTwin, func(t *testing.T, c *twinCase, check *twinCheck) {
		m, p, tape := c.model(t), c.batch(c.shift(t, 0)), new(gnn.FilterTape)
		f, x := &m.Params.Wide, c.signal(p.rows)
		y := mat.NewDense(x.Rows, f.Out(), nil)
		check.where = "space-time"
		f.Apply(y, p.shift, x, new(gnn.FilterTape))
		check.outputs("Apply", y, p.rows, c.Output)
		f.Forward(y, p.shift, x, tape)
		check.outputs("Forward", y, p.rows, c.Output)

		grad := gnn.NewParams(c.Config, nil)
		dx, dy := mat.NewDense(x.Rows, x.Cols, nil), mat.NewDense(y.Rows, y.Cols, nil)
		check.value("J", c.cost(t, p.rows).Eval(dy, y), c.Cost)
		f.Backward(&grad.Wide, dx, p.shift.T(), dy, tape)
		check.inputGrad(dx, p.rows, c.InputGrad)
		check.grads(&grad, c.Grads)

		d := gnn.DelayedFilter{Filter: f}
		for now, s := range c.shifts(t) {
			check.where = fmt.Sprintf("time %d", now)
			rows := c.places(now*s.Rows, (now+1)*s.Rows)
			y := mat.NewDense(len(rows), f.Out(), nil)
			d.Step(y, s, c.signal(rows))
			check.outputs("Step", y, rows, c.Output)
		}
	})
}

// twinCheck compares with the twin's numbers and keeps the largest errors.
type twinCheck struct {
	t                  *testing.T
	where              string
	output, cost, grad float64
}

func (c *twinCheck) value(what string, got, want float64) {
	c.t.Helper()
	c.element(what, got, want, math.Abs(want), twinCostTolerance, &c.cost)
}

func (c *twinCheck) outputs(what string, got mat.Dense, rows []twinPlace, want twinTensor) {
	c.t.Helper()
	c.rows(what, got, rows, want, twinOutputTolerance, &c.output)
}

func (c *twinCheck) inputGrad(got mat.Dense, rows []twinPlace, want twinTensor) {
	c.t.Helper()
	c.rows("gradient of the signal", got, rows, want, twinGradTolerance, &c.grad)
}

func (c *twinCheck) rows(what string, got mat.Dense, rows []twinPlace, want twinTensor, tolerance float64, worst *float64) {
	c.t.Helper()
	for r, at := range rows {
		for j, v := range want.row(at.sample, at.node) {
			name := fmt.Sprintf("%s, sample %d, node %d, feature %d", what, at.sample, at.node, j)
			if !c.element(name, float64(got.At(r, j)), v, want.largest(), tolerance, worst) {
				return // one per tensor tells enough
			}
		}
	}
}

func (c *twinCheck) grads(got *gnn.Params, want map[string]twinTensor) {
	c.t.Helper()
	for _, w := range got.Windows() {
		a := want[w.Name]
		if len(a.data) != w.Len() {
			c.t.Fatalf("gradient of %s: %d numbers, want the twin's %v", w.Name, w.Len(), a.shape)
		}
		for i, v := range got.Flat[w.Offset : w.Offset+w.Len()] {
			name := fmt.Sprintf("gradient of %s [%d %d]", w.Name, i/w.Cols, i%w.Cols)
			if !c.element(name, float64(v), a.data[i], a.largest(), twinGradTolerance, &c.grad) {
				break
			}
		}
	}
}

// element reports got if it is too far from want, relative to scale.
func (c *twinCheck) element(name string, got, want, scale, tolerance float64, worst *float64) bool {
	c.t.Helper()
	if got == want {
		return true
	}
	off := math.Abs(got-want) / scale
	*worst = max(*worst, off)
	if !(off <= tolerance) { // NaN is too far too
		c.t.Errorf("%s: %s: got %v, want %v: off by %.1e of %.3g, limit %.1e", c.where, name, got, want, off, scale, tolerance)
		return false
	}
	return true
}

// twinTensor is a rectangular array of numbers.
type twinTensor struct {
	shape []int
	data  []float64
}

// UnmarshalJSON reads nested lists.
func (a *twinTensor) UnmarshalJSON(text []byte) error {
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		return err
	}
	*a = twinTensor{}
	for list, ok := v.([]any); ok && len(list) > 0; list, ok = list[0].([]any) {
		a.shape = append(a.shape, len(list))
	}
	return a.fill(v, a.shape)
}

func (a *twinTensor) fill(v any, shape []int) error {
	if x, ok := v.(float64); ok && len(shape) == 0 {
		a.data = append(a.data, x)
		return nil
	}
	list, ok := v.([]any)
	if !ok || len(shape) == 0 || len(list) != shape[0] {
		return fmt.Errorf("not a rectangular array of numbers")
	}
	for _, x := range list {
		if err := a.fill(x, shape[1:]); err != nil {
			return err
		}
	}
	return nil
}

// row returns the last axis of an array with three.
func (a twinTensor) row(i, j int) []float64 {
	lo := (i*a.shape[1] + j) * a.shape[2]
	return a.data[lo : lo+a.shape[2]]
}

func (a twinTensor) copyRow(dst []float32, at twinPlace) {
	for j, v := range a.row(at.sample, at.node) {
		dst[j] = float32(v)
	}
}

func (a twinTensor) largest() float64 {
	largest := 0.0
	for _, v := range a.data {
		largest = max(largest, math.Abs(v))
	}
	return largest
}

// The committed numbers are those of testdata/twin.py.
func TestTwinIsCommitted(t *testing.T) { twintest.Committed(t) }
