package data

import (
	"fmt"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/modelfile"
)

// StreamFiles names the files of a stream, and says what a model makes of them.
// Without a path of targets there are none. A target that is NaN is not known.
type StreamFiles struct {
	Graph    string // edges or a matrix; with a time column if links change
	Directed bool   // links have a direction
	Delayed  bool   // a step that the file does not name has no links; otherwise those before hold
	Signals  string // T×N×F, or T×N for F = 1
	Nodes    int    // N as the configuration says; 0 takes it from the signals
	Features int    // F, that the model reads
	TargetFiles
}

// Stream is what a network meets step by step.
type Stream struct {
	Steps   int            // T
	Nodes   int            // N
	Read    []int          // nodes that are asked
	Signals mat.Dense      // (T·N)×F
	Graphs  []*graph.Graph // of each step, or one for all; a graph that holds is the same pointer
	Changes int            // graphs that follow each other

	Targets // T·R rows, step by step; of the zero value none is known
}

// LoadStream reads a stream and checks that its files fit each other.
func LoadStream(f StreamFiles) (*Stream, error) {
	shape, values, err := floats(f.Signals)
	if err != nil {
		return nil, err
	}
	if len(shape) != 2 && len(shape) != 3 || len(values) == 0 {
		return nil, fmt.Errorf("%s: signals of shape %v, want steps×nodes×features", f.Signals, shape)
	}
	features := 1
	if len(shape) == 3 {
		features = shape[2]
	}
	if features != f.Features {
		return nil, fmt.Errorf("%s: signals of shape %v have %d features, the model reads %d", f.Signals, shape, features, f.Features)
	}
	s := &Stream{Steps: shape[0], Nodes: shape[1], Read: f.Read, Signals: mat.NewDense(len(values)/features, features, values)}
	if s.Read == nil {
		for i := range s.Nodes {
			s.Read = append(s.Read, i)
		}
	}
	if f.Nodes != 0 && f.Nodes != s.Nodes {
		return nil, fmt.Errorf("%s: signals of shape %v are on %d nodes, data.nodes says %d; "+
			"nodes that come and go keep their number, without links", f.Signals, shape, s.Nodes, f.Nodes)
	}
	for _, i := range s.Read {
		if i >= s.Nodes {
			return nil, fmt.Errorf("%s: signals of shape %v are on %d nodes, and node %d is to be read; nodes count from 0",
				f.Signals, shape, s.Nodes, i)
		}
	}
	if f.Targets != "" {
		r := &reader{TargetFiles: f.TargetFiles, samples: s.Steps, nodes: s.Nodes, gaps: true}
		r.Read = s.Read
		t, err := r.read()
		if err != nil {
			return nil, err
		}
		s.Targets = *t
	}
	return s, s.loadGraphs(f)
}

// loadGraphs reads the graph, or the graphs by time.
func (s *Stream) loadGraphs(f StreamFiles) error {
	file, err := modelfile.LoadGraph(f.Graph, modelfile.GraphOptions{Nodes: s.Nodes, Directed: f.Directed})
	if err != nil {
		return err
	}
	if file.Steps == nil {
		s.Graphs, s.Changes = []*graph.Graph{file.Graph}, 1
		return nil
	}
	if len(file.Steps) > s.Steps {
		return fmt.Errorf("%s: it has links at time %d, but the stream ends with step %d", f.Graph, len(file.Steps)-1, s.Steps-1)
	}
	if file.Steps[0].Edges() == 0 && !f.Delayed {
		return fmt.Errorf("%s: no links at time 0: the first graph must be that of step 0", f.Graph)
	}
	none, err := graph.FromEdges(s.Nodes, nil, f.Directed)
	if err != nil {
		return err
	}
	for t := range s.Steps {
		switch {
		case t < len(file.Steps) && file.Steps[t].Edges() > 0:
			s.Graphs = append(s.Graphs, file.Steps[t])
			s.Changes++
		case f.Delayed:
			s.Graphs = append(s.Graphs, none)
		default: // it holds until the next time that appears
			s.Graphs = append(s.Graphs, s.Graphs[t-1])
		}
	}
	return nil
}

// Graph returns the graph of step t.
func (s *Stream) Graph(t int) *graph.Graph { return s.Graphs[min(t, len(s.Graphs)-1)] }
