package main

import (
	"fmt"
	"io"
	"time"
)

// share shows how much of a long piece of work is done, and about how long the
// rest takes: one line that changes on a terminal, a plain line every twentieth
// part elsewhere.
type share struct {
	screen
	name    string
	began   time.Time
	printed int // twentieths
}

func newShare(out io.Writer, name string) *share {
	return &share{screen: newScreen(out), name: name, began: time.Now()}
}

// report says that a share of the work is done, 0 to 1, and what just was.
func (s *share) report(done float64, what string) {
	spent := time.Since(s.began)
	left := ""
	if done > 0.01 {
		left = fmt.Sprintf(", %s left", brief(time.Duration(float64(spent)*(1-done)/done)))
	}
	line := fmt.Sprintf("%s %3.0f %%  %s%s  %s", s.name, 100*done, brief(spent), left, what)
	switch {
	case s.terminal() && (s.due() || done >= 1):
		s.draw(line)
	case !s.terminal() && int(done*plainLines) > s.printed:
		s.printed = int(done * plainLines)
		fmt.Fprintln(s.out, line)
	}
}
