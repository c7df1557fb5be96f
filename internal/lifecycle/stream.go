package lifecycle

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/config"
	"github.com/wdgnn/wdgnn/internal/data"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/modelfile"
)

// Stream is a stream of files as a world to learn in, and what its answers cost.
// It is an online.World, and not safe for concurrent use.
type Stream struct {
	*data.Stream
	Task config.Task

	criterion loss.Regression // nil for a classification
	shift     graph.Shift
	mixing    graph.Mixing
	mixes     bool // W is needed
	matrices  map[*graph.Graph]*matrices
	byContent map[string]*matrices

	sensors *readings // of a forecast model: what signals are made of as the stream goes on; nil for others

	next   int          // step that Samples begins with
	row    int          // step that is being played
	now    graph.Sample // and what is met there
	failed error        // why Samples ended early

	cost costs // of the step
	late costs // of the step whose targets are told at this one
}

// costs are what the answers of a step cost.
type costs struct {
	crossEntropy loss.CrossEntropy
	regression   loss.Regression
	target       mat.Dense // its targets
	mask         []bool    // and its mask
	known        bool
}

// matrices are what is made of one graph.
type matrices struct{ shift, mixing *mat.CSR }

// loadStream reads the stream of a configuration for a model that is read at
// its own nodes, unless the configuration names others.
func loadStream(c *config.Config, m *modelfile.Model) (*Stream, error) {
	s := &Stream{
		Task: config.Task(m.Meta.Task), shift: m.Meta.Shift,
		matrices: map[*graph.Graph]*matrices{}, byContent: map[string]*matrices{},
	}
	named, outputs := &c.Online.Stream, m.Network.Outputs()
	switch s.Task {
	case config.Classify:
		if named.Mask != "" {
			return nil, errors.New("online.stream.mask is for regress, and the model classifies; the label -1 means that none is known")
		}
	case config.Regress:
		s.criterion = c.StreamCriterion()
	default:
		return nil, fmt.Errorf("the task of the model is %q; online learning needs classify or regress to know what targets mean", m.Meta.Task)
	}
	graphs, directed := c.StreamGraph()
	files := data.StreamFiles{
		Graph: c.Abs(graphs), Directed: directed, Delayed: m.Meta.Delayed,
		Signals: c.Abs(named.Signals), Features: m.Network.Config.In,
		TargetFiles: data.TargetFiles{
			Targets: c.Abs(named.Targets), Mask: pathOf(c, named.Mask), Read: named.Read, Outputs: outputs,
			Classify: s.Task == config.Classify, Loss: s.criterion,
		},
	}
	if files.Read == nil {
		files.Read = m.Meta.Nodes
	}
	if c.Data != nil {
		files.Nodes = c.Data.Nodes
	}
	var err error
	if s.Stream, err = data.LoadStream(files); err != nil {
		return nil, err
	}
	s.cost, s.late = s.newCosts(outputs), s.newCosts(outputs)
	return s, nil
}

// newCosts makes room for what the answers of a step cost.
func (s *Stream) newCosts(outputs int) (c costs) {
	n := s.Nodes
	if s.Task == config.Classify {
		c.crossEntropy.Labels = slices.Repeat([]int32{loss.NoLabel}, n)
		return c
	}
	c.target, c.mask = mat.NewDense(n, outputs, nil), make([]bool, n)
	c.regression = s.criterion.With(c.target, c.mask)
	return c
}

// Samples yields the steps that are left. Where a graph has no shift or mixing
// matrix it ends, and Err says why.
func (s *Stream) Samples() iter.Seq[graph.Sample] {
	return func(yield func(graph.Sample) bool) {
		for t := s.next; t < s.Steps; t++ {
			m, err := s.of(s.Graph(t))
			if err != nil {
				s.failed = fmt.Errorf("step %d: %w", t, err)
				return
			}
			s.row, s.now = t, graph.Sample{Time: t, Shift: m.shift, Mixing: m.mixing}
			if s.sensors != nil {
				s.now.Time, s.now.Signal = int(s.sensors.step(t)), s.sensors.read(t)
			} else {
				s.now.Signal = s.Signals.View(t*s.Nodes, 0, s.Nodes, s.Signals.Cols)
			}
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
func (s *Stream) Reveal(mat.Dense) loss.Loss { return s.reveal(s.row, &s.cost) }

// Known says whether the targets of the current step are, one at least.
func (s *Stream) Known() bool { return s.cost.known }

// Late returns what the answers of delay steps before the current one cost, nothing
// if there was no such step.
func (s *Stream) Late(delay int) loss.Loss { return s.reveal(s.row-delay, &s.late) }

// reveal writes what the answers of step t cost to c.
func (s *Stream) reveal(t int, c *costs) loss.Loss {
	r := len(s.Read)
	c.known = false
	if s.Task == config.Classify {
		for k, i := range s.Read {
			label := loss.NoLabel
			if t >= 0 {
				label = s.Labels[t*r+k]
			}
			c.crossEntropy.Labels[i] = label
			c.known = c.known || label != loss.NoLabel
		}
		return &c.crossEntropy
	}
	if s.sensors != nil {
		for i := range c.mask {
			c.mask[i] = s.sensors.target(c.target.Row(i), t, i)
			c.known = c.known || c.mask[i]
		}
		return c.regression
	}
	for k, i := range s.Read {
		known := t >= 0 && s.Mask[t*r+k]
		c.mask[i] = known
		c.known = c.known || known
		if known {
			copy(c.target.Row(i), s.Values.Row(t*r+k))
		}
	}
	return c.regression
}

// sorted returns the nodes read in ascending order, nil if they are all.
func (s *Stream) sorted() []int {
	if len(s.Read) == s.Nodes {
		return nil
	}
	return slices.Sorted(slices.Values(s.Read))
}

// digest identifies the stream: a run that is resumed must find the same.
func (s *Stream) digest() string {
	sum := sha256.New()
	h := bufio.NewWriter(sum) // a hash takes everything: no errors
	var last *graph.Graph
	for t, g := range s.Graphs {
		if g != last {
			putInts(h, []int32{int32(t)})
			putCSR(h, g.Adjacency())
			last = g
		}
	}
	arrays := []mat.Dense{s.Signals, s.Values}
	if s.sensors != nil {
		arrays = []mat.Dense{s.sensors.series.Values}
		putFloats(h, s.sensors.told)
	}
	for _, m := range arrays {
		for i := range m.Rows {
			putFloats(h, m.Row(i))
		}
	}
	putInts(h, s.Labels)
	putBools(h, s.Mask)
	for _, i := range s.Read {
		putInts(h, []int32{int32(i)})
	}
	h.Flush()
	return hex.EncodeToString(sum.Sum(nil)[:8])
}
