package online

import (
	"github.com/wdgnn/wdgnn/conformal"
	"github.com/wdgnn/wdgnn/rule"
)

// answering is what the nodes that are read answered so far: with what they learned or
// as trained, judged at once or late.
type answering struct {
	answers []*rule.Answers // of the nodes read, in their order; none if they always answer with what they learned
	given   uint64          // answers of each so far
}

// Gates returns what the gates of the nodes that are read remember, in their
// order; nil without gates.
func (a *answering) Gates() []rule.GateState {
	var list []rule.GateState
	for _, one := range a.answers {
		if one.Gated() {
			list = append(list, one.Gate())
		}
	}
	return list
}

// Given returns how many answers each node that is read gave: the number of the next,
// by which GateState.Since counts.
func (a *answering) Given() uint64 { return a.given }

// Bounds returns those of the set or intervals that go with what the node of the
// r-th row answers at the open step; nil without a rule.Config.Conformal. They
// belong to the learner, and hold until Update.
func (a *answering) Bounds(r int) []conformal.Bound {
	if a.answers == nil {
		return nil
	}
	return a.answers[r].Bounds()
}

// Meter returns how often the sets or intervals of the node of the r-th row held
// the truth.
func (a *answering) Meter(r int) conformal.Meter {
	if a.answers == nil {
		return conformal.Meter{}
	}
	return a.answers[r].Meter()
}
