package online

import (
	"errors"
	"fmt"
	"slices"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/rule"
)

// network computes what does not learn: the shifted inputs z and the outputs
// y† of the model as trained offline.
type network struct {
	model  *gnn.WideDeep
	nodes  int
	read   []int   // nodes that have an output row
	rows   []int32 // read, as rows of a loss
	hop    bool
	engine *mat.Engine

	delayed *gnn.Delayed
	shifter gnn.Shifter
	shifted mat.Dense // Z, a row per node
	pruned  *gnn.Rows
	last    *mat.CSR // the shift that pruned is prepared for
	input   gnn.Input
	tape    gnn.Tape

	z, base mat.Dense // a row per node read
	outputs mat.Dense // of all nodes
	mixing  *mat.CSR  // W_t
	waiting bool      // a prediction was made and not yet costed
	target  []float32 // scratch
	scatter scatter
}

var errNoPrediction = errors.New("online: Update before Predict: there is no prediction to learn from")

func newNetwork(m *gnn.WideDeep, c Config) network {
	n := network{model: m, nodes: c.Nodes, read: slices.Clone(c.Read), engine: c.Engine, hop: c.HopByHop || len(c.Read) == 0 || c.Delayed}
	if len(n.read) == 0 {
		for i := range c.Nodes {
			n.read = append(n.read, i)
		}
	}
	for _, i := range n.read {
		n.rows = append(n.rows, int32(i))
	}
	n.shifter.Engine, n.tape.Engine = c.Engine, c.Engine
	if c.Delayed {
		n.delayed = &gnn.Delayed{Model: m, Engine: c.Engine}
	}
	return n
}

// check reports a sample that does not fit the network.
func (n *network) check(y mat.Dense, s graph.Sample) error {
	switch {
	case s.Shift == nil:
		return fmt.Errorf("online: step %d: no shift: what is the graph?", s.Time)
	case s.Shift.Rows != n.nodes || s.Shift.Cols != n.nodes:
		return fmt.Errorf("online: step %d: a graph of %d nodes, the network has %d; nodes that come and go keep their number, without links", s.Time, s.Shift.Rows, n.nodes)
	case s.Signal.Rows != n.nodes || s.Signal.Cols != n.model.Config.In:
		return fmt.Errorf("online: step %d: a signal of %d×%d, want %d nodes with %d features", s.Time, s.Signal.Rows, s.Signal.Cols, n.nodes, n.model.Config.In)
	case s.Mixing != nil && (s.Mixing.Rows != n.nodes || s.Mixing.Cols != n.nodes):
		return fmt.Errorf("online: step %d: a mixing matrix of %d×%d, the network has %d nodes", s.Time, s.Mixing.Rows, s.Mixing.Cols, n.nodes)
	}
	if y.Rows != n.nodes || y.Cols != n.model.Outputs() {
		panic(fmt.Sprintf("online: Predict: y is %d×%d, want %d×%d", y.Rows, y.Cols, n.nodes, n.model.Outputs()))
	}
	for i := range s.Signal.Rows {
		for f, v := range s.Signal.Row(i) {
			if v-v != 0 { // NaN or infinite
				return fmt.Errorf("online: step %d: the signal of node %d, feature %d, is %v", s.Time, i, f, v)
			}
		}
	}
	return nil
}

// observe computes z and y† of a sample.
func (n *network) observe(y mat.Dense, s graph.Sample) error {
	n.mixing, n.waiting = nil, false
	if err := n.check(y, s); err != nil {
		return err
	}
	m := n.model
	switch {
	case n.delayed != nil:
		n.outputs = n.outputs.Resize(n.nodes, m.Outputs())
		n.delayed.Predict(n.outputs, s.Shift, s.Signal)
		n.gather(n.delayed.Shifted())
	case n.hop:
		n.shift(s)
		n.outputs = n.outputs.Resize(n.nodes, m.Outputs())
		n.input = gnn.Input{Shift: s.Shift, Shifted: n.shifted}
		m.Forward(n.outputs, &n.input, &n.tape)
		n.gather(n.shifted)
	default:
		if err := n.prune(s.Shift); err != nil {
			return err
		}
		n.shift(s)
		n.z = n.z.Resize(len(n.read), n.shifted.Cols)
		n.pruned.Gather(n.z, n.shifted, 1)
		n.base = n.base.Resize(len(n.read), m.Outputs())
		n.input = gnn.Input{Shift: s.Shift, Shifted: n.shifted, Read: n.pruned, ReadShifted: n.z}
		m.Forward(n.base, &n.input, &n.tape)
	}
	for r := range n.base.Rows {
		for _, v := range n.base.Row(r) {
			if v-v != 0 { // NaN or infinite
				return fmt.Errorf("online: step %d: the model's output at node %d is %v: its parameters or the signal are too large", s.Time, n.read[r], v)
			}
		}
	}
	n.mixing, n.waiting = s.Mixing, true
	return nil
}

// shift computes [X SX … SᴷX].
func (n *network) shift(s graph.Sample) {
	n.shifted = n.shifted.Resize(n.nodes, (n.model.InputOrder()+1)*n.model.Config.In)
	n.shifter.Shift(n.shifted, s.Shift, s.Signal)
}

// prune prepares the pruned path for a shift. Shifts do not change once made,
// so one that was seen before needs no work.
func (n *network) prune(s *mat.CSR) error {
	if n.last == s {
		return nil
	}
	if n.pruned == nil {
		rows, err := gnn.NewRows(s, n.read, n.model.LastOrder())
		if err != nil {
			return err
		}
		n.pruned = rows
	} else {
		n.pruned.Reset(s, n.model.LastOrder())
	}
	n.last = s
	return nil
}

// gather copies the rows of the nodes that are read.
func (n *network) gather(z mat.Dense) {
	n.z, n.base = n.z.Resize(len(n.read), z.Cols), n.base.Resize(len(n.read), n.outputs.Cols)
	for r, i := range n.read {
		copy(n.z.Row(r), z.Row(i))
		copy(n.base.Row(r), n.outputs.Row(i))
	}
}

// advance ends a step.
func (n *network) advance() {
	if n.delayed != nil {
		n.delayed.Advance()
	}
	n.mixing, n.waiting = nil, false
}

// blank zeroes the rows of y that nobody reads.
func (n *network) blank(y mat.Dense) {
	if len(n.read) < n.nodes {
		y.Zero()
	}
}

// memory returns the delay lines, nil if there are none.
func (n *network) memory() [][]float32 {
	if n.delayed == nil {
		return nil
	}
	return n.delayed.Memory()
}

// recall puts them back.
func (n *network) recall(memory [][]float32) error {
	if n.delayed == nil && len(memory) > 0 {
		return errors.New("online: restore: delay lines for a model that does not delay")
	}
	for l, line := range memory {
		for _, v := range line {
			if v-v != 0 { // NaN or infinite
				return fmt.Errorf("online: restore: delay line %d holds %v", l, v)
			}
		}
	}
	if n.delayed != nil {
		if err := n.delayed.Recall(n.nodes, memory); err != nil {
			return fmt.Errorf("online: restore: %w", err)
		}
	}
	n.mixing, n.waiting = nil, false
	return nil
}

// accept reports whether an update with the cost j can begin, by a node that
// asks for what every node asks for.
func (n *network) accept(j loss.Loss, node *rule.Node) error {
	if !n.waiting {
		return errNoPrediction
	}
	if err := node.Check(j); err != nil {
		return err
	}
	var err error
	switch v := j.(type) {
	case interface{ Validate(outputs int) error }: // as loss.CrossEntropy has it
		err = v.Validate(n.model.Outputs())
	case interface{ Validate() error }: // as loss.MSE has it
		err = v.Validate()
	}
	if err != nil {
		return fmt.Errorf("online: the cost: %w", err)
	}
	if t, ok := j.(loss.Targeted); ok {
		if i, found := n.carriesElsewhere(t); found {
			return fmt.Errorf("online: node %d carries a cost but is not among the nodes that are read", i)
		}
	}
	return nil
}

// carriesElsewhere returns a node with a cost but no output, if there is one.
func (n *network) carriesElsewhere(j loss.Targeted) (node int, found bool) {
	if len(n.read) == n.nodes {
		return 0, false
	}
	if len(n.target) < j.TargetLen(n.model.Outputs()) {
		n.target = make([]float32, j.TargetLen(n.model.Outputs()))
	}
	next := 0
	for i := range n.nodes {
		if next < len(n.read) && n.read[next] == i {
			next++
		} else if j.TargetOf(i, n.target) {
			return i, true
		}
	}
	return 0, false
}

// reset forgets the past.
func (n *network) reset() {
	if n.delayed != nil {
		n.delayed.Reset()
	}
	n.waiting = false
}
