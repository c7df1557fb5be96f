package onlinetest_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/online/onlinetest"
	"github.com/wdgnn/wdgnn/rule"
)

const nodes, outputs = 3, 2

// constant is a learner that is none of package online's: it answers the same
// at all nodes, whatever the signal, and learns what.
type constant struct {
	fault   string // how it breaks the contract
	sight   *sight
	learned int // the last step of sight that it learned from
	b       []float32
	dy      mat.Dense
	steps   int
	y       mat.Dense // memory of an output

	last  mat.Dense // what follows is kept by faults only
	old   mat.Dense
	kept  loss.Loss
	hoard []float32

	shared rule.State
}

// sight is what constants see of the world: that there is a sample.
type sight struct {
	step int
	open bool
}

func newConstant(fault string, s *sight) *constant {
	return &constant{
		fault: fault, sight: s, b: make([]float32, outputs), dy: mat.NewDense(nodes, outputs, nil),
		y: mat.NewDense(nodes, outputs, nil),
	}
}

// pair returns two constants with one sight.
func pair(fault string) (a, b online.Learner) {
	first := newConstant(fault, new(sight))
	second := newConstant(fault, first.sight)
	if fault == "meddles" {
		second.b = first.b
	}
	return first, second
}

func (c *constant) Observe(s graph.Sample) error {
	c.sight.step++
	c.sight.open = c.sight.open && c.fault == "stale sample"
	if s.Shift == nil || s.Shift.Rows != nodes || s.Signal.Rows != nodes || s.Signal.Cols != 1 || s.Mixing != nil && s.Mixing.Rows != nodes {
		return errors.New("the sample does not fit")
	}
	for _, v := range s.Signal.Data {
		if v-v != 0 && c.fault != "takes NaN" {
			return errors.New("not finite")
		}
	}
	c.sight.open = true
	return nil
}

func (c *constant) Predict(y mat.Dense) error {
	if !c.sight.open {
		return errors.New("no sample")
	}
	if c.fault == "impure" {
		c.b[0]++
	}
	if c.fault == "restore shares" && c.shared != nil {
		c.b[0] = float32(c.shared[constantHead])
	}
	if c.fault == "adds" {
		y.Data[0] += y.Data[1]
	} else {
		y.Zero()
	}
	for i := range y.Rows {
		for k, v := range c.b {
			y.Row(i)[k] += v
		}
	}
	c.last = y
	return nil
}

func (c *constant) Update(j loss.Loss) error {
	if (!c.sight.open || c.learned == c.sight.step) && c.fault != "learns twice" {
		return errors.New("no sample")
	}
	if j == nil {
		if c.fault == "bad cost changes" {
			c.b[0]++
		}
		return errors.New("no cost")
	}
	y := c.y
	for e := range y.Data {
		y.Data[e] = c.b[e%outputs]
	}
	if c.fault == "keeps outputs" && !c.old.Empty() {
		y = c.old
	}
	if c.fault == "keeps costs" && c.kept != nil {
		c.kept.Eval(c.dy, y)
	} else {
		j.Eval(c.dy, y)
	}
	c.old, c.kept, c.learned = c.last, j, c.sight.step
	var next [outputs]float32
	for k, b := range c.b {
		next[k] = b
		for i := range nodes {
			next[k] -= 0.1 * c.dy.At(i, k)
		}
		if next[k]-next[k] != 0 && c.fault != "diverges" {
			return online.ErrDiverged
		}
	}
	if c.fault == "allocates" || c.fault == "hoards" {
		c.hoard = append(c.hoard[:len(c.hoard):len(c.hoard)], next[0])
	}
	copy(c.b, next[:])
	c.steps++
	if c.shared != nil {
		c.shared[constantHead]++
		c.shared = nil
	}
	return nil
}

func (c *constant) Drift() online.Drift {
	d := online.Drift{Steps: c.steps}
	for _, v := range c.b {
		d.Moved = max(d.Moved, float64(v), -float64(v))
	}
	return d
}

func (c *constant) Snapshot() online.Snapshot {
	state := rule.State{constantForm, float64(c.steps)}
	for _, v := range slices.Concat(c.b, c.hoard) {
		state = append(state, float64(v))
	}
	if c.fault == "snapshot shares" {
		c.shared = state
	}
	return online.Snapshot{Nodes: []rule.State{state}}
}

func (c *constant) Restore(s online.Snapshot) error {
	if c.fault != "takes any snapshot" {
		if len(s.Nodes) != 1 || len(s.Delay) != 0 || len(s.Nodes[0]) < constantHead+outputs || s.Nodes[0][0] != constantForm {
			return errors.New("another learner's")
		}
		if len(s.Nodes[0]) > constantHead+outputs && c.fault != "hoards" || !mat.Finite(s.Nodes[0]...) {
			return errors.New("too much, or not finite")
		}
	}
	if c.fault == "forgets" {
		return nil
	}
	state := s.Nodes[0]
	c.learned, c.steps, c.hoard = c.sight.step, int(state[1]), nil
	for k, v := range state[constantHead:] {
		if k < outputs {
			c.b[k] = float32(v)
		} else {
			c.hoard = append(c.hoard, float32(v))
		}
	}
	if c.fault == "restore shares" {
		c.shared = state
	}
	return nil
}

// What the state of a constant begins with: its form and the number of its updates.
const (
	constantForm = 7
	constantHead = 2
)

func stream() onlinetest.Stream {
	s := onlinetest.Stream{Outputs: outputs, Refused: []loss.Loss{nil}}
	shift, err := graph.ShiftAdjacency.Of(graph.Ring(nodes))
	if err != nil {
		panic(err)
	}
	for t := range 4 {
		s.Samples = append(s.Samples, graph.Sample{Shift: shift, Signal: mat.NewDense(nodes, 1, []float32{float32(t), 1, 2})})
	}
	at := func(scale float32, t int) loss.MSE {
		target := mat.NewDense(nodes, outputs, nil)
		for e := range target.Data {
			target.Data[e] = scale * float32((e+t)%3)
		}
		return loss.MSE{Target: target}
	}
	s.Cost = func(t int) (loss.Loss, func()) {
		j := at(1, t)
		return j, func() {
			for e := range j.Target.Data {
				j.Target.Data[e] = 1e9
			}
		}
	}
	s.Explosive = amplified{at(3e38, 1)}
	return s
}

// amplified is a cost with a gradient too large for float32.
type amplified struct{ loss.MSE }

func (a amplified) Eval(dy, y mat.Dense) float64 {
	j := a.MSE.Eval(dy, y)
	for e := range dy.Data {
		dy.Data[e] *= 1e38
	}
	return j
}

// faults are ways to break the contract, and the clause that notices.
var faults = map[string]string{
	"adds":               "predict works first",
	"impure":             "predict is pure",
	"keeps outputs":      "keeps no reference",
	"keeps costs":        "keeps no reference",
	"learns twice":       "update needs a sample",
	"stale sample":       "refuses bad samples",
	"takes NaN":          "refuses bad samples",
	"bad cost changes":   "refuses bad costs",
	"diverges":           "survives divergence",
	"snapshot shares":    "resumes from a snapshot",
	"restore shares":     "resumes from a snapshot",
	"forgets":            "resumes from a snapshot",
	"takes any snapshot": "refuses other snapshots",
	"meddles":            "shares an observer",
	"hoards":             "memory is bounded",
}

// A learner of one's own passes the suite if it keeps the contract.
func TestCheck(t *testing.T) {
	fault := os.Getenv(faultVariable)
	s := stream()
	s.Pair = func() (a, b online.Learner) { return pair(fault) }
	onlinetest.Check(t, func() online.Learner { return newConstant(fault, new(sight)) }, s)
}

const faultVariable = "WDGNN_ONLINETEST_FAULT"

// The suite notices every fault. A failing suite fails its test, so each runs
// in a process of its own.
func TestCheckNoticesFaults(t *testing.T) {
	for fault, clause := range faults {
		cmd := exec.Command(os.Args[0], "-test.run", "^TestCheck$")
		cmd.Env = append(os.Environ(), faultVariable+"="+fault)
		out, err := cmd.CombinedOutput()
		want := fmt.Sprintf("--- FAIL: TestCheck/%s", strings.ReplaceAll(clause, " ", "_"))
		if err == nil || !strings.Contains(string(out), want) {
			t.Errorf("%s: got %v and %s, want %q", fault, err, out, want)
		}
	}
}
