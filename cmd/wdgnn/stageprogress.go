package main

import (
	"fmt"
	"io"
	"time"

	"github.com/wdgnn/wdgnn/internal/paper/certify"
)

// stageProgress shows how far a certificate is: one line that changes on a
// terminal and is gone at the end, elsewhere a line per stage of what takes long.
type stageProgress struct {
	*progress
	name string // the stage that was shown last
}

// longAfter is when a computation takes long.
const longAfter = 2 * time.Second

func newStageProgress(out io.Writer) *stageProgress {
	return &stageProgress{progress: newProgress(out, 0, "")}
}

// stage reports a step of one.
func (p *stageProgress) stage(s certify.Stage) {
	switch {
	case p.due():
		text := fmt.Sprintf("%s, step %d", s.Name, s.Done)
		if s.Steps > 0 {
			text += fmt.Sprintf(" of %d", s.Steps)
		}
		p.draw(text)
	case !p.terminal() && s.Name != p.name && time.Since(p.began) >= longAfter:
		p.name = s.Name
		fmt.Fprintf(p.out, "%s: %s\n", brief(time.Since(p.began)), s.Name)
	}
}

// end clears the terminal's line.
func (p *stageProgress) end() { p.clear() }
