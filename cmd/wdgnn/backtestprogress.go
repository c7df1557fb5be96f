package main

import (
	"fmt"
	"time"

	"github.com/wdgnn/wdgnn/internal/lifecycle"
	"github.com/wdgnn/wdgnn/train"
)

// backtestProgress shows how far a backtest is: one line that changes on a terminal, a
// line per origin elsewhere.
type backtestProgress struct {
	*progress
	origins, origin int
	steps           int
	quiet           bool
}

// playShare is about which part of the time of an origin the play takes.
const playShare = 0.3

// epochDone reports an epoch of training.
func (p *backtestProgress) epochDone(e train.Epoch) {
	p.part((1-playShare)*float64(e.Index)/float64(p.epochs), fmt.Sprintf("training, epoch %d/%d  loss %.4f", e.Index, p.epochs, e.Loss))
}

// stepDone reports a step of the play.
func (p *backtestProgress) stepDone(s lifecycle.OnlineStep) {
	done := float64(s.Step+1) / float64(p.steps)
	p.part(1-playShare+playShare*done, fmt.Sprintf("step %d/%d  mean absolute error so far: online %.4g  frozen %.4g",
		s.Step+1, p.steps, s.MeanCost, s.FrozenMeanCost))
}

// originDone reports the end of an origin where there is no line that changes.
func (p *backtestProgress) originDone() {
	if !p.terminal() && !p.quiet {
		fmt.Fprintf(p.out, "origin %d of %d done, %s left\n", p.origin+1, p.origins, brief(p.left(float64(p.origin+1))))
	}
}

// part shows where it is: a part of the present origin.
func (p *backtestProgress) part(part float64, text string) {
	if p.quiet || !p.due() {
		return
	}
	left := fmt.Sprintf("%s left", brief(p.left(float64(p.origin)+part)))
	p.draw(p.parts(fmt.Sprintf("origin %d of %d", p.origin+1, p.origins), left, text))
}

// left returns how long it will take, if so many origins are done.
func (p *backtestProgress) left(done float64) time.Duration {
	if done <= 0 {
		return 0
	}
	return time.Duration(float64(time.Since(p.began)) / done * (float64(p.origins) - done))
}
