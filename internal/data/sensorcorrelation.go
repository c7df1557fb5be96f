package data

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/wdgnn/wdgnn/graph"
)

const (
	usualCorrelated = 8
	mostCorrelated  = 4000    // sensors
	mostProducts    = 4e9     // of two readings; of longer series every second step is taken, or every third, …
	mostReadings    = 1 << 14 // of a sensor
	leastShared     = 16      // readings that a sensor needs for its correlation to mean anything
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
	best := make([]leaders, s.Nodes)
	for i := range best {
		for j := range i {
			if r := math.Round(dot(x[i], x[j])*nearnessDigits) / nearnessDigits; r > 0 {
				best[i].add(near{j, r}, k)
				best[j].add(near{i, r}, k)
			}
		}
	}
	weights := make(map[[2]int]float64)
	for i, list := range best {
		for _, q := range list {
			weights[[2]int{min(i, q.sensor), max(i, q.sensor)}] = q.distance
		}
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
func standard(s *Series) [][]float64 {
	products := float64(s.Nodes) * float64(s.Nodes) * float64(s.Steps)
	every := 1 + max(int(products/mostProducts), s.Steps/mostReadings)
	x := make([][]float64, s.Nodes)
	for i := range x {
		row := make([]float64, (s.Steps+every-1)/every)
		sum, n := 0.0, 0
		for t := range row {
			if row[t] = float64(s.Values.At(t*every*s.Nodes+i, 0)); !math.IsNaN(row[t]) {
				sum += row[t]
				n++
			}
		}
		mean, square := sum/float64(max(n, 1)), 0.0
		for t := range row {
			if row[t] -= mean; math.IsNaN(row[t]) {
				row[t] = 0
			}
			square += float64(row[t] * row[t])
		}
		scale := 0.0
		if n >= leastShared && square > 0 {
			scale = 1 / math.Sqrt(square)
		}
		for t := range row {
			row[t] *= scale
		}
		x[i] = row
	}
	return x
}

// dot is the product of two rows in four sums, the same on every machine.
func dot(a, b []float64) float64 {
	var s0, s1, s2, s3 float64
	for len(a) >= 4 && len(b) >= 4 {
		s0 += float64(a[0] * b[0])
		s1 += float64(a[1] * b[1])
		s2 += float64(a[2] * b[2])
		s3 += float64(a[3] * b[3])
		a, b = a[4:], b[4:]
	}
	for t := range a {
		s0 += float64(a[t] * b[t])
	}
	return (s0 + s1) + (s2 + s3)
}

// leaders are the sensors that correlate most with one, the most first, of equals
// the one with the lower number; near.distance is the correlation.
type leaders []near

// add takes a sensor if it is among the first k.
func (l *leaders) add(q near, k int) {
	at, _ := slices.BinarySearchFunc(*l, q, func(a, b near) int {
		return cmp.Or(cmp.Compare(b.distance, a.distance), cmp.Compare(a.sensor, b.sensor))
	})
	if at == k {
		return
	}
	*l = slices.Insert((*l)[:min(len(*l), k-1)], at, q)
}
