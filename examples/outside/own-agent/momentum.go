package main

import "github.com/wdgnn/wdgnn/rule"

// Momentum is eq. (7) for every node on its own, with a memory of the last move:
//
//	x_{i,t+1} = x_{i,t} - γ ∇J_{i,t}(x_{i,t}) + μ (x_{i,t} - x_{i,t-1})
//
// A box writes x_{i,t-1} to its checkpoints beside x_{i,t}. Boxes whose γ or μ
// differ do not work together: fields with names in capitals are part of what they compare.
type Momentum struct{ Gamma, Mu float32 }

func (Momentum) Sent() int { return 1 } // x_t
func (Momentum) Kept() int { return 1 } // x_{t-1}

func (m Momentum) Step(next rule.Vectors, s *rule.Step) {
	x, before, gradient := s.Now[0], s.Now[1], s.Spare
	s.Cost.Gradient(gradient, x)
	for e := range x {
		next[0][e] = x[e] + m.Mu*(x[e]-before[e]) - m.Gamma*gradient[e]
	}
	copy(next[1], x)
}
