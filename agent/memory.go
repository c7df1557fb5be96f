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
	Node  NodeID     `json:"node"`
	Time  uint64     `json:"time"`            // of the last step
	State rule.State `json:"state,omitempty"` // what it learned, how its answers did and those that wait; nil if it does not learn
	Delay []float32  `json:"delay,omitempty"` // shifted rows, of delayed models
	Stats Stats      `json:"stats"`

	Forecast *ForecastMemory `json:"forecast,omitempty"` // nil if it does not forecast
}

// Memory returns a copy of what the node remembers.
func (n *Node) Memory() Memory {
	m := Memory{Node: n.id, Time: n.time, Delay: slices.Clone(n.before), Stats: n.stats, Forecast: n.forecasting.memory(n.time)}
	switch {
	case n.learner != nil:
		m.State = n.learner.State(n.time + 1)
	case n.Season() != nil:
		m.State = n.forecasting.season.State()
	}
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
	if learns := n.plan.learns() || n.plan.Season != nil; m.State != nil && !learns || m.State == nil && n.learner != nil {
		return fmt.Errorf("agent: restore: the memory has learned: %v, the plan learns: %v", m.State != nil, learns)
	}
	f, err := n.recall(&m)
	if err == nil && n.learner != nil {
		err = n.learner.Restore(m.State, m.Time+1)
	}
	if err != nil {
		return fmt.Errorf("agent: restore: %w", err)
	}
	n.told, n.forecasting = n.told[:0], f
	copy(n.before, m.Delay)
	n.stats, n.time, n.begun, n.open, n.predicted = m.Stats, m.Time, true, false, false
	n.opened = unopened
	return nil
}

// Seed gives a node that has begun no step the memory of an earlier life, in this
// network or one like it: Restore, but any step may be the next. m.Time is the step
// before the first.
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

// Reset puts the parameters back to those of the plan's model; delay line and counts
// stay. It belongs between two steps.
func (n *Node) Reset() {
	if n.learner != nil {
		n.fresh()
	}
	if n.forecasting != nil {
		n.forecasting.fresh()
	}
}
