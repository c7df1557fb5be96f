package recommend

import (
	"fmt"

	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/rule"
)

// learner moves the taps and the bias of the wide part by eq. (7), on the K+1
// numbers of one user at one movie, and has a guard. It is not safe for
// concurrent use.
type learner struct {
	world  *world
	basis  *rule.Basis
	config rule.Config
	guards GuardConfig
	node   *rule.Node
	judges *judges

	guard guard
}

func newLearner(m *Model, w *world, c rule.Config, guards GuardConfig, j *judges) (*learner, error) {
	node, err := online.NewNode(m.network, c, m.moment)
	if err != nil {
		return nil, err
	}
	if err := guards.Validate(); err != nil {
		return nil, err
	}
	return &learner{world: w, basis: node.Basis(), config: c, guards: guards.withDefaults(), node: node, judges: j}, nil
}

// observation is a rating as the learner sees it.
type observation struct {
	z      []float32
	base   float32 // y†
	target float32 // the rating less m and b
}

// partly returns o as a learner whose output is y takes a part of its step: the
// gradient of (y - target)² is as much shorter as the target is nearer.
func (o observation) partly(weight, y float32) observation {
	if weight != 1 {
		o.target = y + float32(weight*(o.target-y))
	}
	return o
}

// output returns what the learner predicts, less m and b.
func (l *learner) output(z []float32, base float32) float32 {
	var y [1]float32
	l.node.Predict(y[:], []float32{base}, z)
	return y[0]
}

// step takes one step on (y - target)². False means that it would have
// diverged; the parameters are those before it.
func (l *learner) step(o observation) bool {
	return l.node.Learn([]float32{o.base}, o.z, loss.MSE{Target: mat.NewDense(1, 1, []float32{o.target})}) == nil
}

// learn takes a step, and has the guard look at it.
func (l *learner) learn(o observation) event {
	frozen, was, before := l.judges.rmse(nil), l.judged(), l.node.State(0)
	l.guard.Since++
	if !l.step(o) {
		l.node.Reset()
		l.guard.fall()
		return eventDiverged
	}
	switch is := l.judged(); {
	case is > frozen*(1+l.guards.Margin) && is > was:
		if err := l.node.Restore(before, 0); err != nil {
			panic("recommend: a learner does not take its own memory: " + err.Error())
		}
		l.guard.Held++
		return eventHeld
	case l.guard.Fallen && l.guard.Since >= l.guards.Window && is <= frozen:
		l.guard.Fallen = false
		return eventRecovered
	}
	return eventNone
}

// judged returns the RMSE on the judges' ratings, in the unit of the network.
func (l *learner) judged() float64 {
	p := make([]float64, l.basis.Len()) // one output: a number for each input, and the bias
	l.basis.Effect(p, l.node.Params())
	return l.judges.rmse(p)
}

// event is what the guard did.
type event uint8

const (
	eventNone event = iota
	eventFell
	eventDiverged
	eventRecovered
	eventHeld
)

var eventNames = []string{
	"", "fell back: online learning was worse than the frozen model", "fell back: online learning diverged", "recovered",
	"held a step back",
}

func (e event) String() string { return eventNames[e] }

// memory is everything that a learner remembers. It round-trips through JSON
// to the same bits.
type memory struct {
	Node  rule.State `json:"node"`
	Guard guard      `json:"guard"`
}

func (l *learner) memory() memory { return memory{l.node.State(0), l.guard} }

// restore gives l the memory m.
func (l *learner) restore(m memory) error {
	if err := l.node.Restore(m.Node, 0); err != nil {
		return fmt.Errorf("recommend: what the learner remembers: %w", err)
	}
	l.guard = m.Guard
	return nil
}
