package host_test

import (
	"slices"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/internal/script"
)

// arm prepares a model like that of the script, with other taps. What is promised is on
// disk: a restart finds it.
func (s *scriptHost) arm(w script.Words) error {
	id, err := first(w)
	if err != nil {
		return err
	}
	if s.next, err = scriptPlan(w); err != nil {
		return err
	}
	for _, tap := range s.next.Model.Params.Wide.Taps {
		tap.Set(0, 0, tap.At(0, 0)*float32(w.Number("gain", 2)))
	}
	c := &host.Change{
		ID: id, Step: uint64(w.Number("step", 0)), Model: "new", Plan: s.next, Reset: slices.Contains(w.Plain, "reset"),
	}
	s.config.Change = c
	return s.step(host.Arm{Change: c})
}

func (s *scriptHost) agree(w script.Words) error {
	id, err := first(w)
	if err != nil {
		return err
	}
	return s.step(host.Agree{ID: id, Gone: slices.Contains(w.Plain, "gone")})
}

func (s *scriptHost) drop(w script.Words) error {
	id, err := first(w)
	if err != nil {
		return err
	}
	return s.step(host.Drop{ID: id})
}

func (s *scriptHost) word(w script.Words) error {
	node, err := first(w)
	if err != nil {
		return err
	}
	m := s.message(w, agent.NodeID(node), agent.Switch)
	m.To = m.From
	return s.arrive(w, m)
}

// changes writes down what became of a change, and keeps it.
func (s *scriptHost) changes(a *host.Actions) {
	c := a.Changed
	if c == nil {
		return
	}
	if !c.Gone {
		s.printf("agrees: step %d, hop %d", c.Change.Step, c.Word.Hops)
		return
	}
	kept := *c.Change
	kept.Done, kept.Before = &c.Word, c.Before
	s.config.Change = &kept
	s.config.Plan, s.config.Model = s.next, c.Change.Model
	s.printf("goes over at step %d: %d nodes keep what they learned, %d begin anew", c.Time, c.Kept, c.Anew)
}
