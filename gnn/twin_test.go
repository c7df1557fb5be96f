package gnn_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/optim"
)

// The numbers of testdata/twin.py, a float64 twin written from the paper.
const committedTwin = "testdata/twin.json"

var twinFile = flag.String("twin", committedTwin, "`file` that testdata/twin.py wrote; another than the committed one is compared with that too")

// Inputs and parameters of the twin are exact in float32, so all that may
// differ is rounding. Errors are relative to the largest number of a tensor:
// an element that is small because large terms cancel has no better.
const (
	// A unit roundoff is 6e-8. Sums here have at most a few hundred terms, and
	// a gradient passes through at most seven sums in a row.
	twinTolerance = 2e-6

	// J after up to ten steps, on parameters that rounded at each of them.
	twinTrainTolerance = 1e-6
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

// forEachTwin runs f on every case of the file.
func forEachTwin(t *testing.T, f func(t *testing.T, c *twinCase)) {
	text, err := os.ReadFile(*twinFile)
	if err != nil {
		t.Fatal(err)
	}
	var cases map[string]*twinCase
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&cases); err != nil {
		t.Fatalf("%s: %v", *twinFile, err)
	}
	for _, name := range slices.Sorted(maps.Keys(cases)) {
		t.Run(name, func(t *testing.T) { f(t, cases[name]) })
	}
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
		copy(m.Params.Flat[w.Offset:], p.float32s())
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
	p := twinPass{shift: s, read: c.Read}
	for i := range s.Rows {
		for b := range c.Signal.shape[0] {
			p.rows = append(p.rows, twinPlace{b, i})
		}
	}
	return p
}

// twinResult is what a model made of a pass.
type twinResult struct {
	rows []twinPlace // of y
	y    mat.Dense
	dx   mat.Dense // empty if only some rows are computed
	j    float64   // J of the pass times its share of the samples
}

// run sends p through m and adds the gradients to grad. Pruned, only the rows
// that carry a loss are computed.
func (p twinPass) run(t *testing.T, c *twinCase, m *gnn.WideDeep, grad *gnn.Params, tape *gnn.Tape, pruned bool) twinResult {
	t.Helper()
	b, f := len(p.rows)/p.shift.Rows, c.Config.In
	x := mat.NewDense(len(p.rows), f, nil)
	for r, at := range p.rows {
		c.Signal.copyRow(x.Row(r), at)
	}
	in := &gnn.Input{Shift: p.shift, ShiftT: p.shift.T(), Shifted: mat.NewDense(x.Rows, (m.InputOrder()+1)*f, nil)}
	new(gnn.Shifter).Shift(in.Shifted, p.shift, x)
	out := twinResult{rows: p.rows, dx: mat.NewDense(x.Rows, f, nil)}
	if pruned {
		var err error
		if in.Read, err = gnn.NewRows(p.shift, p.read, m.LastOrder()); err != nil {
			t.Fatal(err)
		}
		in.ReadShifted = mat.NewDense(len(p.read)*b, in.Shifted.Cols, nil)
		in.Read.Gather(in.ReadShifted, in.Shifted, b)
		out.rows, out.dx = nil, mat.Dense{}
		for _, i := range p.read {
			out.rows = append(out.rows, p.rows[i*b:(i+1)*b]...)
		}
	}
	out.y = mat.NewDense(len(out.rows), m.Outputs(), nil)
	m.Forward(out.y, in, tape)
	dy := mat.NewDense(out.y.Rows, out.y.Cols, nil)
	share := float64(len(p.rows)) / float64(c.Signal.shape[0]*c.Signal.shape[1])
	out.j = share * c.cost(t, out.rows).Eval(dy, out.y)
	mat.Serial.Scale(dy, float32(share))
	m.Backward(grad, out.dx, dy, in, tape)
	return out
}

// The models, their costs and all gradients agree with the twin: sample by
// sample, in a batch, and with a block of one large graph per sample; with all
// rows computed and with those that are read; one graph and a trajectory of
// graphs. One tape serves all passes of a model.
// Reference: Section 2, eq. (2)-(4), and Section 6, eq. (24).
func TestTwin(t *testing.T) {
	forEachTwin(t, func(t *testing.T, c *twinCase) {
		m, tape, worst := c.model(t), new(gnn.Tape), 0.0
		for _, layout := range slices.Sorted(maps.Keys(twinLayouts)) {
			for _, pruned := range []bool{false, true} {
				check := twinCheck{t, fmt.Sprintf("%s, pruned %v", layout, pruned), twinTolerance, &worst}
				grad, j := gnn.NewParams(c.Config, nil), 0.0
				for _, p := range twinLayouts[layout](c, c.shift(t, 0)) {
					result := p.run(t, c, m, &grad, tape, pruned)
					j += result.j
					check.rows("output", result.y, result.rows, c.Output)
					if !pruned {
						check.rows("input gradient", result.dx, result.rows, c.InputGrad)
					}
				}
				check.value("J", j, c.Cost)
				for _, w := range grad.Windows() {
					check.tensor("gradient of "+w.Name, grad.Flat[w.Offset:w.Offset+w.Len()], c.Grads[w.Name])
				}
			}
		}
		t.Logf("largest relative error %.1e", worst)
	})
}

// Ten steps of Adam or of gradient descent give the twin's costs, on one graph
// and on another one at each step.
func TestTwinTraining(t *testing.T) {
	forEachTwin(t, func(t *testing.T, c *twinCase) {
		worst := 0.0
		for _, pruned := range []bool{false, true} {
			check := twinCheck{t, fmt.Sprintf("pruned %v", pruned), twinTrainTolerance, &worst}
			m, tape := c.model(t), new(gnn.Tape)
			grad, optimizer := gnn.NewParams(c.Config, nil), c.optimizer(t, m)
			for step, want := range c.Losses {
				clear(grad.Flat)
				result := c.batch(c.shift(t, step)).run(t, c, m, &grad, tape, pruned)
				check.value(fmt.Sprintf("J after %d steps", step), result.j, want)
				optimizer.Step(m.Params.Flat, grad.Flat)
			}
		}
		t.Logf("largest relative error %.1e", worst)
	})
}

// Step by step, one exchange at a time, a model on changing graphs gives the
// twin's outputs, and again after Reset.
// Reference: Section 6, eq. (24).
func TestTwinDelayed(t *testing.T) {
	forEachTwin(t, func(t *testing.T, c *twinCase) {
		if !c.Delayed {
			return
		}
		worst := 0.0
		m := c.model(t)
		d := gnn.Delayed{Model: m}
		for _, pass := range []string{"first pass", "after Reset"} {
			for now, s := range c.shifts(t) {
				check := twinCheck{t, fmt.Sprintf("%s, time %d", pass, now), twinTolerance, &worst}
				x, rows := c.at(now, s.Rows)
				y := mat.NewDense(x.Rows, m.Outputs(), nil)
				for range 2 { // predicting again changes nothing
					d.Predict(y, s, x)
					check.rows("output", y, rows, c.Output)
				}
				d.Advance()
			}
			d.Reset()
		}
		t.Logf("largest relative error %.1e", worst)
	})
}

// A filter alone agrees with the twin in all its forms.
// Reference: Section 2, eq. (3), and Section 6, eq. (24).
func TestTwinFilter(t *testing.T) {
	forEachTwin(t, func(t *testing.T, c *twinCase) {
		if len(c.Config.Deep) > 0 || c.Config.Outputs > 0 {
			return
		}
		worst := 0.0
		check := twinCheck{t, "filter", twinTolerance, &worst}
		m := c.model(t)
		f, p, tape := &m.Params.Wide, c.batch(c.shift(t, 0)), new(gnn.FilterTape)
		x, y := mat.NewDense(len(p.rows), f.In(), nil), mat.NewDense(len(p.rows), f.Out(), nil)
		for r, at := range p.rows {
			c.Signal.copyRow(x.Row(r), at)
		}
		f.Apply(y, p.shift, x, new(gnn.FilterTape))
		check.rows("Apply", y, p.rows, c.Output)
		f.Forward(y, p.shift, x, tape)
		check.rows("Forward", y, p.rows, c.Output)

		grad := gnn.NewParams(c.Config, nil)
		dx, dy := mat.NewDense(x.Rows, x.Cols, nil), mat.NewDense(y.Rows, y.Cols, nil)
		check.value("J", c.cost(t, p.rows).Eval(dy, y), c.Cost)
		f.Backward(&grad.Wide, dx, p.shift.T(), dy, tape)
		check.rows("input gradient", dx, p.rows, c.InputGrad)
		for _, w := range grad.Windows() {
			check.tensor("gradient of "+w.Name, grad.Flat[w.Offset:w.Offset+w.Len()], c.Grads[w.Name])
		}

		d := gnn.DelayedFilter{Filter: f}
		for now, s := range c.shifts(t) {
			x, rows := c.at(now, s.Rows)
			y := mat.NewDense(x.Rows, f.Out(), nil)
			d.Step(y, s, x)
			check.rows(fmt.Sprintf("Step at time %d", now), y, rows, c.Output)
		}
		t.Logf("largest relative error %.1e", worst)
	})
}

// at returns the signals of all samples at one time, node by node.
func (c *twinCase) at(now, nodes int) (x mat.Dense, rows []twinPlace) {
	for i := range nodes {
		for b := range c.Signal.shape[0] {
			rows = append(rows, twinPlace{b, now*nodes + i})
		}
	}
	x = mat.NewDense(len(rows), c.Config.In, nil)
	for r, at := range rows {
		c.Signal.copyRow(x.Row(r), at)
	}
	return x, rows
}

// twinCheck compares with the twin's numbers and keeps the worst error.
type twinCheck struct {
	t         *testing.T
	where     string
	tolerance float64
	worst     *float64
}

func (c twinCheck) value(what string, got, want float64) {
	c.t.Helper()
	c.element(what, got, want, math.Abs(want))
}

func (c twinCheck) tensor(what string, got []float32, want twinTensor) {
	c.t.Helper()
	if len(got) != len(want.data) {
		c.t.Errorf("%s: %s: %d numbers, want %d", c.where, what, len(got), len(want.data))
		return
	}
	last := want.shape[len(want.shape)-1]
	for e, v := range got {
		if !c.element(fmt.Sprintf("%s [%d %d]", what, e/last, e%last), float64(v), want.data[e], want.largest()) {
			return // one per tensor tells enough
		}
	}
}

func (c twinCheck) rows(what string, got mat.Dense, rows []twinPlace, want twinTensor) {
	c.t.Helper()
	for r, at := range rows {
		for j, v := range want.row(at.sample, at.node) {
			name := fmt.Sprintf("%s of sample %d, node %d, feature %d", what, at.sample, at.node, j)
			if !c.element(name, float64(got.At(r, j)), v, want.largest()) {
				return
			}
		}
	}
}

// element reports got if it is too far from want, relative to scale.
func (c twinCheck) element(name string, got, want, scale float64) bool {
	c.t.Helper()
	if got == want {
		return true
	}
	off := math.Abs(got-want) / scale
	*c.worst = max(*c.worst, off)
	if !(off <= c.tolerance) { // NaN is too far too
		c.t.Errorf("%s: %s: got %v, want %v, off by %.1e of %.3g, more than %.1e", c.where, name, got, want, off, scale, c.tolerance)
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

func (a twinTensor) float32s() []float32 {
	out := make([]float32, len(a.data))
	for i, v := range a.data {
		out[i] = float32(v)
	}
	return out
}

func (a twinTensor) largest() float64 {
	largest := 0.0
	for _, v := range a.data {
		largest = max(largest, math.Abs(v))
	}
	return largest
}

// The committed numbers are those of testdata/twin.py: with the flag -twin
// they are compared with numbers that the script wrote just now. Another NumPy
// may sum in another order, hence 1e-9.
func TestTwinIsCommitted(t *testing.T) {
	read := func(name string) (v any) {
		text, err := os.ReadFile(name)
		if err == nil {
			err = json.Unmarshal(text, &v)
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return v
	}
	sameNumbers(t, "", read(*twinFile), read(committedTwin))
}

func sameNumbers(t *testing.T, path string, got, want any) {
	t.Helper()
	switch want := want.(type) {
	case map[string]any:
		got, ok := got.(map[string]any)
		if !ok || !slices.Equal(slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want))) {
			t.Errorf("%s: got keys %v, want %v", path, slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
			return
		}
		for _, k := range slices.Sorted(maps.Keys(want)) {
			sameNumbers(t, path+"/"+k, got[k], want[k])
		}
	case []any:
		got, ok := got.([]any)
		if !ok || len(got) != len(want) {
			t.Errorf("%s: got %d elements, want %d", path, len(got), len(want))
			return
		}
		for i := range want {
			sameNumbers(t, fmt.Sprintf("%s[%d]", path, i), got[i], want[i])
		}
	case float64:
		got, ok := got.(float64)
		if !ok || !(math.Abs(got-want) <= 1e-9*max(math.Abs(want), 1e-6)) { // below 1e-6 sums that cancel
			t.Errorf("%s: got %v, want %v", path, got, want)
		}
	default:
		if got != want {
			t.Errorf("%s: got %v, want %v", path, got, want)
		}
	}
}
