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

	// Coordinates are those of the vectors: Orthonormal, or 0, in which early
	// versions wrote them.
	Coordinates int `json:"coordinates,omitempty"`

	// The window, oldest step first: how many observations each step brought,
	// and their inputs, base outputs and targets, one after the other.
	Counts  []int     `json:"counts,omitempty"`
	Inputs  []float32 `json:"inputs,omitempty"`
	Bases   []float32 `json:"bases,omitempty"`
	Targets []float32 `json:"targets,omitempty"`

	// Newton is what a node that learns by second derivatives knows; see
	// newtonmemory.go.
	Newton []float64 `json:"newton,omitempty"`

	// Heard are the neighbours that the node weights one by one.
	Heard []int `json:"heard,omitempty"`
}

// Orthonormal says that vectors are in the coordinates of this package, x with
// 𝒜 = 𝒜† + x Qᵀ. Before there were x with 𝒜 = 𝒜† + x Ωᵀ, which a node translates
// when it is given them.
const Orthonormal = 1

// Memory returns a copy of what the node remembers.
func (n *Node) Memory() Memory {
	m := Memory{Steps: n.steps, Coordinates: Orthonormal}
	for _, v := range n.now {
		m.Vectors = append(m.Vectors, slices.Clone(v))
	}
	if n.newton != nil {
		m.Newton = n.newton.now.memory()
	}
	if h := n.Hearing(); h != nil {
		m.Heard = slices.Clone(h.Neighbors)
	}
	w, f := n.window, n.basis
	for k := range w.filled {
		s := (w.newest + 1 + k) % w.filled
		m.Counts = append(m.Counts, w.count[s])
		if w.count[s] == 0 {
			continue
		}
		lo, hi := s*w.per, s*w.per+w.count[s]
		for r := lo; r < hi; r++ {
			for _, z := range w.row(r)[:f.inputs] {
				m.Inputs = append(m.Inputs, float32(z))
			}
		}
		m.Bases = append(m.Bases, w.base[lo*f.outputs:hi*f.outputs]...)
		m.Targets = append(m.Targets, w.target[lo*w.targets:hi*w.targets]...)
	}
	return m
}

// Restore gives the node the memory m, which may come from outside: an error
// says what does not fit, and leaves the node as it was.
func (n *Node) Restore(m Memory) error {
	rows, err := n.fits(m)
	if err != nil {
		return err
	}
	if n.newton != nil {
		g, err := n.frameFor(m.Heard)
		if err != nil {
			return err
		}
		n.newton = newNewton(n.basis, g, n.config)
		if err := n.newton.restore(m.Newton); err != nil {
			return err
		}
	}
	for v, x := range n.translated(m) {
		copy(n.now[v], x)
	}
	n.steps = m.Steps
	if n.fleeting { // no update would look at what was in it
		return nil
	}
	w, f := n.window, n.basis
	w.forget()
	w.restored = true
	if rows > 0 {
		w.setTargets(len(m.Targets) / rows)
	}
	r := 0
	for _, count := range m.Counts {
		w.begin()
		for range count {
			target := w.add(m.Inputs[r*f.inputs:(r+1)*f.inputs], m.Bases[r*f.outputs:(r+1)*f.outputs])
			copy(target, m.Targets[r*w.targets:])
			r++
		}
	}
	return nil
}

// Fits reports what keeps m from being restored.
func (n *Node) Fits(m Memory) error {
	_, err := n.fits(m)
	return err
}

// fits reports what keeps m from being the memory of n, and returns the number
// of observations in its window.
func (n *Node) fits(m Memory) (rows int, err error) {
	f, w := n.basis, n.window
	if m.Steps < 0 {
		return 0, fmt.Errorf("rule: memory: %d steps", m.Steps)
	}
	if len(m.Vectors) != len(n.now) {
		return 0, fmt.Errorf("rule: memory: %d vectors, the rule has %d", len(m.Vectors), len(n.now))
	}
	length := f.Len()
	switch m.Coordinates {
	case Orthonormal:
	case 0:
		length = f.rows * f.outputs
	default:
		return 0, fmt.Errorf("rule: memory: coordinates of kind %d, which this version does not know; try a newer one", m.Coordinates)
	}
	for _, v := range m.Vectors {
		if len(v) != length {
			return 0, fmt.Errorf("rule: memory: a vector of %d numbers, want %d", len(v), length)
		}
	}
	if len(m.Counts) > w.length {
		return 0, fmt.Errorf("rule: memory: a window of %d steps, the configuration asks for %d", len(m.Counts), w.length)
	}
	for _, count := range m.Counts {
		if count < 0 || count > w.per {
			return 0, fmt.Errorf("rule: memory: %d observations in one step, want at most %d", count, w.per)
		}
		rows += count
	}
	if len(m.Inputs) != rows*f.inputs || len(m.Bases) != rows*f.outputs || rows > 0 && len(m.Targets)%rows != 0 {
		return 0, fmt.Errorf("rule: memory: %d inputs, %d outputs and %d targets for %d observations",
			len(m.Inputs), len(m.Bases), len(m.Targets), rows)
	}
	if m.Newton != nil && n.newton == nil {
		return 0, errors.New("rule: memory: of a node that learns by second derivatives, this one takes gradient steps")
	}
	if n.newton != nil {
		g, err := n.frameFor(m.Heard)
		if err != nil {
			return 0, err
		}
		if _, err := recall(m.Newton, g); err != nil {
			return 0, err
		}
	}
	for _, values := range slices.Concat([][]float32{m.Inputs, m.Bases, m.Targets}, m.Vectors, n.translated(m)) {
		if !mat.Finite(values...) {
			return 0, errors.New("rule: memory: a number is not finite")
		}
	}
	return rows, nil
}

// translated returns the vectors of m in the coordinates of this package. From
// x Ωᵀ = x' Qᵀ follows x' = x Rᵀ.
func (n *Node) translated(m Memory) [][]float32 {
	if m.Coordinates == Orthonormal {
		return m.Vectors
	}
	f := n.basis
	var out [][]float32
	for _, old := range m.Vectors {
		var x []float32
		for row := range slices.Chunk(old, f.outputs) {
			for k := range f.width {
				sum := 0.0
				for c, v := range row {
					sum += float64(float64(v) * f.root[k*f.outputs+c])
				}
				x = append(x, float32(sum))
			}
		}
		out = append(out, x)
	}
	return out
}
