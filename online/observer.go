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

// Observer computes what does not learn, once per sample for all learners that
// are made on it: the shifted inputs z = [X SX … SᴷX] and the outputs y† of the
// model as trained offline.
//
//	z: R×(K+1)F   y†: R×C      a row per node that is read
//
// Observe opens a step, which lasts until the next Observe. In it any number of
// learners predict, and each may learn once. An observer is a learner itself,
// the one that does not learn: it predicts y†.
//
// The delay lines of a delayed model belong to the observer. They advance with
// the first Update of a step, whoever's it is, so once however many learners
// there are; a step in which nobody is told a cost ends with the observer's own
// Update. What was observed and not updated is forgotten by the next Observe,
// as if it had not been shown.
//
// An observer and the learners on it are not safe for concurrent use.
type Observer struct {
	model  *gnn.WideDeep
	moment *rule.SecondMoment
	nodes  int
	read   []int   // nodes that have an output row
	rows   []int32 // read, as rows of a loss
	hop    bool
	scores func(node int) [][]float64
	engine *mat.Engine

	delayed *gnn.Delayed
	shifter gnn.Shifter
	shifted mat.Dense // Z, a row per node
	pruned  *gnn.Rows
	last    *mat.CSR // the shift that pruned is prepared for
	input   gnn.Input
	tape    gnn.Tape

	step     uint64    // how many steps were opened
	open     bool      // the last of them can be predicted and learned from
	advanced bool      // the delay lines have moved on since
	ended    uint64    // the step of the observer's own last Update
	z, base  mat.Dense // a row per node read
	outputs  mat.Dense // of all nodes
	mixing   *mat.CSR  // W_t
	time     int       // t
	links    *mat.CSR  // S_t
	target   []float32 // scratch
}

var (
	errNoSample     = errors.New("online: Predict before Observe: there is no sample to predict from")
	errDelayedHeard = errors.New("online: retrain: heard is for graphs that keep their links or lose some; with delayed filters " +
		"they change at every step: try own")
	errAloneHeard = errors.New("online: retrain: heard gives every node weights of its own, which one set for all cannot hold; " +
		"try mode distributed, or own")
	errNothingNew = errors.New("online: Update without a new sample: there is nothing to learn from; Observe one before each Update")
)

// NewObserver returns an observer of m, which must not change while it is
// observed.
func NewObserver(m *gnn.WideDeep, c Config) (*Observer, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	o := &Observer{
		model: m, moment: c.Moment, nodes: c.Nodes, read: slices.Clone(c.Read), scores: c.Scores, engine: c.Engine,
		hop: c.HopByHop || len(c.Read) == 0 || c.Delayed,
	}
	if len(o.read) == 0 {
		for i := range c.Nodes {
			o.read = append(o.read, i)
		}
	}
	for _, i := range o.read {
		o.rows = append(o.rows, int32(i))
	}
	o.shifter.Engine, o.tape.Engine = c.Engine, c.Engine
	if c.Delayed {
		o.delayed = &gnn.Delayed{Model: m, Engine: c.Engine}
	}
	return o, nil
}

// began returns the scores that the sets or intervals of node i begin with.
func (o *Observer) began(i int) [][]float64 {
	if o.scores == nil {
		return nil
	}
	return o.scores(i)
}

// check reports a sample that does not fit.
func (o *Observer) check(s graph.Sample) error {
	switch {
	case s.Shift == nil:
		return fmt.Errorf("online: step %d: no shift: what is the graph?", s.Time)
	case s.Shift.Rows != o.nodes || s.Shift.Cols != o.nodes:
		return fmt.Errorf("online: step %d: a graph of %d nodes, the network has %d; nodes that come and go keep their number, without links",
			s.Time, s.Shift.Rows, o.nodes)
	case s.Signal.Rows != o.nodes || s.Signal.Cols != o.model.Config.In:
		return fmt.Errorf("online: step %d: a signal of %d×%d, want %d nodes with %d features",
			s.Time, s.Signal.Rows, s.Signal.Cols, o.nodes, o.model.Config.In)
	case s.Mixing != nil && (s.Mixing.Rows != o.nodes || s.Mixing.Cols != o.nodes):
		return fmt.Errorf("online: step %d: a mixing matrix of %d×%d, the network has %d nodes", s.Time, s.Mixing.Rows, s.Mixing.Cols, o.nodes)
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

// Observe opens a step: it computes z and y† of a sample. After an error no step
// is open.
func (o *Observer) Observe(s graph.Sample) error {
	o.mixing, o.links, o.open, o.advanced = nil, nil, false, false
	o.step++
	if err := o.check(s); err != nil {
		return err
	}
	m := o.model
	switch {
	case o.delayed != nil:
		o.outputs = o.outputs.Resize(o.nodes, m.Outputs())
		o.delayed.Predict(o.outputs, s.Shift, s.Signal)
		o.gather(o.delayed.Shifted())
	case o.hop:
		o.shift(s)
		o.outputs = o.outputs.Resize(o.nodes, m.Outputs())
		o.input = gnn.Input{Shift: s.Shift, Shifted: o.shifted}
		m.Forward(o.outputs, &o.input, &o.tape)
		o.gather(o.shifted)
	default:
		if err := o.prune(s.Shift); err != nil {
			return err
		}
		o.shift(s)
		o.z = o.z.Resize(len(o.read), o.shifted.Cols)
		o.pruned.Gather(o.z, o.shifted, 1)
		o.base = o.base.Resize(len(o.read), m.Outputs())
		o.input = gnn.Input{Shift: s.Shift, Shifted: o.shifted, Read: o.pruned, ReadShifted: o.z}
		m.Forward(o.base, &o.input, &o.tape)
	}
	for r := range o.base.Rows {
		for _, v := range o.base.Row(r) {
			if v-v != 0 { // NaN or infinite
				return fmt.Errorf("online: step %d: the model's output at node %d is %v: its parameters or the signal are too large",
					s.Time, o.read[r], v)
			}
		}
	}
	o.mixing, o.links, o.time, o.open = s.Mixing, s.Shift, s.Time, true
	return nil
}

// Predict writes y† of the open step to y, N×C, overwritten.
func (o *Observer) Predict(y mat.Dense) error {
	return o.each(y, func(_ int, yi, base, _ []float32) { copy(yi, base) })
}

// each lets predict write the row of every node that is read, the r-th of them
// given y† and z of it; rows that nobody reads are 0.
func (o *Observer) each(y mat.Dense, predict func(r int, yi, base, z []float32)) error {
	if y.Rows != o.nodes || y.Cols != o.model.Outputs() {
		panic(fmt.Sprintf("online: Predict: y is %d×%d, want %d×%d", y.Rows, y.Cols, o.nodes, o.model.Outputs()))
	}
	if !o.open {
		return errNoSample
	}
	if len(o.read) < o.nodes {
		y.Zero()
	}
	for r, i := range o.read {
		predict(r, y.Row(i), o.base.Row(r), o.z.Row(r))
	}
	return nil
}

// Update ends the step without learning from it. Beside learners that update it
// is not needed.
func (o *Observer) Update(loss.Loss) error {
	if !o.open || o.ended == o.step {
		return errNothingNew
	}
	o.ended = o.step
	o.advance()
	return nil
}

// Drift returns zeros.
func (o *Observer) Drift() Drift { return Drift{} }

// Snapshot implements [Learner].
func (o *Observer) Snapshot() Snapshot { return Snapshot{Delay: o.memory()} }

// Restore implements [Learner].
func (o *Observer) Restore(s Snapshot) error {
	if len(s.Nodes) != 0 {
		return fmt.Errorf("online: restore: parameters of %d nodes for a model that does not learn", len(s.Nodes))
	}
	if err := o.recall(s.Delay); err != nil {
		return err
	}
	o.ended = o.step
	return nil
}

// shift computes [X SX … SᴷX].
func (o *Observer) shift(s graph.Sample) {
	o.shifted = o.shifted.Resize(o.nodes, (o.model.InputOrder()+1)*o.model.Config.In)
	o.shifter.Shift(o.shifted, s.Shift, s.Signal)
}

// prune prepares the pruned path for a shift. Shifts do not change once made,
// so one that was seen before needs no work.
func (o *Observer) prune(s *mat.CSR) error {
	if o.last == s {
		return nil
	}
	if o.pruned == nil {
		rows, err := gnn.NewRows(s, o.read, o.model.LastOrder())
		if err != nil {
			return err
		}
		o.pruned = rows
	} else {
		o.pruned.Reset(s, o.model.LastOrder())
	}
	o.last = s
	return nil
}

// gather copies the rows of the nodes that are read.
func (o *Observer) gather(z mat.Dense) {
	o.z, o.base = o.z.Resize(len(o.read), z.Cols), o.base.Resize(len(o.read), o.outputs.Cols)
	if len(o.read) == z.Rows { // all of them
		o.z.CopyFrom(z)
		o.base.CopyFrom(o.outputs)
		return
	}
	for r, i := range o.read {
		copy(o.z.Row(r), z.Row(i))
		copy(o.base.Row(r), o.outputs.Row(i))
	}
}

// advance moves the delay lines on, once a step.
func (o *Observer) advance() {
	if o.delayed != nil && !o.advanced {
		o.delayed.Advance()
	}
	o.advanced = true
}

// memory returns the delay lines, nil if there are none.
func (o *Observer) memory() [][]float32 {
	if o.delayed == nil {
		return nil
	}
	return o.delayed.Memory()
}

// recall puts them back. The open step, which was computed with others, is then
// over.
func (o *Observer) recall(memory [][]float32) error {
	if o.delayed == nil && len(memory) > 0 {
		return errors.New("online: restore: delay lines for a model that does not delay")
	}
	for l, line := range memory {
		for _, v := range line {
			if v-v != 0 { // NaN or infinite
				return fmt.Errorf("online: restore: delay line %d holds %v", l, v)
			}
		}
	}
	if o.delayed != nil {
		if err := o.delayed.Recall(o.nodes, memory); err != nil {
			return fmt.Errorf("online: restore: %w", err)
		}
		o.open = false
	}
	return nil
}

// accept reports whether an update with the cost j can begin, by a learner that
// has learned from the given step and whose nodes all ask for what node does.
func (o *Observer) accept(j loss.Loss, learned uint64, node *rule.Node) error {
	if !o.open || learned == o.step {
		return errNothingNew
	}
	if err := usable(j, o.model.Outputs(), node); err != nil {
		return err
	}
	if t, ok := j.(loss.Targeted); ok {
		if i, found := o.carriesElsewhere(t); found {
			return fmt.Errorf("online: node %d carries a cost but is not among the nodes that are read", i)
		}
	}
	return nil
}

// usable reports whether node can learn from j, a cost of rows of outputs.
func usable(j loss.Loss, outputs int, node *rule.Node) error {
	if err := node.Check(j); err != nil {
		return err
	}
	var err error
	switch v := j.(type) {
	case interface{ Validate(outputs int) error }: // as loss.CrossEntropy has it
		err = v.Validate(outputs)
	case interface{ Validate() error }: // as loss.MSE has it
		err = v.Validate()
	}
	if err != nil {
		return fmt.Errorf("online: the cost: %w", err)
	}
	return nil
}

// carriesElsewhere returns a node with a cost but no output, if there is one.
func (o *Observer) carriesElsewhere(j loss.Targeted) (node int, found bool) {
	if len(o.read) == o.nodes {
		return 0, false
	}
	if len(o.target) < j.TargetLen(o.model.Outputs()) {
		o.target = make([]float32, j.TargetLen(o.model.Outputs()))
	}
	next := 0
	for i := range o.nodes {
		if next < len(o.read) && o.read[next] == i {
			next++
		} else if j.TargetOf(i, o.target) {
			return i, true
		}
	}
	return 0, false
}

// reset forgets the past.
func (o *Observer) reset() {
	if o.delayed != nil {
		o.delayed.Reset()
		o.open = false
	}
}
