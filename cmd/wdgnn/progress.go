package main

import (
	"fmt"
	"io"
	"time"

	"github.com/wdgnn/wdgnn/train"
)

// progress shows how training goes: one line that changes on a terminal, about
// twenty plain lines elsewhere.
type progress struct {
	screen
	epochs int    // planned
	score  string // what validation compares: "accuracy", "loss", "cost" or "rmse"
	began  time.Time
	done   int    // epochs since it began
	last   string // what the last one came to
}

// plainLines is about how many lines are printed where they do not change.
const plainLines = 20

func newProgress(out io.Writer, epochs int, score string) *progress {
	return &progress{screen: newScreen(out), epochs: epochs, score: score, began: time.Now()}
}

// epoch reports one.
func (p *progress) epoch(e train.Epoch) {
	p.done++
	spent := time.Since(p.began)
	left := brief(time.Duration(float64(spent) / float64(p.done) * float64(p.epochs-e.Index)))
	epoch := fmt.Sprintf("epoch %*d/%d", len(fmt.Sprint(p.epochs)), e.Index, p.epochs)
	p.last = fmt.Sprintf("loss %.4f", e.Loss)
	last := e.Index == p.epochs || e.Restarts
	every := (p.epochs + plainLines - 1) / plainLines
	switch {
	case p.terminal() && (last || p.due()):
		p.draw(p.parts(epoch, fmt.Sprintf("%s left", left), p.last, p.scored(e)))
	case !p.terminal() && (last || e.Index == 1 || e.Index%every == 0):
		fmt.Fprintln(p.out, p.parts(epoch, p.last, p.scored(e), fmt.Sprintf("%s, %s left", brief(spent), left)))
	}
	if e.Restarts {
		p.say("every unit of the deep part is dead: starting anew from other values")
	}
}

// step reports how far an epoch is, on a terminal and if epochs take long.
func (p *progress) step(s train.Step) {
	if !p.due() || s.Done == s.Samples || time.Since(p.began) < redraw {
		return
	}
	done := float64(p.done) + float64(s.Done)/float64(s.Samples)
	left := time.Duration(float64(time.Since(p.began)) / done * (float64(p.epochs-s.Epoch+1) - float64(s.Done)/float64(s.Samples)))
	p.draw(p.parts(fmt.Sprintf("epoch %d/%d %3d %%", s.Epoch, p.epochs, 100*s.Done/s.Samples), fmt.Sprintf("%s left", brief(left)), p.last))
}

// scored says how an epoch did in validation, if it was tried there.
func (p *progress) scored(e train.Epoch) string {
	switch {
	case e.Scored && p.score == "accuracy":
		return fmt.Sprintf("validation accuracy %5.1f %%  best %5.1f %%", 100*(1-e.Score), 100*(1-e.Best))
	case e.Scored:
		return fmt.Sprintf("validation %s %.4f  best %.4f", p.score, e.Score, e.Best)
	}
	return ""
}

// brief rounds a duration for reading.
func brief(d time.Duration) time.Duration {
	switch {
	case d < 10*time.Second:
		return d.Round(10 * time.Millisecond)
	case d < 10*time.Minute:
		return d.Round(time.Second)
	}
	return d.Round(time.Minute)
}
