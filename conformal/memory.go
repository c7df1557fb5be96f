package conformal

import (
	"fmt"
	"math"
	"slices"
)

// Memory is everything that a Node remembers. A node restored from it goes on with
// the same bits.
type Memory struct {
	Coverage float64        `json:"coverage"`
	Windows  []WindowMemory `json:"windows"`
}

// WindowMemory is what a Node remembers of one output.
type WindowMemory struct {
	Scores []float64 `json:"scores"` // oldest first
	Level  float64   `json:"level"`  // α_t
	Meter  Meter     `json:"meter"`
}

// Memory returns a copy of what the node remembers.
func (n *Node) Memory() Memory {
	m := Memory{Coverage: n.config.Coverage}
	for k := range n.windows {
		w := &n.windows[k]
		m.Windows = append(m.Windows, WindowMemory{
			Scores: slices.Concat(w.ring[w.next:], w.ring[:w.next]), Level: w.level, Meter: w.meter,
		})
	}
	return m
}

// Restore gives the node the memory m, which may come from outside: an error says
// what does not fit, and leaves the node as it was. If another coverage was asked
// for then, the level begins anew.
func (n *Node) Restore(m Memory) error {
	if err := n.Fits(m); err != nil {
		return err
	}
	for k, from := range m.Windows {
		n.Begin(k, from.Scores)
		w := &n.windows[k]
		w.meter, w.level = from.Meter, n.config.miss()
		if m.Coverage == n.config.Coverage {
			w.level = min(from.Level, n.config.most())
		}
		n.bounds[k] = w.bound(&n.config)
	}
	return nil
}

// Fits reports what keeps m from being restored.
func (n *Node) Fits(m Memory) error {
	if len(m.Windows) != len(n.windows) {
		return fmt.Errorf("conformal: memory: scores of %d outputs, want %d", len(m.Windows), len(n.windows))
	}
	for _, w := range m.Windows {
		if err := w.valid(); err != nil {
			return err
		}
	}
	return nil
}

// valid reports what cannot be the memory of an output.
func (w *WindowMemory) valid() error {
	if len(w.Scores) > maxWindow {
		return fmt.Errorf("conformal: memory: %d scores, want at most %d", len(w.Scores), maxWindow)
	}
	for _, s := range w.Scores {
		if s-s != 0 {
			return fmt.Errorf("conformal: memory: a score is %v", s)
		}
	}
	if !(w.Level > -math.MaxFloat64 && w.Level < 1) {
		return fmt.Errorf("conformal: memory: the level is %v", w.Level)
	}
	if m := w.Meter; m.Held > m.Judged || m.Sized > m.Judged || !(m.Size >= 0 && m.Size-m.Size == 0) {
		return fmt.Errorf("conformal: memory: %d of %d answers held the truth, sizes %v in sum", m.Held, m.Judged, m.Size)
	}
	return nil
}
