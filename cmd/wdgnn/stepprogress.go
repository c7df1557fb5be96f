package main

import (
	"fmt"
	"io"
	"time"

	"github.com/wdgnn/wdgnn/internal/lifecycle"
)

// stepProgress shows how an online run goes: one line that changes on a
// terminal, about twenty plain lines elsewhere.
type stepProgress struct {
	*progress
	from int // step at which it began
}

func newStepProgress(out io.Writer, steps, from int) *stepProgress {
	return &stepProgress{newProgress(out, steps, ""), from}
}

// step reports one.
func (p *stepProgress) step(s lifecycle.OnlineStep) {
	done := s.Step + 1
	every := (p.epochs + plainLines - 1) / plainLines
	switch {
	case p.terminal() && (done == p.epochs || p.due()):
		p.draw(p.line(s, done))
	case !p.terminal() && (done == p.epochs || done%every == 0):
		fmt.Fprintln(p.out, p.line(s, done))
	}
}

func (p *stepProgress) line(s lifecycle.OnlineStep, done int) string {
	spent := time.Since(p.began)
	left := fmt.Sprintf("%s left", brief(time.Duration(float64(spent)/float64(done-p.from)*float64(p.epochs-done))))
	step := fmt.Sprintf("step %*d/%d", len(fmt.Sprint(p.epochs)), done, p.epochs)
	what, online, frozen := "cost so far:", fmt.Sprintf("online %.4f", s.MeanCost), fmt.Sprintf("frozen %.4f", s.FrozenMeanCost)
	if s.Accuracy != nil {
		what = "accuracy so far:"
		online, frozen = fmt.Sprintf("online %5.1f %%", 100**s.Accuracy), fmt.Sprintf("frozen %5.1f %%", 100**s.FrozenAccuracy)
	}
	if p.terminal() {
		return p.parts(step, left, online, frozen)
	}
	return p.parts(step, what+" "+online, frozen, fmt.Sprintf("%s, %s", brief(spent), left))
}

// news reports what happened to sensors, each on a line of its own.
func (p *stepProgress) news(list []lifecycle.SensorNews) {
	for _, n := range list {
		p.say(n.String())
	}
}
