package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"github.com/wdgnn/wdgnn/internal/grid"
	"github.com/wdgnn/wdgnn/internal/lifecycle"
	"github.com/wdgnn/wdgnn/train"
)

// lines prints until the first error, which it keeps.
type lines struct {
	w   io.Writer
	err error
}

func (l *lines) printf(format string, args ...any) {
	if l.err == nil {
		_, l.err = fmt.Fprintf(l.w, format, args...)
	}
}

// table prints rows under a header, in columns where the terminal is wide enough.
func (l *lines) table(header []string, rows [][]string) {
	list, _ := grid.Lines(header, rows, 3, columns(l.w))
	for _, line := range list {
		l.printf("%s\n", line)
	}
}

// describeGraph says what a dataset lives on.
func describeGraph(d *lifecycle.Dataset) string {
	switch {
	case d.Flights():
		return fmt.Sprintf("%s, %s a flight", grid.Count(d.Nodes, "robot"), grid.Count(d.Steps, "step"))
	case d.Delayed():
		return fmt.Sprintf("%s, %s in %s", grid.Count(d.Nodes, "node"), grid.Count(d.Edges, "link"), grid.Count(d.Steps, "step"))
	}
	return fmt.Sprintf("%s, %s", grid.Count(d.Nodes, "node"), grid.Count(d.Edges, "link"))
}

// keepUntil says which lines of metrics.jsonl belong to a run that stands at p.
func keepUntil(p train.Progress) func(line []byte) bool {
	return func(line []byte) bool {
		var m metrics
		if json.Unmarshal(line, &m) != nil {
			return false
		}
		return m.Restart < p.Restart || m.Restart == p.Restart && m.Index <= p.Epoch
	}
}

// counted writes a number of things, with commas.
func counted(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return thousands(n) + " " + thing
}

// thousands writes a number with commas.
func thousands(n int) string {
	text := strconv.Itoa(n)
	for at := len(text) - 3; at > 0 && text[at-1] != '-'; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}
