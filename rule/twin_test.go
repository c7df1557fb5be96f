package rule_test

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/wdgnn/wdgnn/conformal"
	"github.com/wdgnn/wdgnn/internal/twintest"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/rule"
)

// twin is a case of the twin: forecasts, or nodes that answer and learn.
type twin struct {
	Season *seasonTwin `json:"season"`
	Node   *nodeTwin   `json:"node"`
}

// nodeTwin is a stream of the twin and what it made of it: T steps, N nodes, Z inputs,
// C outputs. Inputs, base outputs and truths that are numbers are in sixteenths.
type nodeTwin struct {
	Learn    rule.Config        `json:"learn"`
	Cost     string             `json:"cost"`
	Inputs   int                `json:"inputs"`
	Features int                `json:"features"`
	Bias     bool               `json:"bias"`
	Gain     float32            `json:"gain"`
	Together bool               `json:"together"` // one set of taps for all rows
	Readout  [][]float32        `json:"readout"`
	Start    [][]float32        `json:"start"`
	Moment   *rule.SecondMoment `json:"moment"`
	Hearing  *rule.Hearing      `json:"hearing"`
	Scores   [][][]float64      `json:"scores"` // of earlier answers, by node and output
	Links    []string           `json:"links"`  // N×N by step: 1 a link, 2 on the diagonal a liar
	Z        [][]string         `json:"z"`      // T×N of Z letters, P for 0, a space where a value was not heard
	Base     [][]string         `json:"base"`   // T×N of C letters
	Told     [][][]*float32     `json:"told"`   // by step: node, of which step, truth

	Counts    []string          `json:"counts"`    // by step: 1 for what was told of an answer that waits
	Open      []string          `json:"open"`      // T×N
	Sets      [][][]int         `json:"sets"`      // T×N: classes, or by output whether nothing is known
	Y         [][]float64       `json:"y"`         // T×N: mean of what is answered, output c weighs c
	Intervals [][][][]float64   `json:"intervals"` // N×C, every sixth step
	Taps      [][][]float64     `json:"taps"`      // N×(Z, 1)×G, at the end, as all below
	Gates     []rule.GateState  `json:"gates"`
	Meters    []conformal.Meter `json:"meters"`

	rows, goals mat.Dense // what is being told
	labels      []int32
	basis       *rule.Basis
	nodes       []*rule.Node
	near        func(what string, got, want float64)
}

// The committed numbers are those of testdata/twin.py.
func TestTwinIsCommitted(t *testing.T) { twintest.Committed(t) }

// nearTwin returns a comparison with a number of the twin.
func nearTwin(t *testing.T, tolerance float64) func(what string, got, want float64) {
	worst := 0.0
	t.Cleanup(func() { t.Logf("largest relative error %.1e", worst) })
	return func(what string, got, want float64) {
		t.Helper()
		miss := math.Abs(got-want) / max(1, math.Abs(want))
		if worst = max(worst, miss); !(miss <= tolerance) {
			t.Errorf("%s: got %v, want the twin's %v", what, got, want)
		}
	}
}

// Nodes that answer and learn agree with the twin, whatever they learn by: with truths
// that never come, come late, too late or twice, links that change, and liars.
func TestTwinNodes(t *testing.T) {
	cases := twintest.Cases[twin](t)
	for _, name := range slices.Sorted(maps.Keys(cases)) {
		c := cases[name].Node
		if c == nil {
			continue
		}
		t.Run(name, func(t *testing.T) {
			c.near = nearTwin(t, 1e-6)
			c.begin(t)
			for step := range c.Z {
				if c.Together {
					c.together(t, step)
				} else {
					c.step(t, step)
				}
			}
			c.ended(t)
		})
	}
}

// begin makes the nodes, or the one learner.
func (c *nodeTwin) begin(t *testing.T) {
	t.Helper()
	if err := c.Learn.Validate(); err != nil {
		t.Fatal(err)
	}
	outputs := len(c.Base[0][0])
	c.basis = must[*rule.Basis](t)(rule.NewBasis(rule.BasisConfig{
		Inputs: c.Inputs, Features: c.Features, Bias: c.Bias, Gain: c.Gain, Start: slices.Concat(c.Start...), Newton: c.Learn.Newton != nil,
		Readout: mat.NewDense(c.Features, outputs, slices.Concat(c.Readout...)), Moment: c.Moment, Hearing: c.Hearing,
	}))
	n, rows := len(c.Base[0]), c.Learn.Delay+1
	c.rows, c.goals, c.labels = mat.NewDense(n, c.Inputs, nil), mat.NewDense(n, outputs, nil), make([]int32, n)
	if c.Together {
		n, rows = 1, n
	}
	for i := range n {
		config := rule.NodeConfig{Basis: c.basis, Config: &c.Learn, Rows: rows, Number: i, Answers: true}
		if c.Scores != nil {
			config.Scores = c.Scores[i]
		}
		node := rule.NewNode(config)
		if c.nodes = append(c.nodes, node); node.Unmet() {
			node.Meet(c.others(0, i, true))
		}
	}
}

// others returns the other nodes: all, or those that a node hears.
func (c *nodeTwin) others(step, i int, all bool) (list []int) {
	n := len(c.Base[0])
	for j := range n {
		if j != i && (all || c.Links[step][i*n+j] == '1') {
			list = append(list, j)
		}
	}
	return list
}

// told returns a node, a step, and what the truth makes its answer cost.
func (c *nodeTwin) told(told []*float32, row int) (i int, at uint64, j loss.Loss) {
	for k, v := range told[2:] {
		if c.goals.Row(row)[k] = float32(math.NaN()); v != nil {
			c.labels[row] = int32(*v)
			c.goals.Row(row)[k] = *v / 16
		}
	}
	return int(*told[0]), uint64(*told[1]), c.cost(nil)
}

// cost returns that of what was told, by row, but for rows that nobody was told of.
func (c *nodeTwin) cost(mask []bool) loss.Loss {
	switch c.Cost {
	case "labels":
		labels := slices.Clone(c.labels)
		for r, ok := range mask {
			if !ok {
				labels[r] = loss.NoLabel
			}
		}
		return loss.CrossEntropy{Labels: labels}
	case "squares":
		return loss.MSE{Target: c.goals.Clone(), Mask: mask}
	case "unbounded":
		j := loss.MSE{Target: c.goals.Clone()}
		return unbounded{j, j}
	}
	return loss.SmoothL1{Target: c.goals.Clone(), Mask: mask}
}

// unbounded is a cost of which nobody knows more than what it is.
type unbounded struct {
	loss.Loss
	loss.Local
}

// letters returns what a word of inputs or base outputs says.
func letters(word string) (v []float32) {
	for _, letter := range word {
		v = append(v, float32(letter-'P')/16)
		if letter == ' ' {
			v[len(v)-1] = float32(math.NaN())
		}
	}
	return v
}

// together is one step of one learner for all rows.
func (c *nodeTwin) together(t *testing.T, step int) {
	n, bases, rows := c.nodes[0], mat.NewDense(c.goals.Rows, c.goals.Cols, nil), []int32(nil)
	for r := range c.goals.Rows {
		y := make([]float32, c.goals.Cols)
		copy(bases.Row(r), letters(c.Base[step][r]))
		copy(c.rows.Row(r), letters(c.Z[step][r]))
		n.Predict(y, bases.Row(r), c.rows.Row(r))
		c.answered(step, r, y)
		rows = append(rows, int32(r))
	}
	known := make([]bool, c.goals.Rows)
	for _, told := range c.Told[step] {
		r := int(*told[0])
		c.told(told, r)
		known[r] = true
	}
	if j := c.cost(known); step%2 == 0 {
		n.ObserveAll(c.rows, bases, j)
	} else {
		n.Observe(c.rows, bases, rows, j)
	}
	c.commit(t, n, n.Step(alone(n)))
}

// commit ends the step of a node.
func (c *nodeTwin) commit(t *testing.T, n *rule.Node, err error) {
	t.Helper()
	switch {
	case err == nil:
		n.Commit()
	case c.Learn.Gate != nil:
		n.Refuse()
	default:
		t.Error(err)
	}
}

// step is one step of all nodes.
func (c *nodeTwin) step(t *testing.T, step int) {
	open := ""
	for i, n := range c.nodes {
		var links []int32
		for _, j := range c.others(step, i, false) {
			links = append(links, int32(j))
		}
		n.Relink(links)
		y, state := make([]float32, c.goals.Cols), n.Answers().Gate()
		n.Give(y, uint64(step), letters(c.Base[step][i]), letters(c.Z[step][i]))
		if c.answered(step, i, y); c.Learn.Gate != nil {
			open += map[bool]string{true: "1", false: "0"}[state.Open]
		}
		if b := n.Answers().Bounds(); b != nil {
			c.trusted(t, step, i, y, b)
		}
	}
	if c.Open != nil && open != c.Open[step] {
		t.Errorf("step %d: open gates: got %s, want the twin's %s", step, open, c.Open[step])
	}
	counts := ""
	for _, told := range c.Told[step] {
		i, at, j := c.told(told, 0)
		counts += map[bool]string{true: "1", false: "0"}[c.nodes[i].Tell(at, j, 0)]
	}
	if counts != c.Counts[step] {
		t.Errorf("step %d: what was told counts: got %s, want the twin's %s", step, counts, c.Counts[step])
	}
	sent := mat.NewDense(len(c.nodes), c.basis.Len(), nil)
	for i, n := range c.nodes {
		if copy(sent.Row(i), n.Params()); c.Links[step][i*len(c.nodes)+i] == '2' {
			for e := range sent.Row(i) {
				sent.Row(i)[e] = 1e5
			}
		}
	}
	var errs []error
	for i, n := range c.nodes {
		heard := sent.Clone()
		copy(heard.Row(i), n.Params())
		h := &rule.Heard{Vectors: []mat.Dense{heard}, Far: c.basis.Far(nil, heard)}
		near := append(c.others(step, i, false), i)
		slices.Sort(near)
		for e, j := range near {
			w := float32(1.0 / 8)
			if j == i {
				h.Self, w = e, 1-w*float32(len(near)-1)
			}
			h.Rows, h.Weights = append(h.Rows, int32(j)), append(h.Weights, w)
		}
		errs = append(errs, n.Step(h))
	}
	for i, n := range c.nodes {
		c.commit(t, n, errs[i])
	}
}

// answered compares what a node answers.
func (c *nodeTwin) answered(step, i int, y []float32) {
	sum := 0.0
	for k, v := range y {
		sum += float64(k+1) * float64(v)
	}
	c.near(fmt.Sprintf("step %d, node %d", step, i), 2*sum/float64(len(y)*(len(y)+1)), c.Y[step][i])
}

// trusted compares sets and intervals.
func (c *nodeTwin) trusted(t *testing.T, step, i int, y []float32, b []conformal.Bound) {
	var got []int
	if c.Learn.Conformal.Classes {
		got = b[0].Set(nil, y)
	}
	for k := range y {
		if c.Learn.Conformal.Classes {
			break
		}
		low, high := b[k].Interval(y[k])
		got = append(got, int(map[bool]int{true: 1}[math.IsInf(float64(low), -1) && math.IsInf(float64(high), 1)]))
		if step%6 == 5 && c.Intervals[step/6][i][k] != nil {
			where := fmt.Sprintf("step %d, node %d, interval %d", step, i, k)
			c.near(where, float64(low), c.Intervals[step/6][i][k][0])
			c.near(where, float64(high), c.Intervals[step/6][i][k][1])
		}
	}
	if want := c.Sets[step][i]; !slices.Equal(got, want) {
		t.Errorf("step %d, node %d: got the set %v, want the twin's %v", step, i, got, want)
	}
}

// ended compares taps, and what gates and meters counted.
func (c *nodeTwin) ended(t *testing.T) {
	for i, n := range c.nodes {
		taps := make([]float32, c.basis.TapsLen())
		c.basis.Taps(taps, slices.Concat(c.Start...), n.Params())
		for e, v := range slices.Concat(c.Taps[i]...) {
			c.near(fmt.Sprintf("node %d, tap %d", i, e), float64(taps[e]), v)
		}
	}
	for i, want := range c.Gates {
		got := c.nodes[i].Answers().Gate()
		for _, v := range [][2]float64{
			{got.Answered, want.Answered}, {got.Frozen, want.Frozen}, {got.Usual, want.Usual}, {got.Most, want.Most}, {got.Ahead, want.Ahead},
		} {
			c.near(fmt.Sprintf("gate %d", i), v[0], v[1])
		}
		got.Answered, got.Frozen, got.Usual, got.Most, got.Ahead = want.Answered, want.Frozen, want.Usual, want.Most, want.Ahead
		if got != want {
			t.Errorf("gate %d: got %+v, want the twin's %+v", i, got, want)
		}
	}
	for i, want := range c.Meters {
		got := c.nodes[i].Answers().Meter()
		c.near(fmt.Sprintf("meter %d", i), got.Size, want.Size)
		if got.Size = want.Size; got != want {
			t.Errorf("meter %d: got %+v, want the twin's %+v", i, got, want)
		}
	}
}
