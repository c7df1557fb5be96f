package rule

import (
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
)

// Rule is how a node moves from t to t+1. A rule of one's own is one small
// type: it says how many vectors a node sends and keeps, and computes the next
// from what the node has, hears and pays.
//
// A Rule holds settings and no state, and is used by all nodes of a network at
// once: Step must be safe for concurrent use. It reads no clock and draws no
// random numbers, so that agents and simulations agree. Hosts tell the rules of
// others from their own by their types, and by their settings as JSON.
type Rule interface {
	// Sent returns how many vectors a node sends to its neighbours at every
	// step, at least 1: the first is x_i, which predictions use.
	Sent() int

	// Kept returns how many vectors a node remembers beside those.
	Kept() int

	// Step writes the node's vectors at t+1 to next, all overwritten. next
	// shares no memory with anything in s.
	Step(next Vectors, s *Step)
}

// Vectors are those of one node, of Basis.Len values each: the ones it
// sends, then the ones it keeps. They begin at 0, which for x_i means 𝒜†.
type Vectors [][]float32

// Step is what a rule knows of one node at step t.
type Step struct {
	Time  int // t, the number of updates before this one
	Now   Vectors
	Heard *Heard
	Cost  Cost      // J_{i,t}
	Flat  bool      // J_{i,t} is the same everywhere, with gradient 0: the node observed nothing
	Spare []float32 // Basis.Len values to work in, of any content
}

// Descent is the update of eq. (9):
//
//	x_{i,t+1} = Σ_j [W_t]_ij x_{j,t} - γ_t ∇J_{i,t}(x_{i,t})
//
// Neighbours' old parameters are mixed, and the gradient is taken at the node's
// own old ones, those that the prediction was made with: what the world said of
// that answer is about them, and about no mixture. With nobody else heard it is
// eq. (7).
type Descent struct{ StepSize StepSize }

// Sent returns 1: x_i.
func (Descent) Sent() int { return 1 }

// Kept returns 0.
func (Descent) Kept() int { return 0 }

// Step implements [Rule]. A node with nothing to learn from mixes and takes no
// step: a gradient of 0 would change nothing, and need not be computed. The step
// is subtracted in float64 and rounded once.
func (d Descent) Step(next Vectors, s *Step) {
	s.Heard.Mix(next[0], 0)
	if s.Flat {
		return
	}
	s.Cost.Gradient(s.Spare, s.Now[0])
	subtractStep(next[0], d.StepSize.At(s.Time), s.Spare)
}

// subtractStep takes gamma g from x.
func subtractStep(x []float32, gamma float64, g []float32) {
	x = x[:len(g)]
	for e, v := range g {
		x[e] = float32(float64(x[e]) - float64(gamma*float64(v)))
	}
}

// Descend is Observe, Step, and Commit or Refuse of a node that learns by [Descent],
// at once and to the same bits, for whoever runs many of them: mixed is Σ_j W_ij x_j,
// of which nobody was left out, z and base are what the answer was made with, and
// target what it should have been, by j. A nil target says that nothing was told, and
// j is not looked at. An error says that the node stays where it was.
//
//	mixed: Len   z: Inputs   base: C   target: j.TargetLen(C)
func (n *Node) Descend(mixed, z, base, target []float32, j loss.Targeted) error {
	o, next := n.observed, n.observed.next
	copy(next, mixed)
	if n.leftOut = 0; target != nil || n.config.Ridge != 0 {
		if o.begin(len(target)); target != nil {
			copy(o.goal(0), target)
			o.judge = j
			o.add(z, base)
		}
		o.Gradient(n.step.Spare, n.now[0])
		subtractStep(next, n.config.StepSize.At(n.steps), n.step.Spare)
		o.release()
	}
	if limit := n.config.limit(); !wellWithin(next, limit) && (!mat.Finite(next...) || n.basis.Distance(next, nil) > limit) {
		return ErrDiverged
	}
	copy(n.now[0], next)
	n.steps++
	return nil
}
