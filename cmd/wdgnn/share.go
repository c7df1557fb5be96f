package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
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
	so, left := fmt.Sprintf("%s %3.0f %%", s.name, 100*done), ""
	if done > 0.01 && done < 1 {
		left = fmt.Sprintf("%s left", brief(time.Duration(float64(spent)*(1-done)/done)))
	}
	switch {
	case s.terminal() && (s.due() || done >= 1):
		s.draw(strings.Join(said(so, left, what), "  "))
	case !s.terminal() && int(done*plainLines) > s.printed:
		s.printed = int(done * plainLines)
		fmt.Fprintln(s.out, strings.Join(said(so, strings.Join(said(brief(spent).String(), left), ", "), what), "  "))
	}
}

// said returns words without those that are empty.
func said(words ...string) []string {
	return slices.DeleteFunc(words, func(w string) bool { return w == "" })
}
