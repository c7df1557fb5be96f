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

const (
	usualCorrelated = 8
	mostCorrelated  = 4000 // sensors
	mostSteps       = 8192 // of the series, the last ones; fewer if there are many sensors
	mostProducts    = 2e10
	leastShared     = 16 // readings that a sensor needs for its correlation to mean anything
	correlateRows   = 64 // sensors at once
)

// correlate links each sensor with the k others whose readings correlate most
// with its own, in proportion to the correlation,
//
//	ρ_ij = Σ_t x_i(t) x_j(t)      x_i: readings less their mean, of norm 1; 0 where there is none
//
// as far as that is positive. Two sensors are linked if either has the other
// among its k. Readings correlate rather than their differences: on METR-LA
// forecasts from such neighbours are better at 15 min and at 60 min, and better
// than from the neighbours on the road.
func correlate(o SensorGraph, s *Series) (*SensorGraphs, error) {
	k := o.Correlated
	switch {
	case k < 0:
		return nil, fmt.Errorf("%d links per sensor; want a positive number", k)
	case s.Nodes > mostCorrelated:
		return nil, fmt.Errorf("no graph, and %d sensors are too many to learn one from their correlation (%d at most); "+
			"give the links as a graph, or coordinates", s.Nodes, mostCorrelated)
	case k == 0:
		k = usualCorrelated
	}
	x := standard(s)
	e := mat.NewEngine(1)
	defer e.Close()
	weights := make(map[[2]int]float64)
	for from := 0; from < s.Nodes; from += correlateRows {
		rows := min(correlateRows, s.Nodes-from)
		rho := mat.NewDense(rows, s.Nodes, nil)
		e.MulABT(rho, x.View(from, 0, rows, x.Cols), x)
		for r := range rows {
			for _, q := range closest(rho.Row(r), from+r, k) {
				weights[[2]int{min(from+r, q.sensor), max(from+r, q.sensor)}] = q.distance
			}
		}
	}
	if len(weights) == 0 && s.Nodes > 1 {
		return nil, errors.New("no graph, and no two sensors whose readings correlate, to learn one from; " +
			"give the links as a graph, or coordinates")
	}
	pairs := make([][2]int, 0, len(weights))
	for p := range weights {
		pairs = append(pairs, p)
	}
	slices.SortFunc(pairs, func(a, b [2]int) int { return slices.Compare(a[:], b[:]) })
	edges := make([]graph.Edge, len(pairs))
	for i, p := range pairs {
		edges[i] = graph.Edge{From: p[0], To: p[1], Weight: weights[p]}
	}
	g, err := graph.FromEdges(s.Nodes, edges, false)
	if err != nil {
		return nil, err
	}
	note := fmt.Sprintf("no graph was given: learned from the readings, each sensor with the %d that correlate most: %s", k, described(g))
	return &SensorGraphs{Graphs: []*graph.Graph{g}, Note: note}, nil
}

// standard returns the readings of each sensor as a row, less their mean and of
// norm 1; 0 where there is none, and all 0 for a sensor that stands still.
func standard(s *Series) mat.Dense {
	from := max(0, s.Steps-min(mostSteps, int(mostProducts)/max(1, s.Nodes*s.Nodes)))
	x := mat.NewDense(s.Nodes, s.Steps-from, nil)
	for i := range s.Nodes {
		row := x.Row(i)
		sum, n := 0.0, 0
		for t := range row {
			if row[t] = s.Values.At((from+t)*s.Nodes+i, 0); !isNaN(row[t]) {
				sum += float64(row[t])
				n++
			}
		}
		mean, square := sum/float64(max(n, 1)), 0.0
		for _, v := range row {
			if d := float64(v) - mean; !isNaN(v) {
				square += float64(d * d)
			}
		}
		scale := 0.0
		if n >= leastShared && square > 0 {
			scale = 1 / math.Sqrt(square)
		}
		for t, v := range row {
			row[t] = 0
			if !isNaN(v) {
				row[t] = float32((float64(v) - mean) * scale)
			}
		}
	}
	return x
}

// closest returns the k sensors that correlate most with sensor i, as far as they
// do; near.distance is the correlation, to four digits.
func closest(rho []float32, i, k int) []near {
	var list []near
	for j, v := range rho {
		if r := math.Round(float64(v)*nearnessDigits) / nearnessDigits; j != i && r > 0 {
			list = append(list, near{j, r})
		}
	}
	slices.SortStableFunc(list, func(a, b near) int { return cmp.Compare(b.distance, a.distance) })
	return list[:min(k, len(list))]
}
