package data

import (
	"fmt"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/modelfile"
)

// SensorGraph says where the links between sensors come from: Graph or
// Coordinates or, if both are empty, the readings.
type SensorGraph struct {
	Graph    string // edges by name or number, or a matrix
	Directed bool   // links have a direction

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

// LoadSensorGraph reads or learns the links between the sensors of a series.
func LoadSensorGraph(o SensorGraph, s *Series) (*SensorGraphs, error) {
	file, err := modelfile.LoadGraph(o.Graph, modelfile.GraphOptions{Nodes: s.Nodes, Directed: o.Directed})
	if err != nil {
		return nil, err
	}
	if file.Steps != nil {
		return nil, fmt.Errorf("graph %s: a time column is not known here", o.Graph)
	}
	return &SensorGraphs{Graphs: []*graph.Graph{file.Graph}}, nil
}
