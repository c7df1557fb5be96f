package host

import (
	"sync/atomic"
	"time"
)

// World is what the nodes of a host observe and act on. One that cannot read
// some of what it hears, or write some of its answers, may say how many with
// methods Refused and Lost, both without arguments and of type uint64: reports
// then have them as BadLines and among LostAnswers.
type World interface {
	// Lines returns what the world says, in order, always the same channel.
	// The world closes it at its end.
	Lines() <-chan *Line

	// Act tells what the nodes predicted. The answer is valid during the
	// call. An error is counted; the host goes on.
	Act(a *Answer) error
}

// Text is a World that speaks and hears JSON, one object per message.
type Text struct {
	lines  chan *Line
	write  func([]byte) error
	refuse func(error)
	bad    atomic.Uint64

	came, ready time.Time // when the last line did, and when the next could
}

// NewText returns a world whose answers go to write, and whose refused lines to
// refuse; nil means nowhere. Whoever hears the world calls Say for each of its
// lines, one after the other and as soon as it comes, and End after the last.
func NewText(write func([]byte) error, refuse func(error)) *Text {
	return &Text{lines: make(chan *Line, 4), write: write, refuse: refuse}
}

// Say takes in a line. What cannot be read is refused and counted. It waits
// while the host is more than a few lines behind, until stop is closed.
func (w *Text) Say(text []byte, stop <-chan struct{}) {
	came := time.Now()
	l, err := ParseLine(text)
	if err != nil {
		w.bad.Add(1)
		if w.refuse != nil {
			w.refuse(err)
		}
		return
	}
	if !w.came.IsZero() {
		l.came, l.took, l.ready = came, came.Sub(w.came), came.Sub(w.ready)
	}
	select {
	case w.lines <- l:
	case <-stop:
	}
	w.came, w.ready = came, time.Now()
}

// End ends the world. Say must not be called after it.
func (w *Text) End() { close(w.lines) }

// Lines implements [World].
func (w *Text) Lines() <-chan *Line { return w.lines }

// Refused returns how many lines could not be read.
func (w *Text) Refused() uint64 { return w.bad.Load() }

// Act implements [World].
func (w *Text) Act(a *Answer) error {
	if w.write == nil {
		return nil
	}
	text, err := a.AppendText(nil)
	if err != nil {
		return err
	}
	return w.write(text)
}
