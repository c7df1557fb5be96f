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
	case p.terminal && (done == p.epochs || time.Since(p.shown) >= redraw):
		p.shown = time.Now()
		fmt.Fprintf(p.out, "\r\x1b[K%s", p.line(s, done))
		p.open = true
	case !p.terminal && (done == p.epochs || done%every == 0):
		fmt.Fprintln(p.out, p.line(s, done))
	}
}

func (p *stepProgress) line(s lifecycle.OnlineStep, done int) string {
	spent := time.Since(p.began)
	left := time.Duration(float64(spent) / float64(done-p.from) * float64(p.epochs-done))
	text := fmt.Sprintf("step %*d/%d", len(fmt.Sprint(p.epochs)), done, p.epochs)
	if s.Accuracy != nil {
		text += fmt.Sprintf("  accuracy so far: online %5.1f %%  frozen %5.1f %%", 100**s.Accuracy, 100**s.FrozenAccuracy)
	} else {
		text += fmt.Sprintf("  cost so far: online %.4f  frozen %.4f", s.MeanCost, s.FrozenMeanCost)
	}
	return text + fmt.Sprintf("  %s, %s left", brief(spent), brief(left))
}

// news reports what happened to sensors, each on a line of its own.
func (p *stepProgress) news(list []lifecycle.SensorNews) {
	for _, n := range list {
		p.end()
		fmt.Fprintln(p.out, n)
	}
}
