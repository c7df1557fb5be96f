package data

import (
	"fmt"
	"math"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/modelfile"
)

// Files names the files that hold what nodes observe.
type Files struct {
	Graph    string // edges or a matrix; with a time column, signals are trajectories
	Signals  string
	Nodes    int  // N; 0 takes it from the signals
	Directed bool // links have a direction
}

// Observed is a graph and signals on it.
type Observed struct {
	Files Files
	Nodes int            // N
	Graph *graph.Graph   // that stays as it is; nil for trajectories
	Steps []*graph.Graph // of trajectories, one for each of their T steps
	Signals
}

// Signals are samples of what nodes observe.
type Signals struct {
	Shape   []int // as in the file
	Samples int
	Rows    mat.Dense // (samples·N)×F, or (samples·T·N)×F for trajectories
}

// Load reads a graph and signals on it, and checks that they fit:
//
//	graph without a time column   samples×N×F, or samples×N for F = 1
//	graph with T steps            samples×T×N×F, or T×N×F for one trajectory
//
// After the last edge of a file with a time column there may be steps without any.
func Load(f Files) (*Observed, error) {
	shape, values, err := floats(f.Signals)
	if err != nil {
		return nil, err
	}
	if len(shape) < 2 || len(shape) > 4 {
		return nil, fmt.Errorf("%s: signals of shape %v, want samples×nodes×features", f.Signals, shape)
	}
	if len(values) == 0 {
		return nil, fmt.Errorf("%s: signals of shape %v hold nothing", f.Signals, shape)
	}
	n := shape[1]
	if len(shape) == 4 {
		n = shape[2]
	}
	if f.Nodes != 0 && f.Nodes != n {
		return nil, fmt.Errorf("%s: signals of shape %v are on %d nodes, but the graph is said to have %d", f.Signals, shape, n, f.Nodes)
	}
	file, err := modelfile.LoadGraph(f.Graph, modelfile.GraphOptions{Nodes: n, Directed: f.Directed})
	if err != nil {
		return nil, err
	}
	if file.Steps != nil && len(shape) < 3 {
		return nil, fmt.Errorf("%s: signals of shape %v, want samples×steps×%d×features: %s has a time column", f.Signals, shape, n, f.Graph)
	}
	o := &Observed{Files: f, Nodes: n, Graph: file.Graph}
	if file.Steps != nil {
		if o.Steps, err = prolong(file.Steps, n, shape[len(shape)-3]); err != nil {
			return nil, fmt.Errorf("%s: %w", f.Graph, err)
		}
	}
	s, err := o.fit(shape, values)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Signals, err)
	}
	o.Signals = *s
	return o, nil
}

// More reads further signals on the same graph.
func (o *Observed) More(path string) (*Signals, error) {
	shape, values, err := floats(path)
	if err != nil {
		return nil, err
	}
	if len(shape) < 2 {
		return nil, fmt.Errorf("%s: signals of shape %v, want samples×nodes×features", path, shape)
	}
	s, err := o.fit(shape, values)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// Delayed says whether samples are trajectories on a graph that changes.
func (o *Observed) Delayed() bool { return o.Steps != nil }

// fit takes signals of the given shape on the graph of o.
func (o *Observed) fit(shape []int, values []float32) (*Signals, error) {
	steps, features, in := len(o.Steps), 1, o.Rows.Cols
	s := &Signals{Shape: shape, Samples: shape[0]}
	var ok bool
	switch {
	case o.Delayed() && len(shape) == 3: // one trajectory
		s.Samples, ok = 1, shape[0] == steps && shape[1] == o.Nodes
	case o.Delayed():
		ok = len(shape) == 4 && shape[1] == steps && shape[2] == o.Nodes
	default:
		ok = len(shape) <= 3 && shape[1] == o.Nodes
	}
	if len(shape) == 4 || len(shape) == 3 {
		features = shape[len(shape)-1]
	}
	switch {
	case !ok && o.Delayed():
		return nil, fmt.Errorf("signals of shape %v, want samples×%d×%d×features: the graph has a time column with %d steps and %d nodes",
			shape, steps, o.Nodes, steps, o.Nodes)
	case !ok:
		return nil, fmt.Errorf("signals of shape %v, want samples×%d×features: the graph has %d nodes and no time column",
			shape, o.Nodes, o.Nodes)
	case len(values) == 0:
		return nil, fmt.Errorf("signals of shape %v hold nothing", shape)
	case in != 0 && in != features:
		return nil, fmt.Errorf("signals of shape %v have %d features, those to train on %d", shape, features, in)
	}
	s.Rows = mat.NewDense(len(values)/features, features, values)
	return s, nil
}

// prolong adds steps without edges up to the given number.
func prolong(steps []*graph.Graph, nodes, length int) ([]*graph.Graph, error) {
	if most := max(length, len(steps)); nodes > math.MaxInt32/most {
		return nil, fmt.Errorf("%d steps of %d nodes are too many", most, nodes)
	}
	if len(steps) >= length {
		return steps, nil
	}
	none, err := graph.FromEdges(nodes, nil, steps[0].Directed())
	if err != nil {
		return nil, err
	}
	for len(steps) < length {
		steps = append(steps, none)
	}
	return steps, nil
}

// LoadSamples reads signals for a graph that is known already: samples×N×F, or
// samples×N for F = 1.
func LoadSamples(path string, nodes, features int) (*Signals, error) {
	shape, values, err := floats(path)
	if err != nil {
		return nil, err
	}
	size := nodes * features
	if len(shape) < 2 || len(shape) > 3 || shape[1] != nodes || len(values) == 0 || len(values)/shape[0] != size {
		return nil, fmt.Errorf("%s: signals of shape %v, want samples×%d×%d", path, shape, nodes, features)
	}
	return &Signals{Shape: shape, Samples: shape[0], Rows: mat.NewDense(shape[0]*nodes, features, values)}, nil
}

// floats reads an array of finite numbers.
func floats(path string) (shape []int, values []float32, err error) {
	a, err := modelfile.LoadArray(path)
	if err != nil {
		return nil, nil, err
	}
	values, err = a.Float32s()
	return a.Shape, values, err
}

// Index returns the index of element i, in C order, of an array of the given
// shape.
func Index(i int, shape []int) []int {
	index := make([]int, len(shape))
	for d := len(shape) - 1; d >= 0; d-- {
		index[d] = i % shape[d]
		i /= shape[d]
	}
	return index
}
