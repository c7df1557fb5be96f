package main

import (
	"fmt"
	"io"
	"os"
	"time"
)

// share shows how much of a long piece of work is done, and about how long the
// rest takes: one line that changes on a terminal, a plain line every twentieth
// part elsewhere.
type share struct {
	out      io.Writer
	name     string
	terminal bool
	began    time.Time
	shown    time.Time
	printed  int // twentieths
	open     bool
}

func newShare(out io.Writer, name string) *share {
	return &share{out: out, name: name, terminal: isTerminal(out), began: time.Now()}
}

// isTerminal says whether out is one.
func isTerminal(out io.Writer) bool {
	f, ok := out.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
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
	case s.terminal && (time.Since(s.shown) >= redraw || done >= 1):
		fmt.Fprintf(s.out, "\r\x1b[K%s", line)
		s.shown, s.open = time.Now(), true
	case !s.terminal && int(done*plainLines) > s.printed:
		s.printed = int(done * plainLines)
		fmt.Fprintln(s.out, line)
	}
}

// end ends the terminal's line.
func (s *share) end() {
	if s.open {
		fmt.Fprintln(s.out)
		s.open = false
	}
}
