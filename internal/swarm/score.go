package swarm

import (
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
)

// score is how well a swarm answers.
type score struct {
	right, answers int // of nodes that were asked for a class and answered
	silent         int // were asked and did not answer
	cost           float64
	steps          int
}

// watch takes in a step.
func (s *score) watch(m *Step) {
	if !m.Known {
		return
	}
	s.steps++
	s.cost += m.Cost.Eval(mat.Dense{}, m.Outputs)
	c, ok := m.Cost.(loss.CrossEntropy)
	if !ok {
		return
	}
	for i, label := range c.Labels {
		switch {
		case label == loss.NoLabel:
		case !m.Fresh[i]:
			s.silent++
		default:
			s.answers++
			if mat.Argmax(m.Outputs.Row(i)) == int(label) {
				s.right++
			}
		}
	}
}

// accuracy returns the share of right answers, -1 if nothing was asked.
func (s *score) accuracy() float64 {
	if s.answers == 0 {
		return -1
	}
	return float64(s.right) / float64(s.answers)
}

// meanCost returns the mean of J over steps.
func (s *score) meanCost() float64 { return s.cost / float64(max(s.steps, 1)) }
