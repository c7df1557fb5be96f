package data

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

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
	if len(l.list) == 0 && l.timed {
		return nil, errors.New("it has no links at any time; leave the times out, or the graph to learn one from the readings")
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
	kept := l.list[:min(1, len(l.list))]
	for _, k := range l.list[len(kept):] {
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
