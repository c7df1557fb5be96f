package online

import (
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
)

// scatter is a cost of all N rows as one of the rows that are read: the others
// are 0, and what they cost does not depend on the parameters.
type scatter struct {
	cost  loss.Loss
	read  []int
	nodes int
	y, dy mat.Dense
}

// Eval implements [loss.Loss].
func (s *scatter) Eval(dy, y mat.Dense) float64 {
	s.y, s.dy = s.y.Resize(s.nodes, y.Cols), s.dy.Resize(s.nodes, y.Cols)
	s.y.Zero()
	for r, i := range s.read {
		copy(s.y.Row(i), y.Row(r))
	}
	if dy.Empty() {
		return s.cost.Eval(mat.Dense{}, s.y)
	}
	j := s.cost.Eval(s.dy, s.y)
	for r, i := range s.read {
		copy(dy.Row(r), s.dy.Row(i))
	}
	return j
}
