package data

import (
	"fmt"
	"slices"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/loss"
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
	Keep     []int  // nodes whose signals, targets and links are kept, ascending, of those that are there; nil means all
	TargetFiles
}

// Stream is what a network meets step by step.
type Stream struct {
	Steps   int            // T
	Nodes   int            // N
	Kept    []int          // nodes of which something is kept, K of them; nil if all are
	Read    []int          // nodes that are asked, of those
	Signals mat.Dense      // (T·K)×F
	Graphs  []*graph.Graph // of each step, or one for all; a graph that holds is the same pointer
	Changes int            // graphs that follow each other

	Targets // T·R rows, step by step; of the zero value none is known
}

// LoadStream reads a stream and checks that its files fit each other.
func LoadStream(f StreamFiles) (*Stream, error) {
	s := &Stream{Read: f.Read, Kept: f.Keep}
	features := 1
	signals, err := modelfile.LoadPart(f.Signals, func(shape []int) (kept []int, err error) {
		features, err = s.shaped(f, shape)
		return s.Kept, err
	})
	if err != nil {
		return nil, err
	}
	values, err := signals.Float32s()
	if err != nil {
		return nil, err
	}
	s.Signals = mat.NewDense(len(values)/features, features, values)
	if err := s.loadTargets(f); err != nil {
		return nil, err
	}
	return s, s.loadGraphs(f)
}

// shaped takes in the shape of the signals.
func (s *Stream) shaped(f StreamFiles, shape []int) (features int, err error) {
	if len(shape) != 2 && len(shape) != 3 || slices.Contains(shape, 0) {
		return 0, fmt.Errorf("%s: signals of shape %v, want steps×nodes×features", f.Signals, shape)
	}
	features = 1
	if len(shape) == 3 {
		features = shape[2]
	}
	if features != f.Features {
		return 0, fmt.Errorf("%s: signals of shape %v have %d features, the model reads %d", f.Signals, shape, features, f.Features)
	}
	s.Steps, s.Nodes = shape[0], shape[1]
	if s.Read == nil {
		for i := range s.Nodes {
			s.Read = append(s.Read, i)
		}
	}
	if f.Nodes != 0 && f.Nodes != s.Nodes {
		return 0, fmt.Errorf("%s: signals of shape %v are on %d nodes, data.nodes says %d; "+
			"nodes that come and go keep their number, without links", f.Signals, shape, s.Nodes, f.Nodes)
	}
	for _, i := range s.Read {
		if i >= s.Nodes {
			return 0, fmt.Errorf("%s: signals of shape %v are on %d nodes, and node %d is to be read; nodes count from 0",
				f.Signals, shape, s.Nodes, i)
		}
	}
	if s.Kept != nil {
		within, _ := slices.BinarySearch(s.Kept, s.Nodes)
		s.Kept = s.Kept[:within]
	}
	return features, nil
}

// loadTargets reads what answers should be, of the nodes that are kept and asked.
func (s *Stream) loadTargets(f StreamFiles) error {
	if f.Targets == "" {
		return nil
	}
	r := &reader{TargetFiles: f.TargetFiles, samples: s.Steps, nodes: s.Nodes, gaps: true}
	r.Read = s.Read
	if s.Kept != nil {
		s.Read = common(s.Read, s.Kept)
		r.keep = s.Read
	}
	t, err := r.read()
	if err != nil {
		return err
	}
	s.Targets = *t
	if r.keep != nil && !t.known() { // are there any?
		r.keep = nil
		_, err = r.read()
	}
	return err
}

// known says whether any target is.
func (t *Targets) known() bool {
	return slices.Contains(t.Mask, true) || slices.ContainsFunc(t.Labels, func(l int32) bool { return l != loss.NoLabel })
}

// common returns what of a list is also in another, which ascends.
func common(list, other []int) []int {
	both := make([]int, 0, min(len(list), len(other)))
	for _, i := range list {
		if _, found := slices.BinarySearch(other, i); found {
			both = append(both, i)
		}
	}
	return both
}

// Place returns where the k-th node that is kept stands in the signals of step t.
func (s *Stream) Place(t, k int) int {
	if s.Kept == nil {
		return t*s.Nodes + k
	}
	return t*len(s.Kept) + k
}

// loadGraphs reads the graph, or the graphs by time.
func (s *Stream) loadGraphs(f StreamFiles) error {
	o := modelfile.GraphOptions{Nodes: s.Nodes, Directed: f.Directed}
	if s.Kept != nil {
		kept := make([]bool, s.Nodes)
		for _, i := range s.Kept {
			kept[i] = true
		}
		o.Heard = func(i int) bool { return kept[i] }
	}
	file, err := modelfile.LoadGraph(f.Graph, o)
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
