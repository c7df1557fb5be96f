package main

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"
)

// screen is the lower end of a terminal: a few lines that change. Files and pipes
// have none.
type screen struct {
	out   io.Writer
	wide  int       // columns of the terminal; 0 if out is none
	drawn int       // lines that stand there and will be drawn over
	shown time.Time // when they were drawn
}

// redraw is how often lines change, at most.
const redraw = 100 * time.Millisecond

func newScreen(out io.Writer) screen { return screen{out: out, wide: columns(out)} }

// columns returns how wide a terminal is; 0 if out is none.
func columns(out io.Writer) int {
	if t, ok := out.(*terminal); ok {
		return t.wide()
	}
	return 0
}

// terminal says whether there are lines that can change.
func (s *screen) terminal() bool { return s.wide > 0 }

// due says whether it is time to draw again.
func (s *screen) due() bool { return s.terminal() && time.Since(s.shown) >= redraw }

// draw shows lines in the place of those before, cut to the width of the terminal.
func (s *screen) draw(lines ...string) {
	var b strings.Builder
	s.erase(&b)
	for _, line := range lines {
		b.WriteString(shorten(line, s.wide-1))
		b.WriteByte('\n')
	}
	s.drawn, s.shown = len(lines), time.Now()
	io.WriteString(s.out, b.String())
}

// say prints a line that stays, above those that change.
func (s *screen) say(line string) {
	var b strings.Builder
	s.erase(&b)
	fmt.Fprintln(&b, line)
	io.WriteString(s.out, b.String())
}

// end leaves the lines as they are.
func (s *screen) end() { s.drawn = 0 }

// clear takes the lines away.
func (s *screen) clear() {
	var b strings.Builder
	s.erase(&b)
	io.WriteString(s.out, b.String())
}

func (s *screen) erase(b *strings.Builder) {
	if s.drawn > 0 {
		fmt.Fprintf(b, "\x1b[%dA\r\x1b[J", s.drawn)
	}
	s.drawn = 0
}

// parts joins what fits into a line. The first are the most important; those that
// make it too long are left out, from the end.
func (s *screen) parts(list ...string) string {
	line := list[0]
	for _, p := range list[1:] {
		if p == "" {
			continue
		}
		if s.terminal() && utf8.RuneCountInString(line)+2+utf8.RuneCountInString(p) >= s.wide {
			break
		}
		line += "  " + p
	}
	return line
}

// shorten cuts a line to so many characters.
func shorten(line string, wide int) string {
	if utf8.RuneCountInString(line) <= wide {
		return line
	}
	return string([]rune(line)[:max(wide-1, 0)]) + "…"
}
