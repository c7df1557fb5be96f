package lifecycle

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wdgnn/wdgnn/rule"
)

// GateResult is what the gates of a run did, and what they promise: Answered is at
// most Bound at every node, and so in all.
type GateResult struct {
	Adapted  int     `json:"adapted"`           // nodes that answer with what they learned, at the end
	Trained  int     `json:"trained"`           // nodes that answer as trained
	Answered float64 `json:"answered"`          // what all answers that were judged cost
	Frozen   float64 `json:"frozen"`            // what those of the model as trained would have
	Bound    float64 `json:"bound"`             // what the answers can have cost at most
	Refused  uint64  `json:"refused,omitempty"` // updates that were
	Anew     uint64  `json:"anew,omitempty"`    // times that a node began again with the trained taps

	// Closed are nodes that were judged and answer as trained, and since which
	// step, counted from the first of all runs; those that did so longest first.
	Closed []ClosedGate `json:"closed,omitempty"`
}

// ClosedGate is a node that answers as trained.
type ClosedGate struct {
	Node  int    `json:"node"`
	Since uint64 `json:"since"`
}

// gated is a learner with gates.
type gated interface {
	Gates() []rule.GateState
	Given() uint64
}

// gateStates returns what the gates of the nodes read remember, nil if there are
// none.
func (r *OnlineRun) gateStates() []rule.GateState {
	if g, ok := r.learner.(gated); ok {
		return g.Gates()
	}
	return nil
}

// gateResult sums up what the gates did, nil if there are none.
func (r *OnlineRun) gateResult() *GateResult {
	states := r.gateStates()
	if states == nil {
		return nil
	}
	g, read := new(GateResult), slices.Sorted(slices.Values(r.Stream.Read))
	for k := range states {
		s := &states[k]
		g.Answered += s.Answered
		g.Frozen += s.Frozen
		g.Bound += r.Rule.Gate.Bound(s)
		g.Refused += s.Refused
		g.Anew += s.Anew
		if s.Open {
			g.Adapted++
			continue
		}
		g.Trained++
		if s.Judged > 0 {
			g.Closed = append(g.Closed, ClosedGate{read[k], s.Since})
		}
	}
	slices.SortStableFunc(g.Closed, func(a, b ClosedGate) int { return int(int64(a.Since) - int64(b.Since)) })
	return g
}

// String says in a line or two what the gates do.
func (g *GateResult) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d of %d nodes answer with what they learned", g.Adapted, g.Adapted+g.Trained)
	const few = 3
	for k, c := range g.Closed {
		if k == few {
			fmt.Fprintf(&b, ", and %d more", len(g.Closed)-few)
			break
		}
		fmt.Fprintf(&b, "; node %d answers as trained since step %d", c.Node, c.Since)
	}
	if g.Anew > 0 || g.Refused > 0 {
		fmt.Fprintf(&b, "; %d times a node began again, %d updates were refused", g.Anew, g.Refused)
	}
	return b.String()
}

// watchGates puts into a step how many gates are open, and which turned since the
// one before.
func (r *OnlineRun) watchGates(step *OnlineStep) {
	states := r.gateStates()
	if states == nil {
		return
	}
	read, adapted := slices.Sorted(slices.Values(r.Stream.Read)), 0
	now := r.learner.(gated).Given()
	for k := range states {
		s := &states[k]
		turned := s.Judged > 0 && s.Since == now
		if s.Open {
			adapted++
		}
		switch {
		case turned && s.Open:
			step.Opened = append(step.Opened, read[k])
		case turned && s.Since > 0:
			step.Closed = append(step.Closed, read[k])
		}
	}
	step.Adapted = &adapted
}
