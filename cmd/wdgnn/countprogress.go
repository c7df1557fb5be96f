package main

import (
	"fmt"
	"io"
	"time"
)

// countProgress shows how many of many things are done, and how long the rest will
// take: one line that changes on a terminal and is gone at the end, elsewhere a line
// for every tenth of what takes long.
type countProgress struct {
	*progress
	name  string // what is being counted
	tenth int    // of it that were shown
}

// countAfter is when counting takes long.
const countAfter = 10 * time.Second

func newCountProgress(out io.Writer) *countProgress {
	return &countProgress{progress: newProgress(out, 0, "")}
}

// at reports that so many of all are done. When all are, the line is gone.
func (p *countProgress) at(name string, done, all int) {
	if name != p.name {
		p.name, p.began, p.tenth = name, time.Now(), -1
	}
	if done == all {
		p.clear()
		p.name = ""
	}
	spent := time.Since(p.began)
	if done == 0 || done == all || p.terminal() && !p.due() || !p.terminal() && (spent < countAfter || 10*done/all <= p.tenth) {
		return
	}
	p.tenth = 10 * done / all
	text := fmt.Sprintf("%s, %s of %s, %s left", name, thousands(done), thousands(all),
		brief(time.Duration(float64(spent)/float64(done)*float64(all-done))))
	if p.terminal() {
		p.draw(text)
		return
	}
	fmt.Fprintln(p.out, text)
}

// end clears the terminal's line.
func (p *countProgress) end() { p.clear() }
