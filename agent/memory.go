package agent

import (
	"fmt"
	"slices"

	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/rule"
)

// Memory is what a node needs to go on after a restart: everything but the step
// under way.
type Memory struct {
	Node    NodeID       `json:"node"`
	Time    uint64       `json:"time"`              // of the last step
	Learner *rule.Memory `json:"learner,omitempty"` // nil if it does not learn
	Delay   []float32    `json:"delay,omitempty"`   // shifted rows, of delayed models
	Stats   Stats        `json:"stats"`

	Answers *rule.AnswersMemory `json:"answers,omitempty"` // nil if it remembers none

	Forecast *ForecastMemory `json:"forecast,omitempty"` // nil if it does not forecast
}

// Memory returns a copy of what the node remembers.
func (n *Node) Memory() Memory {
	m := Memory{Node: n.id, Time: n.time, Delay: slices.Clone(n.before), Stats: n.stats}
	if n.learner != nil {
		l := n.learner.Memory()
		m.Learner = &l
	}
	if n.answers != nil {
		a := n.answers.Memory()
		m.Answers = &a
	}
	m.Forecast = n.forecasting.memory(n.time)
	return m
}

// Restore gives the node the memory m, which may come from outside: an error
// says what does not fit and leaves the node as it was. The next Begin must be
// of a later step: neighbours may have heard a row of the step that was under
// way, and must not hear another for the same step.
func (n *Node) Restore(m Memory) error {
	if m.Node != n.id {
		return fmt.Errorf("agent: restore: the memory of node %d for node %d", m.Node, n.id)
	}
	if len(m.Delay) != len(n.before) || !mat.Finite(m.Delay...) {
		return fmt.Errorf("agent: restore: a delay line of %d values, want %d finite ones", len(m.Delay), len(n.before))
	}
	if (m.Learner != nil) != (n.learner != nil) {
		return fmt.Errorf("agent: restore: the memory has parameters: %v, the plan learns: %v", m.Learner != nil, n.learner != nil)
	}
	f, err := n.recall(m.Forecast, m.Time)
	if err != nil {
		return fmt.Errorf("agent: restore: %w", err)
	}
	var answers rule.AnswersMemory // of an earlier program, or a node without a gate: it begins anew
	if m.Answers != nil {
		answers = *m.Answers
	}
	if n.answers != nil {
		if err := n.answers.Fits(answers); err != nil {
			return fmt.Errorf("agent: restore: %w", err)
		}
	}
	if n.learner != nil {
		if err := n.learner.Restore(*m.Learner); err != nil {
			return fmt.Errorf("agent: restore: %w", err)
		}
	}
	if n.answers != nil {
		if err := n.answers.Restore(answers); err != nil {
			return fmt.Errorf("agent: restore: %w", err)
		}
	}
	n.told, n.forecasting = n.told[:0], f
	copy(n.before, m.Delay)
	n.stats, n.time, n.begun, n.open, n.predicted = m.Stats, m.Time, true, false, false
	n.opened = unopened
	return nil
}

// Seed gives a node that has begun no step the memory of an earlier life, in this
// network or one like it: Restore, but any step may be the next. Steps that m
// speaks of are counted back from there, -1 being the last, in two's complement.
func (n *Node) Seed(m Memory) error {
	if n.begun {
		return fmt.Errorf("%w: node %d: a seed after step %d", ErrOrder, n.id, n.time)
	}
	if err := n.Restore(m); err != nil {
		return err
	}
	n.time, n.begun = 0, false
	return nil
}

// Reset puts the parameters back to those of the plan's model and forgets the
// window; delay line and counts stay. It belongs between two steps.
func (n *Node) Reset() {
	if n.learner != nil {
		n.fresh()
	}
	if n.forecasting != nil {
		n.forecasting.fresh()
	}
}
