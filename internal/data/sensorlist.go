package data

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// edge is a line of an edge list.
type edge struct {
	src, dst, time string
	weight         float64
	line           int
}

// linkWords are the names of the columns of an edge list, without what parts
// their syllables.
var linkWords = map[string][]string{
	"src":    {"src", "source", "from", "sensor1", "sensora"},
	"dst":    {"dst", "target", "to", "sensor2", "sensorb"},
	"weight": {"weight", "w", "cost"},
	"time":   {"time", "t", "step", "timestamp", "datetime", "date"},
}

// linkColumnsInOrder is how they follow each other where they have no names.
var linkColumnsInOrder = []string{"src", "dst", "weight", "time"}

// loadSensorText reads an edge list, or a matrix.
func loadSensorText(o SensorGraph, s *Series) (*SensorGraphs, error) {
	r, file, err := openTable(o.Graph)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return readSensorLinks(r, o, s)
}

// readSensorLinks reads links from a text.
func readSensorLinks(r *textReader, o SensorGraph, s *Series) (*SensorGraphs, error) {
	l := &sensorLinks{options: o, series: s}
	read := l.readEdges
	if m := newMatrix(r.header, s); m != nil {
		read = func(r *textReader) error { return l.readMatrix(r, m) }
	}
	if err := read(r); err != nil {
		return nil, err
	}
	return l.graphs()
}

// readEdges reads a line for each link.
func (l *sensorLinks) readEdges(r *textReader) error {
	place, named, err := linkColumns(r.header)
	if err != nil {
		return fmt.Errorf("line %d: %w", r.top, err)
	}
	l.timed = place["time"] >= 0 && !l.options.Ever
	var list []edge
	add := func(fields []string) error {
		e := edge{src: strings.Clone(fields[place["src"]]), dst: strings.Clone(fields[place["dst"]]), weight: 1, line: r.line}
		if c := place["weight"]; c >= 0 {
			w, err := r.number(fields[c])
			if err != nil || isNaN(w) {
				return fmt.Errorf("column %d: weight is %.40q; want a positive number", c+1, fields[c])
			}
			e.weight = float64(w)
		}
		if l.timed {
			e.time = strings.Clone(fields[place["time"]])
		}
		list = append(list, e)
		return nil
	}
	if named && r.first == nil { // no sensor hears another
		return nil
	}
	if err := r.lines(named, add); err != nil {
		return err
	}
	return l.resolve(list)
}

// linkColumns finds the columns of an edge list: by name, or by number if the
// first line is one of two to four numbers.
func linkColumns(first []string) (place map[string]int, named bool, err error) {
	place = map[string]int{"src": -1, "dst": -1, "weight": -1, "time": -1}
	if allNumbers(first) && len(first) >= 2 && len(first) <= 4 {
		for c, what := range linkColumnsInOrder[:len(first)] {
			place[what] = c
		}
		return place, false, nil
	}
	for _, what := range linkColumnsInOrder {
		switch found := having(first, linkWords[what]); {
		case len(found) > 1:
			return nil, false, fmt.Errorf("columns %q and %q are both %s", first[found[0]], first[found[1]], what)
		case len(found) == 1:
			place[what] = found[0]
		}
	}
	if place["src"] < 0 || place["dst"] < 0 {
		return nil, false, fmt.Errorf("columns %s; want src,dst and perhaps weight and time, or a matrix of numbers", few(first))
	}
	return place, true, nil
}

// resolve finds the sensors and steps of a list of edges.
func (l *sensorLinks) resolve(list []edge) error {
	at := make(map[string]int, l.series.Nodes)
	for i, name := range l.series.Names {
		at[name] = i
	}
	stranger, line := "", 0
	for _, e := range list {
		for _, name := range []string{e.src, e.dst} {
			if _, ok := at[name]; !ok && stranger == "" {
				stranger, line = name, e.line
			}
		}
	}
	if line > 0 && !numbered(list, l.series.Nodes) {
		return fmt.Errorf("line %d: no sensor of the series is called %.60q%s", line, stranger, meant(stranger, l.series.Names))
	}
	var c clock
	for _, e := range list {
		k := sensorLink{weight: e.weight, line: e.line}
		if l.options.Ever && k.weight > 0 {
			k.weight = 1
		}
		if line > 0 { // by number; numbered has read them
			k.from, _ = strconv.Atoi(e.src)
			k.to, _ = strconv.Atoi(e.dst)
		} else {
			k.from, k.to = at[e.src], at[e.dst]
		}
		if l.timed {
			var err error
			if k.step, err = l.stepOf(e.time, &c); err != nil {
				return fmt.Errorf("line %d: %w", e.line, err)
			}
			if k.step >= l.series.Steps {
				l.later++
				continue
			}
		}
		if err := l.add(k); err != nil {
			return fmt.Errorf("line %d: %w", e.line, err)
		}
	}
	return nil
}

// numbered says whether all ends are numbers of n sensors.
func numbered(list []edge, n int) bool {
	return !slices.ContainsFunc(list, func(e edge) bool {
		a, errA := strconv.Atoi(e.src)
		b, errB := strconv.Atoi(e.dst)
		return errA != nil || errB != nil || min(a, b) < 0 || max(a, b) >= n
	})
}

// stepOf reads when a link begins: the number of a step, or a time, which means
// the first step at or after it. What begins before the series is there from its
// first step on; the steps before are negative, so that the last of them counts.
func (l *sensorLinks) stepOf(text string, c *clock) (int, error) {
	_, date := parseDigits(text)
	if k, err := strconv.Atoi(text); err == nil && k < 1e8 && !date {
		if k < 0 || k >= l.series.Steps {
			return 0, fmt.Errorf("time is step %d, but the series has steps 0 to %d", k, l.series.Steps-1)
		}
		return k, nil
	}
	at, err := c.read(text)
	if err != nil {
		return 0, err
	}
	if l.series.Interval == 0 {
		return 0, fmt.Errorf("time is %.40q, but the series has no times; number its steps from 0", text)
	}
	every := l.series.Interval.Microseconds()
	since := at - l.series.Start.UnixMicro()
	k := since / every
	if since > 0 && since%every != 0 {
		k++
	}
	return int(k), nil
}
