package data

import (
	"errors"
	"fmt"
	"strings"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/modelfile"
)

// SensorGraph says where the links between sensors come from: Graph or
// Coordinates or, if both are empty, the readings.
type SensorGraph struct {
	Graph    string // edges by name or number, or a matrix
	Directed bool   // links have a direction
	Ever     bool   // one graph of all links that the file ever has, whatever their times and weights

	Coordinates string  // sensor,x,y or sensor,lat,lon
	Radius      float64 // links between sensors so near, in the unit of x and y, or in metres
	Nearest     int     // links to so many nearest sensors; 0 without a radius means 4

	Correlated int // links per sensor of a graph that is learned from readings; 0 means 8
}

// SensorGraphs are the links of a series.
type SensorGraphs struct {
	Graphs []*graph.Graph // of each step, or one for all; a graph that holds is the same pointer
	Note   string         // where they come from, for people to read
}

// At returns the graph of step t of the series.
func (g *SensorGraphs) At(t int) *graph.Graph { return g.Graphs[min(t, len(g.Graphs)-1)] }

// LoadSensorGraph reads the links between the sensors of s, or learns them from
// the readings of s, which is then the part to train on.
//
// A graph file is an edge list as text, with the columns src and dst and perhaps
// weight and time, a square matrix as text, or a .npy or .npz matrix as
// package modelfile reads it. Rows and columns of a matrix are the sensors in the
// order of the series, unless the first line of a text, and perhaps its first
// column, name them; entry (i,j) is the link j → i. The ends of an edge are names if all in the file are,
// otherwise numbers from 0. A time is the number of a step of s, or a time as in a
// series; links hold until the next time that the file names. Links of a sensor
// to itself are left out; a sensor need not have links.
//
// Coordinates are a table with the columns sensor and x, y, or lat, lon in
// degrees, whose distance is that of the great circle in metres. A link of length
// d has the weight exp(-d²/2m), where m is the mean square length of all links,
// and at least 0.01.
//
// Links that are learned are those to the sensors whose readings correlate most,
// see [correlate].
func LoadSensorGraph(o SensorGraph, s *Series) (*SensorGraphs, error) {
	switch {
	case o.Graph != "" && o.Coordinates != "":
		return nil, errors.New("both a graph and coordinates: leave one of the two out")
	case o.Graph != "":
		g, err := loadSensorLinks(o, s)
		if err != nil {
			return nil, TableError{fmt.Errorf("graph %s: %w", o.Graph, err)}
		}
		return g, nil
	case o.Coordinates != "":
		g, err := loadPlaces(o, s)
		if err != nil {
			return nil, TableError{fmt.Errorf("coordinates %s: %w", o.Coordinates, err)}
		}
		return g, nil
	}
	return correlate(o, s)
}

// loadSensorLinks reads a graph file.
func loadSensorLinks(o SensorGraph, s *Series) (*SensorGraphs, error) {
	switch end := ending(o.Graph); end {
	case ".csv", ".tsv", ".txt":
		return loadSensorText(o, s)
	case ".npy", ".npz":
		return loadSensorMatrix(o, s)
	default:
		return nil, fmt.Errorf("ending %q is unknown; want .csv, .tsv, .txt, .npz or .npy", end)
	}
}

// loadSensorMatrix reads a matrix that SciPy or NumPy saved. One for the sensors
// that are known leaves newcomers without links.
func loadSensorMatrix(o SensorGraph, s *Series) (*SensorGraphs, error) {
	ask := modelfile.GraphOptions{Nodes: s.Nodes, Directed: o.Directed, NoLoops: true}
	file, err := modelfile.LoadGraph(o.Graph, ask)
	if err != nil && s.Known < s.Nodes {
		ask.Nodes = s.Known
		if known, again := modelfile.LoadGraph(o.Graph, ask); again == nil {
			file, err = known, nil
		}
	}
	if err != nil {
		return nil, err
	}
	l := &sensorLinks{options: o, series: s}
	a := file.Graph.Adjacency()
	for i := range a.Rows {
		col, val := a.Row(i)
		for k, j := range col {
			if o.Directed || int(j) > i {
				l.list = append(l.list, sensorLink{from: int(j), to: i, weight: float64(val[k])})
			}
		}
	}
	return l.graphs()
}

// described writes what a graph has for a note.
func described(g *graph.Graph) string {
	alone := 0
	for i := range g.Nodes() {
		if g.Degree(i) == 0 {
			alone++
		}
	}
	text := counted(g.Edges(), "link")
	if alone > 0 {
		text += fmt.Sprintf(", %s without any", counted(alone, "sensor"))
	}
	return text
}

// joined writes the parts of a note that are not empty.
func joined(parts ...string) string {
	var list []string
	for _, p := range parts {
		if p != "" {
			list = append(list, p)
		}
	}
	return strings.Join(list, "; ")
}
