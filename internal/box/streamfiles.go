package box

import (
	"fmt"
	"slices"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/host"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/modelfile"
)

// newStream reads the arrays of a stream for the given nodes of this box.
func (c *Config) newStream(m *modelfile.Model, cost host.Cost, nodes []agent.NodeID, out *outbox) (*stream, error) {
	path := c.Abs(c.World.Signals)
	shape, values, err := loadFloats(path)
	if err != nil {
		return nil, fmt.Errorf("world: %w", err)
	}
	features := 1
	if len(shape) == 3 {
		features = shape[2]
	}
	if len(shape) != 2 && len(shape) != 3 || len(values) == 0 || features != m.Network.Config.In {
		return nil, fmt.Errorf("world: %s: signals of shape %v, want steps×nodes×%d, what the model reads", path, shape, m.Network.Config.In)
	}
	s := &stream{
		config: c, nodes: nodes, out: out, steps: shape[0], all: shape[1], signals: mat.NewDense(len(values)/features, features, values),
		lines: make(chan *host.Line, 4), halt: make(chan struct{}),
	}
	if last := slices.Max(nodes); int(last) >= s.all {
		return nil, fmt.Errorf("world: %s: signals of %d nodes, and host %d has node %d; nodes count from 0", path, s.all, c.Host, last)
	}
	if c.World.Targets != "" {
		if err := s.targets.load(c.Abs(c.World.Targets), m, cost, s.steps, s.all); err != nil {
			return nil, fmt.Errorf("world: %w", err)
		}
	}
	if err := s.loadGraphs(c.Abs(c.World.Graph), m.Meta.Delayed); err != nil {
		return nil, fmt.Errorf("world: %w", err)
	}
	return s, nil
}

// loadFloats reads an array.
func loadFloats(path string) ([]int, []float32, error) {
	a, err := modelfile.LoadArray(path)
	if err != nil {
		return nil, nil, err
	}
	values, err := a.Float32s()
	return a.Shape, values, err
}

// loadGraphs reads the graph, or the graphs by time. A graph holds until the
// next time that appears; a delayed model sees none where there is none.
func (s *stream) loadGraphs(path string, delayed bool) error {
	file, err := modelfile.LoadGraph(path, modelfile.GraphOptions{Nodes: s.all})
	if err != nil {
		return err
	}
	if file.Steps == nil {
		s.graphs = []*graph.Graph{file.Graph}
		return nil
	}
	none, err := graph.FromEdges(s.all, nil, false)
	if err != nil {
		return err
	}
	for t := range s.steps {
		switch {
		case t < len(file.Steps) && file.Steps[t].Edges() > 0:
			s.graphs = append(s.graphs, file.Steps[t])
		case delayed:
			s.graphs = append(s.graphs, none)
		case t == 0:
			return fmt.Errorf("%s: no links at time 0: the first graph must be that of step 0", path)
		default:
			s.graphs = append(s.graphs, s.graphs[t-1])
		}
	}
	return nil
}

// targets are what answers should have been. The zero value knows none.
type targets struct {
	values []float32
	cols   int         // C
	each   int         // rows per step; 0 means one for all nodes read
	row    map[int]int // of the nodes read, within a step
	class  bool        // the values are classes
}

// load reads targets for the nodes that the model is read at: T, one class for
// all of them, T×R for those or T×N for all nodes, and ×C.
func (g *targets) load(path string, m *modelfile.Model, cost host.Cost, steps, nodes int) error {
	a, err := modelfile.LoadArray(path)
	if err != nil {
		return err
	}
	if g.values, err = a.Float32sOrNaN(); err != nil {
		return err
	}
	read := m.Meta.Nodes
	if read == nil {
		for i := range nodes {
			read = append(read, i)
		}
	}
	g.class, g.cols, g.row = cost == host.CrossEntropy, 1, map[int]int{}
	shape := a.Shape
	if len(shape) == 3 {
		g.cols = shape[2]
	}
	if len(shape) > 1 {
		g.each = shape[1]
	}
	want := m.Network.Outputs()
	if g.class {
		want = 1
	}
	fits := len(shape) >= 1 && len(shape) <= 3 && shape[0] == steps && g.cols == want &&
		(len(shape) > 1 || g.class) && (len(shape) == 1 || g.each == nodes || g.each == len(read))
	if !fits {
		return fmt.Errorf("%s: targets of shape %v, want %d×%d for all nodes or %d×%d for those that the model is read at, and ×%d values", path, shape, steps, nodes, steps, len(read), want)
	}
	for k, i := range read {
		switch g.each {
		case 0:
			g.row[i] = 0
		case nodes:
			g.row[i] = i
		default:
			g.row[i] = k
		}
	}
	return nil
}

// of returns the target of a node at step t, nil if none is known.
func (g *targets) of(t, node int) []float32 {
	r, ok := g.row[node]
	if !ok {
		return nil
	}
	at := (t*max(g.each, 1) + r) * g.cols
	v := g.values[at : at+g.cols]
	if slices.ContainsFunc(v, func(x float32) bool { return x != x }) || g.class && v[0] < 0 {
		return nil
	}
	return v
}
