package agent_test

import (
	"errors"
	"testing"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/rule"
)

// twice sends two vectors at every step, the second of which stays as it is.
type twice struct{ rule.Descent }

func (twice) Sent() int { return 2 }

func (r twice) Step(next rule.Vectors, s *rule.Step) {
	r.Descent.Step(next[:1], s)
	copy(next[1], s.Now[1])
}

// MaxNorm is about every vector of parameters as a whole: not about its single
// numbers, and not about several vectors together; the limit itself is allowed.
func TestMaxNormIsOfVectors(t *testing.T) {
	for name, c := range map[string]struct {
		values []float32 // the row, x_j and a second vector, two numbers each
		fine   bool
	}{
		"at the limit":             {[]float32{1, 60, 80, 0, 0}, true},
		"two vectors at the limit": {[]float32{1, 60, 80, 80, -60}, true},
		"long as a whole":          {[]float32{1, 80, 80, 0, 0}, false},
		"long as a whole, second":  {[]float32{1, 0, 0, 80, 80}, false},
		"one number too many":      {[]float32{1, 60, 81, 0, 0}, false},
	} {
		s, g := line(t, func(p *agent.PlanConfig) {
			p.MaxNorm = 100
			p.Rule.Rule = twice{rule.Descent{StepSize: p.Rule.StepSize}}
		})
		if err := s.Begin(1, g, ones); err != nil {
			t.Fatal(err)
		}
		m := agent.Message{From: 0, To: agent.Everyone, Time: 1, Kind: agent.Row, Links: 1, Degree: 1, Values: c.values}
		if _, err := s.Nodes[1].Step(agent.Receive{Message: &m}); c.fine != (err == nil) || !c.fine && !errors.Is(err, agent.ErrMalformed) {
			t.Errorf("%s: got %v, want an error: %v", name, err, !c.fine)
		}
	}
}

// A plan that learns nothing has no parameters to be long, and checks its rows all
// the same.
func TestMaxNormWithoutParameters(t *testing.T) {
	s, g := line(t, func(p *agent.PlanConfig) { p.MaxNorm, p.Rule, p.Basis, p.Cost = 100, nil, nil, nil })
	if err := s.Begin(1, g, ones); err != nil {
		t.Fatal(err)
	}
	for value, fine := range map[float32]bool{1: true, 1e6: false} {
		m := agent.Message{From: 0, To: agent.Everyone, Time: 1, Kind: agent.Row, Links: 1, Degree: 1, Values: []float32{value}}
		if _, err := s.Nodes[1].Step(agent.Receive{Message: &m}); fine != (err == nil) {
			t.Errorf("a row of %v: got %v, want an error: %v", value, err, !fine)
		}
	}
}
