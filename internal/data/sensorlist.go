package data

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/mat"
)

// sensorLink is a link as a file lists it.
type sensorLink struct {
	step     int // of the series
	from, to int
	weight   float64
	line     int
}

// sensorLinks is what a file lists, before it becomes graphs.
type sensorLinks struct {
	options SensorGraph
	series  *Series
	list    []sensorLink
	timed   bool
	loops   int // links of a sensor to itself
	later   int // links at times after the series
}

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

// loadSensorText reads an edge list, or a matrix.
func loadSensorText(o SensorGraph, s *Series) (*SensorGraphs, error) {
	r, file, err := openTable(o.Graph)
	if err != nil {
		return nil, err
	}
	defer file.Close()
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
	l.timed = place["time"] >= 0
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
		for c, what := range []string{"src", "dst", "weight", "time"}[:len(first)] {
			place[what] = c
		}
		return place, false, nil
	}
	for what, words := range linkWords {
		switch found := having(first, words); {
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
	if k, err := strconv.Atoi(text); err == nil && k < 1e8 {
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

// add takes one link. Those of weight 0 are none.
func (l *sensorLinks) add(k sensorLink) error {
	switch w := float32(k.weight); {
	case k.weight == 0:
		return nil
	case !(k.weight > 0) || w == 0 || !mat.Finite(w):
		return fmt.Errorf("weight %v between %q and %q; want a positive number",
			k.weight, l.series.Names[k.from], l.series.Names[k.to])
	case k.from == k.to:
		l.loops++
		return nil
	}
	l.list = append(l.list, k)
	return nil
}

// graphs builds the graph, or the graphs by time.
func (l *sensorLinks) graphs() (*SensorGraphs, error) {
	if len(l.list) == 0 {
		return nil, errors.New("it has no links; leave the graph out to learn one from the readings")
	}
	if err := l.unique(); err != nil {
		return nil, err
	}
	g := new(SensorGraphs)
	if !l.timed {
		one, err := l.build(l.list)
		if err != nil {
			return nil, err
		}
		g.Graphs, g.Note = []*graph.Graph{one}, joined(described(one), l.passedOver())
		return g, nil
	}
	return g, l.byTime(g)
}

// passedOver says what was left out.
func (l *sensorLinks) passedOver() string {
	var loops, later string
	if l.loops > 0 {
		loops = fmt.Sprintf("%s of a sensor to itself left out", counted(l.loops, "link"))
	}
	if l.later > 0 {
		later = fmt.Sprintf("%s after the end of the series left out", counted(l.later, "link"))
	}
	return joined(loops, later)
}

// byTime builds a graph for each time, which holds until the next.
func (l *sensorLinks) byTime(g *SensorGraphs) error {
	changes := 0
	var last *graph.Graph
	for rest := l.list; len(rest) > 0; {
		t := rest[0].step
		n := slices.IndexFunc(rest, func(k sensorLink) bool { return k.step != t })
		if n < 0 {
			n = len(rest)
		}
		switch {
		case t > 0 && last == nil:
			return fmt.Errorf("line %d: the first links are those of step %d; the file must have those of the beginning too", rest[0].line, t)
		case n < len(rest) && rest[n].step <= 0: // over before the series begins
			rest = rest[n:]
			continue
		}
		next, err := l.build(rest[:n])
		if err != nil {
			return err
		}
		for len(g.Graphs) < max(t, 0) {
			g.Graphs = append(g.Graphs, last)
		}
		g.Graphs = append(g.Graphs, next)
		last, rest = next, rest[n:]
		changes++
	}
	for len(g.Graphs) < l.series.Steps {
		g.Graphs = append(g.Graphs, last)
	}
	g.Note = joined(described(g.Graphs[0])+" at first", fmt.Sprintf("%s by time", counted(changes, "graph")), l.passedOver())
	return nil
}

// unique sorts the list by step and sensors, refuses what it says twice and, if
// links have no direction, keeps one of two.
func (l *sensorLinks) unique() error {
	ends := func(k sensorLink) (int, int) {
		if !l.options.Directed && k.from > k.to {
			return k.to, k.from
		}
		return k.from, k.to
	}
	slices.SortStableFunc(l.list, func(a, b sensorLink) int {
		aLow, aHigh := ends(a)
		bLow, bHigh := ends(b)
		return cmp.Or(cmp.Compare(a.step, b.step), cmp.Compare(aLow, bLow), cmp.Compare(aHigh, bHigh))
	})
	kept := l.list[:1]
	for _, k := range l.list[1:] {
		before := kept[len(kept)-1]
		low, high := ends(k)
		if bLow, bHigh := ends(before); before.step != k.step || bLow != low || bHigh != high {
			kept = append(kept, k)
			continue
		}
		if k.weight != before.weight {
			return fmt.Errorf("lines %d and %d give the link between %q and %q the weights %v and %v; keep one, or say directed: true",
				before.line, k.line, l.series.Names[k.from], l.series.Names[k.to], before.weight, k.weight)
		}
	}
	l.list = kept
	return nil
}

// build returns the graph with the given links.
func (l *sensorLinks) build(list []sensorLink) (*graph.Graph, error) {
	if l.series.Nodes > math.MaxInt32 {
		return nil, fmt.Errorf("%d sensors are too many", l.series.Nodes)
	}
	edges := make([]graph.Edge, len(list))
	for i, k := range list {
		edges[i] = graph.Edge{From: k.from, To: k.to, Weight: k.weight}
	}
	return graph.FromEdges(l.series.Nodes, edges, l.options.Directed)
}
