package rule

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
	Step(next State, s *Step)
}

// State is the vectors of one node, of Basis.Len values each: the ones it
// sends, then the ones it keeps. They begin at 0, which for x_i means 𝒜†.
type State [][]float32

// Step is what a rule knows of one node at step t.
type Step struct {
	Time  int // t, the number of updates before this one
	Now   State
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
func (d Descent) Step(next State, s *Step) {
	s.Heard.Mix(next[0], 0)
	if s.Flat {
		return
	}
	s.Cost.Gradient(s.Spare, s.Now[0])
	gamma := d.StepSize.At(s.Time, s.Cost, s.Heard.own())
	x := next[0][:len(s.Spare)]
	for e, g := range s.Spare {
		x[e] = float32(float64(x[e]) - float64(gamma*float64(g)))
	}
}
