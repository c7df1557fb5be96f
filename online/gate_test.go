package online_test

import (
	"errors"
	"testing"

	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/rule"
)

// Steps that are far too long end a run without gates. With them the updates are
// refused at the nodes that make them, the others go on, nodes that keep failing
// begin again at 𝒜†, and all that is answered stays within the bound.
func TestGatesRefuseAndGoOn(t *testing.T) {
	r := newRegression(t)
	c := rule.Config{StepSize: rule.StepSize{Value: 1e3}, Limit: 1e6}
	steps := func(l online.Learner) (err error) {
		y := mat.NewDense(r.nodes, 2, nil)
		for k := 0; k < 300 && err == nil; k++ {
			must(t, l.Observe(r.sample))
			must(t, l.Predict(y))
			if !mat.Finite(y.Data...) {
				t.Fatal("an answer is not finite")
			}
			err = l.Update(r.cost)
		}
		return err
	}
	gated := c
	gated.Gate = &rule.Gate{}
	for name, make := range map[string]func(c rule.Config) online.Learner{
		"distributed": func(c rule.Config) online.Learner { return newConsensus(t, r.model, online.Config{Nodes: r.nodes}, c) },
		"centralized": func(c rule.Config) online.Learner {
			return newCentralized(t, r.model, online.Config{Nodes: r.nodes}, c)
		},
	} {
		if err := steps(make(c)); !errors.Is(err, online.ErrDiverged) {
			t.Errorf("%s, without gates: %v, want %v", name, err, online.ErrDiverged)
		}
		l := make(gated)
		if err := steps(l); err != nil {
			t.Errorf("%s, with gates: %v", name, err)
		}
		refused, anew := uint64(0), uint64(0)
		for i, s := range l.(interface{ Gates() []rule.GateState }).Gates() {
			refused, anew = refused+s.Refused, anew+s.Anew
			if s.Judged != 300 || !(s.Answered <= gated.Gate.Bound(&s)) {
				t.Errorf("%s, node %d: %d answers cost %v, want 300 and at most %v", name, i, s.Judged, s.Answered, gated.Gate.Bound(&s))
			}
		}
		if refused == 0 || anew == 0 {
			t.Errorf("%s: %d updates were refused and %d times a node began again, want some of both", name, refused, anew)
		}
	}
}

// With a delay of three steps a learner hears of an answer three updates later,
// and has then learned what one that is told at once has, three steps earlier: in
// a world that stays as it is, to the same bits.
func TestLateCosts(t *testing.T) {
	r := newRegression(t)
	nobody := r.cost
	nobody.Mask = make([]bool, r.nodes)
	c := rule.Config{StepSize: rule.StepSize{Value: 0.1}}
	late := c
	late.Delay = 3
	prompt, tardy := newConsensus(t, r.model, online.Config{Nodes: r.nodes}, c), newConsensus(t, r.model, online.Config{Nodes: r.nodes}, late)
	for k := range 20 {
		j := loss.Loss(r.cost)
		if k < 3 {
			j = nobody
		}
		step(t, tardy, 2, r.sample, j)
		if k < 3 {
			continue
		}
		step(t, prompt, 2, r.sample, r.cost)
		for i := range r.nodes {
			for e, want := range prompt.Params(i) {
				if got := tardy.Params(i)[e]; got != want {
					t.Fatalf("step %d: parameter %d of node %d is %v, want %v", k, e, i, got, want)
				}
			}
		}
	}
}
