package experiment

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
	"slices"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/config"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/train"
)

// Stream is what a network meets step by step, from files: signals, the graph
// of each step, and what the answers should have been. It is an online.World,
// and not safe for concurrent use.
type Stream struct {
	Task   config.Task
	Steps  int   // T
	Nodes  int   // N
	Read   []int // nodes whose outputs are read, as the user lists them
	Graphs int   // graphs that follow each other

	signals   mat.Dense // (T·N)×F
	labels    []int32   // T·R, for classify
	values    mat.Dense // (T·R)×C, for regress
	mask      []bool    // T·R
	criterion train.Criterion

	graphs    []*graph.Graph // of each step, or one for all
	shift     graph.Shift
	mixing    graph.Mixing
	mixes     bool // W is needed
	matrices  map[*graph.Graph]*matrices
	byContent map[string]*matrices

	next   int          // step that Samples begins with
	now    graph.Sample // step that is being played
	failed error        // why Samples ended early

	cost struct { // of the step
		crossEntropy loss.CrossEntropy
		mse          loss.MSE
		smoothL1     loss.SmoothL1
		hinge        loss.Hinge
		known        bool
	}
}

// matrices are what is made of one graph.
type matrices struct{ shift, mixing *mat.CSR }

// LoadStream reads the stream of a configuration for a model that is read at
// its own nodes, unless the configuration names others.
func LoadStream(c *config.Config, m *modelfile.Model) (*Stream, error) {
	files := &c.Online.Stream
	path := c.Abs(files.Signals)
	shape, values, err := loadFloats(path)
	if err != nil {
		return nil, err
	}
	if len(shape) != 2 && len(shape) != 3 || len(values) == 0 {
		return nil, fmt.Errorf("%s: signals of shape %v, want steps×nodes×features", path, shape)
	}
	features := 1
	if len(shape) == 3 {
		features = shape[2]
	}
	if in := m.Network.Config.In; features != in {
		return nil, fmt.Errorf("%s: signals of shape %v have %d features, the model reads %d", path, shape, features, in)
	}
	s := &Stream{
		Task: config.Task(m.Meta.Task), Steps: shape[0], Nodes: shape[1], Read: files.Read,
		signals: mat.NewDense(len(values)/features, features, values), shift: m.Meta.Shift,
		matrices: map[*graph.Graph]*matrices{}, byContent: map[string]*matrices{},
	}
	if s.Read == nil {
		s.Read = m.Meta.Nodes
	}
	if s.Read == nil {
		for i := range s.Nodes {
			s.Read = append(s.Read, i)
		}
	}
	if c.Data != nil && c.Data.Nodes != 0 && c.Data.Nodes != s.Nodes {
		return nil, fmt.Errorf("%s: signals of shape %v are on %d nodes, data.nodes says %d; nodes that come and go keep their number, without links",
			path, shape, s.Nodes, c.Data.Nodes)
	}
	for _, i := range s.Read {
		if i >= s.Nodes {
			return nil, fmt.Errorf("%s: signals of shape %v are on %d nodes, and node %d is to be read; nodes count from 0", path, shape, s.Nodes, i)
		}
	}
	if err := s.loadTargets(c, m, shape); err != nil {
		return nil, err
	}
	return s, s.loadGraphs(c, m.Meta.Delayed)
}

// loadTargets reads what the answers should have been.
func (s *Stream) loadTargets(c *config.Config, m *modelfile.Model, shape []int) error {
	files, outputs := &c.Online.Stream, m.Network.Outputs()
	switch s.Task {
	case config.Classify:
		if files.Mask != "" {
			return fmt.Errorf("online.stream.mask is for regress, and the model classifies; the label -1 means that none is known")
		}
	case config.Regress:
		s.criterion = c.StreamCriterion()
	default:
		return fmt.Errorf("the task of the model is %q; online learning needs classify or regress to know what targets mean", m.Meta.Task)
	}
	set := &Dataset{Task: s.Task, Nodes: s.Nodes, Read: s.Read, Outputs: outputs}
	l := &loader{c: c, set: set, classes: outputs, gaps: true}
	p, err := l.targets(&Observed{Shape: shape, part: &Part{Samples: s.Steps}}, config.Files{Targets: files.Targets, Mask: files.Mask})
	if err != nil {
		return err
	}
	s.labels, s.values, s.mask = p.labels, p.values, p.mask
	n := s.Nodes
	if s.Task == config.Classify {
		s.cost.crossEntropy.Labels = make([]int32, n)
		for i := range n {
			s.cost.crossEntropy.Labels[i] = loss.NoLabel
		}
		return nil
	}
	target, mask := mat.NewDense(n, outputs, nil), make([]bool, n)
	s.cost.mse = loss.MSE{Target: target, Mask: mask}
	s.cost.smoothL1 = loss.SmoothL1{Target: target, Mask: mask}
	s.cost.hinge = loss.Hinge{Target: target, Mask: mask}
	if _, err := train.NewTargets(s.criterion, s.values, s.mask); err != nil {
		return fmt.Errorf("%s: %w", c.Abs(files.Targets), err)
	}
	return nil
}

// loadGraphs reads the graph, or the graphs by time.
func (s *Stream) loadGraphs(c *config.Config, delayed bool) error {
	name, directed := c.StreamGraph()
	path := c.Abs(name)
	file, err := modelfile.LoadGraph(path, modelfile.GraphOptions{Nodes: s.Nodes, Directed: directed})
	if err != nil {
		return err
	}
	if file.Steps == nil {
		s.graphs, s.Graphs = []*graph.Graph{file.Graph}, 1
		return nil
	}
	if len(file.Steps) > s.Steps {
		return fmt.Errorf("%s: it has links at time %d, but the stream ends with step %d", path, len(file.Steps)-1, s.Steps-1)
	}
	if file.Steps[0].Edges() == 0 && !delayed {
		return fmt.Errorf("%s: no links at time 0: the first graph must be that of step 0", path)
	}
	var none *graph.Graph
	for t := range s.Steps {
		g := none
		if t < len(file.Steps) {
			g = file.Steps[t]
		}
		switch {
		case g != nil && g.Edges() > 0:
			s.Graphs++
		case !delayed: // it holds until the next time that appears
			g = s.graphs[t-1]
		case none == nil:
			if none, err = graph.FromEdges(s.Nodes, nil, directed); err != nil {
				return err
			}
			g = none
		default:
			g = none
		}
		s.graphs = append(s.graphs, g)
	}
	return nil
}

// Samples yields the steps that are left. Where a graph has no shift or mixing
// matrix it ends, and Err says why.
func (s *Stream) Samples() iter.Seq[graph.Sample] {
	return func(yield func(graph.Sample) bool) {
		for t := s.next; t < s.Steps; t++ {
			g := s.graphs[min(t, len(s.graphs)-1)]
			m, err := s.of(g)
			if err != nil {
				s.failed = fmt.Errorf("step %d: %w", t, err)
				return
			}
			s.now = graph.Sample{Time: t, Shift: m.shift, Mixing: m.mixing, Signal: s.signals.View(t*s.Nodes, 0, s.Nodes, s.signals.Cols)}
			if !yield(s.now) {
				return
			}
		}
	}
}

// Err says why Samples ended before the last step, nil if it did not.
func (s *Stream) Err() error { return s.failed }

// of returns the matrices of a graph. They are computed once for each graph,
// also if it comes back.
func (s *Stream) of(g *graph.Graph) (*matrices, error) {
	if m := s.matrices[g]; m != nil {
		return m, nil
	}
	key := contentOf(g)
	m := s.byContent[key]
	if m == nil {
		var err error
		m = new(matrices)
		if m.shift, err = s.shift.Of(g); err != nil {
			return nil, err
		}
		if s.mixes {
			if m.mixing, err = s.mixing.Of(g); err != nil {
				return nil, err
			}
		}
		s.byContent[key] = m
	}
	s.matrices[g] = m
	return m, nil
}

// contentOf identifies the links of a graph.
func contentOf(g *graph.Graph) string {
	sum := sha256.New()
	h := bufio.NewWriter(sum)
	putCSR(h, g.Adjacency())
	h.Flush()
	return string(sum.Sum(nil))
}

// Reveal returns what the answers of the current step cost. A node whose target
// is not known costs nothing.
func (s *Stream) Reveal(mat.Dense) loss.Loss {
	t, r := s.now.Time, len(s.Read)
	s.cost.known = false
	if s.Task == config.Classify {
		for k, i := range s.Read {
			label := s.labels[t*r+k]
			s.cost.crossEntropy.Labels[i] = label
			s.cost.known = s.cost.known || label != loss.NoLabel
		}
		return &s.cost.crossEntropy
	}
	for k, i := range s.Read {
		known := s.mask[t*r+k]
		s.cost.mse.Mask[i] = known
		s.cost.known = s.cost.known || known
		if known {
			copy(s.cost.mse.Target.Row(i), s.values.Row(t*r+k))
		}
	}
	switch s.criterion {
	case train.SmoothL1:
		return &s.cost.smoothL1
	case train.Hinge:
		return &s.cost.hinge
	}
	return &s.cost.mse
}

// sorted returns the nodes read in ascending order, nil if they are all.
func (s *Stream) sorted() []int {
	if len(s.Read) == s.Nodes {
		return nil
	}
	return slices.Sorted(slices.Values(s.Read))
}

// Digest identifies the stream: a run that is resumed must find the same.
func (s *Stream) Digest() string {
	sum := sha256.New()
	h := bufio.NewWriter(sum) // a hash takes everything: no errors
	var last *graph.Graph
	for t, g := range s.graphs {
		if g != last {
			putInts(h, []int32{int32(t)})
			putCSR(h, g.Adjacency())
			last = g
		}
	}
	for _, m := range []mat.Dense{s.signals, s.values} {
		for i := range m.Rows {
			putFloats(h, m.Row(i))
		}
	}
	putInts(h, s.labels)
	putBools(h, s.mask)
	for _, i := range s.Read {
		putInts(h, []int32{int32(i)})
	}
	h.Flush()
	return hex.EncodeToString(sum.Sum(nil)[:8])
}
