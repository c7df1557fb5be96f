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
	out      io.Writer
	terminal bool
	epochs   int    // planned
	score    string // what validation compares: "accuracy", "loss", "cost" or "rmse"
	began    time.Time
	shown    time.Time
	done     int  // epochs since it began
	open     bool // the terminal's line has not ended
	last     string
}

const (
	plainLines = 20
	redraw     = 100 * time.Millisecond
)

func newProgress(out io.Writer, epochs int, score string) *progress {
	return &progress{out: out, terminal: isTerminal(out), epochs: epochs, score: score, began: time.Now()}
}

// epoch reports one.
func (p *progress) epoch(e train.Epoch) {
	p.done++
	p.last = fmt.Sprintf("epoch %d/%d  loss %.4f", e.Index, p.epochs, e.Loss)
	last := e.Index == p.epochs || e.Restarts
	if p.terminal && (last || time.Since(p.shown) >= redraw) {
		p.shown = time.Now()
		fmt.Fprintf(p.out, "\r\x1b[K%s", p.line(e))
		p.open = true
	} else if every := (p.epochs + plainLines - 1) / plainLines; !p.terminal && (last || e.Index == 1 || e.Index%every == 0) {
		fmt.Fprintln(p.out, p.line(e))
	}
	if e.Restarts {
		p.end()
		fmt.Fprintln(p.out, "every unit of the deep part is dead: starting anew from other values")
	}
}

// step reports how far an epoch is, on a terminal and if epochs take long.
func (p *progress) step(s train.Step) {
	if !p.terminal || s.Done == s.Samples || time.Since(p.shown) < redraw || time.Since(p.began) < redraw {
		return
	}
	p.shown = time.Now()
	done := float64(p.done) + float64(s.Done)/float64(s.Samples)
	left := time.Duration(float64(time.Since(p.began)) / done * (float64(p.epochs-s.Epoch+1) - float64(s.Done)/float64(s.Samples)))
	fmt.Fprintf(p.out, "\r\x1b[K%s  %3d %% of epoch %d/%d  %s left", p.last, 100*s.Done/s.Samples, s.Epoch, p.epochs, brief(left))
	p.open = true
}

func (p *progress) line(e train.Epoch) string {
	spent := time.Since(p.began)
	left := time.Duration(float64(spent) / float64(p.done) * float64(p.epochs-e.Index))
	text := fmt.Sprintf("epoch %*d/%d  loss %.4f", len(fmt.Sprint(p.epochs)), e.Index, p.epochs, e.Loss)
	switch {
	case e.Scored && p.score == "accuracy":
		text += fmt.Sprintf("  validation accuracy %5.1f %%  best %5.1f %%", 100*(1-e.Score), 100*(1-e.Best))
	case e.Scored:
		text += fmt.Sprintf("  validation %s %.4f  best %.4f", p.score, e.Score, e.Best)
	}
	return text + fmt.Sprintf("  %s, %s left", brief(spent), brief(left))
}

// end ends the terminal's line.
func (p *progress) end() {
	if p.open {
		fmt.Fprintln(p.out)
		p.open = false
	}
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
