package online

import (
	"github.com/wdgnn/wdgnn/conformal"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/rule"
)

// answering is what the nodes that are read answer: with what they learned or as
// trained, and judged at once or late. nil answers with what was learned and
// remembers nothing.
type answering struct {
	observer *Observer
	answers  []*rule.Answers // of the nodes read
	given    uint64          // answers of each so far
	delay    uint64
	gates    bool

	adapted, y []float32
	z, base    mat.Dense // late: what the answers that are judged were made with
}

// newAnswering returns that of the nodes which o reads, of which of says what
// they answer with; nil if r asks for nothing of it.
func newAnswering(o *Observer, f *rule.Basis, r *rule.Config, of func(i int) *rule.Answers) *answering {
	a := &answering{
		observer: o, delay: uint64(r.Delay), gates: r.Gate != nil,
		adapted: make([]float32, f.Outputs()), y: make([]float32, f.Outputs()),
	}
	for _, i := range o.read {
		if one := of(i); one != nil {
			a.answers = append(a.answers, one)
		}
	}
	if a.answers == nil {
		return nil
	}
	return a
}

// predict writes what the node with the r-th row answers.
func (a *answering) predict(r int, node *rule.Node, y, base, z []float32) {
	if a == nil {
		node.Predict(y, base, z)
		return
	}
	node.Predict(a.adapted, base, z)
	a.answers[r].Answer(a.given, y, a.adapted, base)
}

// give gives the answer of the r-th node to row, what it observes at this step, with
// what it knows before the update.
func (a *answering) give(r int, node *rule.Node, row []float32) {
	base := a.observer.base.Row(r)
	node.Predict(a.adapted, base, row)
	a.answers[r].Give(a.given, a.y, a.adapted, base, row)
}

// judge takes in what the answer of the r-th row cost at the step that j is about.
// It returns what that was made with, none if it is not known or carries no cost.
func (a *answering) judge(r int, j loss.Local) (z, base mat.Dense) {
	if a.given < a.delay {
		return mat.Dense{}, mat.Dense{}
	}
	g, told := a.answers[r].Judge(a.given-a.delay, j, a.observer.read[r])
	if !told {
		return mat.Dense{}, mat.Dense{}
	}
	return mat.NewDense(1, len(g.Inputs), g.Inputs), mat.NewDense(1, len(g.Base), g.Base)
}

// gated says whether nodes have gates.
func (a *answering) gated() bool { return a != nil && a.gates }

// Gates returns what the gates of the nodes that are read remember, in their
// order; nil without gates.
func (a *answering) Gates() []rule.GateState {
	if !a.gated() {
		return nil
	}
	list := make([]rule.GateState, len(a.answers))
	for r, one := range a.answers {
		list[r] = one.Gate()
	}
	return list
}

// Given returns how many answers each node that is read gave, if it has a gate or
// is judged late: the number of the next, by which GateState.Since counts.
func (a *answering) Given() uint64 {
	if a == nil {
		return 0
	}
	return a.given
}

// Bounds returns those of the set or intervals that go with what the node of the
// r-th row answers at the open step; nil without a rule.Config.Conformal. They
// belong to the learner, and hold until Update.
func (a *answering) Bounds(r int) []conformal.Bound {
	if a == nil {
		return nil
	}
	return a.answers[r].Bounds()
}

// Meter returns how often the sets or intervals of the node of the r-th row held
// the truth.
func (a *answering) Meter(r int) conformal.Meter {
	if a == nil {
		return conformal.Meter{}
	}
	return a.answers[r].Meter()
}

// reset forgets everything.
func (a *answering) reset() {
	if a == nil {
		return
	}
	a.given = 0
	for _, one := range a.answers {
		one.Reset()
	}
}
