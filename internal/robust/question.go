package robust

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/mat"
)

// Question is a model with what it is asked: signals on a graph, and the nodes that
// answer. It is read-only; any number of goroutines may use it.
type Question struct {
	Network  *gnn.WideDeep
	Operator graph.Shift    // that S is made with
	Graphs   []*graph.Graph // one, or that of every step if Delayed
	Delayed  bool           // filters are delayed, eq. (24)

	// Signals are samples one below the other, (samples·N)×F, or trajectories,
	// (samples·T·N)×F.
	Signals mat.Dense
	Samples int
	Numbers []int // of samples, where they are some of more; nil means 0, 1, …

	Read     []int     // nodes that answer; nil means all
	Classify bool      // an answer is the class of the largest output; otherwise its outputs are values
	Scale    []float64 // by node: what an output of 1 is in the user's units; nil means 1
	Unit     string    // of these; empty if it has no name
	Names    []string  // of nodes, for people; nil means their numbers
	Within   float64   // of values: how far an answer may move and still hold, in these units; 0 asks how far only
	Own      Own       // nil if all nodes answer with the taps of Network

	// InputScale says by node and feature, N·F values, what 1 of an input is in the
	// user's units, 0 where it is nothing that a sensor reads; nil means 1.
	InputScale []float64
}

// Own are taps, or weights of neighbours, that nodes have of their own. Several
// goroutines may use it.
type Own interface {
	// Correct changes y, what a node answers with the taps of the network, to what
	// it answers with its own. Its row of S hears the rows links; shifted(j, k)
	// is row j of Z_k. It keeps none of them.
	Correct(y []float32, node, row int, links []int32, shifted func(j, k int) []float32)
}

// Validate reports what does not fit together.
func (q *Question) Validate() error {
	if q.Network == nil || len(q.Graphs) == 0 || !q.Delayed && len(q.Graphs) > 1 {
		return errors.New("robust: a question has a model, and one graph or that of every step")
	}
	n := q.Nodes()
	if n == 0 || q.Samples < 1 || q.Signals.Rows != q.Samples*q.rows() || q.Signals.Cols != q.Network.Config.In {
		return fmt.Errorf("robust: signals of %d×%d are not %d samples of %d rows of %d features",
			q.Signals.Rows, q.Signals.Cols, q.Samples, q.rows(), q.Network.Config.In)
	}
	for t, g := range q.Graphs {
		if g.Nodes() != n || g.Directed() != q.Graphs[0].Directed() {
			return fmt.Errorf("robust: the graph of step %d is a %v, the first a %v", t, g, q.Graphs[0])
		}
	}
	if g := q.Graphs[0]; q.Operator == graph.ShiftSpectral && g.Directed() && g.Edges() > 0 && graph.LargestEigenvalue(g.Adjacency()) == 0 {
		return errors.New("links of the graph lead round in no circle, so that its largest eigenvalue is 0, " +
			"and with shift: spectral no node hears another: nothing can be lost")
	}
	for _, i := range q.Read {
		if i < 0 || i >= n {
			return fmt.Errorf("robust: no node %d in a graph of %d nodes, which count from 0", i, n)
		}
	}
	if q.Scale != nil && len(q.Scale) != n || q.InputScale != nil && len(q.InputScale) != n*q.Network.Config.In {
		return fmt.Errorf("robust: %d scales of outputs and %d of inputs for %d nodes with %d features",
			len(q.Scale), len(q.InputScale), n, q.Network.Config.In)
	}
	if q.Classify && q.Network.Outputs() < 2 {
		return errors.New("robust: one output tells no classes apart")
	}
	return nil
}

// Some returns the question with at most so many samples, evenly spread over those of
// q, and q itself if it has no more.
func (q *Question) Some(most int) *Question {
	if most < 1 || q.Samples <= most {
		return q
	}
	some, rows := *q, q.rows()
	some.Samples, some.Numbers = most, make([]int, most)
	some.Signals = mat.NewDense(most*rows, q.Signals.Cols, nil)
	for k := range most {
		at := k * q.Samples / most
		some.Numbers[k] = q.number(at)
		some.Signals.View(k*rows, 0, rows, q.Signals.Cols).CopyFrom(q.Signals.View(at*rows, 0, rows, q.Signals.Cols))
	}
	return &some
}

// Name returns what people call a node.
func (q *Question) Name(node int) string {
	if node >= len(q.Names) {
		return strconv.Itoa(node)
	}
	return q.Names[node]
}

// number returns that of sample s.
func (q *Question) number(s int) int {
	if q.Numbers == nil {
		return s
	}
	return q.Numbers[s]
}

// Nodes returns how many nodes the graph has.
func (q *Question) Nodes() int { return q.Graphs[0].Nodes() }

// Steps returns T, 1 unless filters are delayed.
func (q *Question) Steps() int {
	if q.Delayed {
		return len(q.Graphs)
	}
	return 1
}

// rows returns N, the rows of the shift.
func (q *Question) rows() int { return q.Nodes() * q.Steps() }

// Readers returns the rows of the shift that answer, step by step: R of them.
func (q *Question) Readers() []int32 {
	n := q.Nodes()
	var rows []int32
	for t := range q.Steps() {
		if q.Read == nil {
			for i := range n {
				rows = append(rows, int32(t*n+i))
			}
		}
		for _, i := range q.Read {
			rows = append(rows, int32(t*n+i))
		}
	}
	return rows
}

// Shift returns S of graphs on the nodes of q: that of the one graph, or the
// space-time shift of the graphs of all steps, on which delayed filters are ordinary
// ones.
func (q *Question) Shift(graphs []*graph.Graph) (*mat.CSR, error) {
	if !q.Delayed {
		return q.Operator.Of(graphs[0])
	}
	shifts := make([]*mat.CSR, len(graphs))
	for t, g := range graphs {
		var err error
		if shifts[t], err = q.Operator.Of(g); err != nil {
			return nil, fmt.Errorf("step %d: %w", t, err)
		}
	}
	return graph.SpaceTime(shifts), nil
}

// scale returns what an output of 1 of a node is in the user's units.
func (q *Question) scale(node int) float64 {
	if q.Scale == nil {
		return 1
	}
	return q.Scale[node]
}

// Answer is one answer on the graph as it is.
type Answer struct {
	Sample int       `json:"sample"`
	Step   int       `json:"step,omitempty"` // of a trajectory
	Node   int       `json:"node"`
	Class  int       `json:"class"`  // of a classification
	Margin float64   `json:"margin"` // of a classification: how far the largest output is above the next
	Values []float32 `json:"values"` // outputs, as the model gives them
}

// Answers returns all answers on the graph as it is, sample by sample, step by step,
// in the order of Read: samples·R of them.
func (q *Question) Answers() ([]Answer, error) {
	p, err := newPasses(q, nil)
	if err != nil {
		return nil, err
	}
	return p.answers(), nil
}

// judge compares outputs y of a classification with the class c: how far y_c is
// above the largest other output, below 0 if another is, and whether c is the
// answer. Outputs that are no numbers are no answer.
func judge(y []float32, c int) (margin float64, same bool) {
	own, other := y[c], float32(math.Inf(-1))
	same = true
	for j, v := range y {
		switch {
		case j == c:
			continue
		case v != v:
			return -math.MaxFloat64, false
		case v > own || v == own && j < c: // of equals the first is the answer
			same = false
		}
		other = max(other, v)
	}
	if own != own {
		return -math.MaxFloat64, false
	}
	return float64(own) - float64(other), same
}

// compare says what outputs y in place of an answer's mean: the margin that is left
// to its class, how far it moved in the user's units, and whether it still holds.
func (q *Question) compare(a *Answer, y []float32) (margin, move float64, holds bool) {
	move = min(moved(y, a.Values)*q.scale(a.Node), math.MaxFloat64)
	if q.Classify {
		margin, holds = judge(y, a.Class)
		return margin, move, holds
	}
	return 0, move, q.Within <= 0 || move <= q.Within
}

// moved returns the largest |y' - y| of two answers, more than any if an output is no
// finite number.
func moved(y, before []float32) float64 {
	most := 0.0
	for c, v := range y {
		d := math.Abs(float64(v) - float64(before[c]))
		if d-d != 0 {
			return math.MaxFloat64
		}
		most = max(most, d)
	}
	return most
}
