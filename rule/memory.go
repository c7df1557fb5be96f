package rule

import (
	"errors"
	"fmt"
	"slices"

	"github.com/wdgnn/wdgnn/mat"
)

// Memory is everything a node remembers between steps. A node restored from it
// goes on with the same bits.
type Memory struct {
	Steps   int         `json:"steps"` // updates so far
	Vectors [][]float32 `json:"vectors"`

	// Newton is what a node that learns by second derivatives knows; see
	// newtonmemory.go.
	Newton []float64 `json:"newton,omitempty"`

	// Heard are the neighbours that the node weights one by one.
	Heard []int `json:"heard,omitempty"`
}

// Memory returns a copy of what the node remembers.
func (n *Node) Memory() Memory {
	m := Memory{Steps: n.steps}
	for _, v := range n.now {
		m.Vectors = append(m.Vectors, slices.Clone(v))
	}
	if n.newton != nil {
		m.Newton = n.newton.now.memory()
	}
	if h := n.Hearing(); h != nil {
		m.Heard = slices.Clone(h.Neighbors)
	}
	return m
}

// Restore gives the node the memory m, which may come from outside: an error
// says what does not fit, and leaves the node as it was.
func (n *Node) Restore(m Memory) error {
	if err := n.Fits(m); err != nil {
		return err
	}
	if n.newton != nil {
		g, err := n.frameFor(m.Heard)
		if err != nil {
			return err
		}
		n.newton = newNewton(g, n.config)
		if err := n.newton.restore(m.Newton); err != nil {
			return err
		}
	}
	for v, x := range m.Vectors {
		copy(n.now[v], x)
	}
	n.steps = m.Steps
	return nil
}

// Fits reports what keeps m from being restored.
func (n *Node) Fits(m Memory) error {
	if m.Steps < 0 {
		return fmt.Errorf("rule: memory: %d steps", m.Steps)
	}
	if len(m.Vectors) != len(n.now) {
		return fmt.Errorf("rule: memory: %d vectors, the rule has %d", len(m.Vectors), len(n.now))
	}
	for _, v := range m.Vectors {
		if len(v) != n.basis.Len() {
			return fmt.Errorf("rule: memory: a vector of %d numbers, want %d", len(v), n.basis.Len())
		}
		if !mat.Finite(v...) {
			return errors.New("rule: memory: a number is not finite")
		}
	}
	if m.Newton != nil && n.newton == nil {
		return errors.New("rule: memory: of a node that learns by second derivatives, this one takes gradient steps")
	}
	if n.newton == nil {
		return nil
	}
	g, err := n.frameFor(m.Heard)
	if err != nil {
		return err
	}
	_, err = recall(m.Newton, g)
	return err
}
