package experiment

import (
	"fmt"
	"math"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/config"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/modelfile"
)

// loadFiles reads the data section of a configuration.
func loadFiles(c *config.Config) (*Dataset, error) {
	d := c.Data
	first, err := LoadObservations(Observations{
		Graph: c.Abs(d.Graph), Signals: c.Abs(d.Signals), Nodes: d.Nodes, Directed: d.Directed, Shift: d.Shift,
	})
	if err != nil {
		return nil, err
	}
	set := first.dataset
	set.Task, set.Read = d.Task, d.Read
	set.criterion, _ = d.Criterion()
	for _, i := range d.Read {
		if i >= set.Nodes {
			return nil, fmt.Errorf("data.read names node %d of a graph of %d nodes, which count from 0", i, set.Nodes)
		}
	}
	l := &loader{c: c, set: set, classes: d.Classes}
	whole, err := l.targets(first, config.Files{Targets: d.Targets, Mask: d.Mask})
	if err != nil {
		return nil, err
	}
	if err := l.divide(whole); err != nil {
		return nil, err
	}
	if d.Task == config.Classify {
		if set.Outputs = d.Classes; set.Outputs == 0 {
			set.Outputs = int(l.largest) + 1
		}
		if set.Outputs < 2 {
			return nil, fmt.Errorf("%s: there is one class only, nothing to tell apart", c.Abs(d.Targets))
		}
	}
	return set, nil
}

// Observations names the files that hold what nodes observe.
type Observations struct {
	Graph, Signals string
	Nodes          int // N; 0 takes it from the signals
	Directed       bool
	Shift          graph.Shift
}

// Observed is what the files hold.
type Observed struct {
	Shape   []int // of the signals, as in the file
	dataset *Dataset
	part    *Part
}

// LoadObservations reads a graph and signals on it, and checks that they fit.
func LoadObservations(o Observations) (*Observed, error) {
	shape, values, err := loadFloats(o.Signals)
	if err != nil {
		return nil, err
	}
	if len(shape) < 2 || len(shape) > 4 {
		return nil, fmt.Errorf("%s: signals of shape %v, want samples×nodes×features", o.Signals, shape)
	}
	if len(values) == 0 {
		return nil, fmt.Errorf("%s: signals of shape %v hold nothing", o.Signals, shape)
	}
	n := shape[1]
	if len(shape) == 4 {
		n = shape[2]
	}
	if o.Nodes != 0 && o.Nodes != n {
		return nil, fmt.Errorf("%s: signals of shape %v are on %d nodes, but the graph is said to have %d", o.Signals, shape, n, o.Nodes)
	}
	file, err := modelfile.LoadGraph(o.Graph, modelfile.GraphOptions{Nodes: n, Directed: o.Directed})
	if err != nil {
		return nil, err
	}
	if file.Steps != nil && len(shape) < 3 {
		return nil, fmt.Errorf("%s: signals of shape %v, want samples×steps×%d×features: %s has a time column", o.Signals, shape, n, o.Graph)
	}
	set := &Dataset{Shift: o.Shift, Nodes: n}
	if file.Steps == nil {
		set.graph, set.Edges = file.Graph, file.Graph.Edges()
	} else if err := set.unroll(file.Steps, shape[len(shape)-3:][0]); err != nil {
		return nil, fmt.Errorf("%s: %w", o.Graph, err)
	}
	if set.Edges == 0 {
		return nil, fmt.Errorf("%s: a graph without edges", o.Graph)
	}
	part, err := set.fit(shape, values)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.Signals, err)
	}
	return &Observed{shape, set, part}, nil
}

// fit takes signals of the given shape on the graph of d.
func (d *Dataset) fit(shape []int, values []float32) (*Part, error) {
	samples, features, ok := shape[0], 1, true
	switch {
	case d.Delayed() && len(shape) == 3:
		samples, features, ok = 1, shape[2], shape[0] == d.Steps && shape[1] == d.Nodes
	case d.Delayed():
		ok = len(shape) == 4 && shape[1] == d.Steps && shape[2] == d.Nodes
	default:
		ok = len(shape) <= 3 && shape[1] == d.Nodes
	}
	if len(shape) == 4 || len(shape) == 3 {
		features = shape[len(shape)-1]
	}
	switch {
	case !ok && d.Delayed():
		return nil, fmt.Errorf("signals of shape %v, want samples×%d×%d×features: the graph has a time column with %d steps and %d nodes",
			shape, d.Steps, d.Nodes, d.Steps, d.Nodes)
	case !ok:
		return nil, fmt.Errorf("signals of shape %v, want samples×%d×features: the graph has %d nodes and no time column", shape, d.Nodes, d.Nodes)
	case len(values) == 0:
		return nil, fmt.Errorf("signals of shape %v hold nothing", shape)
	case d.In != 0 && d.In != features:
		return nil, fmt.Errorf("signals of shape %v have %d features, those to train on %d", shape, features, d.In)
	}
	d.In = features
	return &Part{Samples: samples, signals: mat.NewDense(len(values)/features, features, values)}, nil
}

// unroll makes the shift of trajectories with the given number of steps. After
// the last edge of the file there may be steps without any.
func (d *Dataset) unroll(steps []*graph.Graph, length int) error {
	if d.Nodes > math.MaxInt32/max(length, len(steps)) {
		return fmt.Errorf("%d steps of %d nodes are too many", max(length, len(steps)), d.Nodes)
	}
	for len(steps) < length {
		none, err := graph.FromEdges(d.Nodes, nil, steps[0].Directed())
		if err != nil {
			return err
		}
		steps = append(steps, none)
	}
	shifts := make([]*mat.CSR, len(steps))
	for t, g := range steps {
		s, err := d.Shift.Of(g)
		if err != nil {
			return fmt.Errorf("step %d: %w", t, err)
		}
		shifts[t] = s
		d.Edges += g.Edges()
	}
	d.Steps, d.spaceTime = len(steps), graph.SpaceTime(shifts)
	return nil
}

func loadFloats(path string) (shape []int, values []float32, err error) {
	a, err := modelfile.LoadArray(path)
	if err != nil {
		return nil, nil, err
	}
	values, err = a.Float32s()
	return a.Shape, values, err
}
