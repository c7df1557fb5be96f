package certify

import (
	"testing"

	"github.com/wdgnn/wdgnn/internal/paper/theory"
)

// Nodes that a ridge pulls back stay within the largest L/λ of any node at any
// step, if every node keeps γλ of its own; where a node does not, has no ridge or
// another cost, no radius is known.
func TestBall(t *testing.T) {
	pulled := func(share, ridge float64) *theory.Problem {
		return &theory.Problem{Kind: theory.CrossEntropy, Inputs: 1, Outputs: 2, Ridge: ridge, Rows: []theory.Row{
			{Input: []float64{3}, Base: make([]float64, 2), Share: share},
		}}
	}
	mixer := func(own float64) *theory.Mixer {
		m, err := theory.MixerOf(2, []float64{own, 1 - own, 1 - own, own})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	l, err := pulled(1, 0).Lipschitz(0)
	if err != nil || l == 0 {
		t.Fatal(l, err)
	}
	none := &theory.Problem{Kind: theory.CrossEntropy, Inputs: 1, Outputs: 2}
	quadratic := &theory.Problem{Kind: theory.Quadratic, Inputs: 1, Outputs: 2, Ridge: 1}
	const gamma = 0.25
	for name, c := range map[string]struct {
		local  [][]*theory.Problem
		mixers []*theory.Mixer
		want   float64
	}{
		"one step": {[][]*theory.Problem{{pulled(1, 2), pulled(1, 1)}}, []*theory.Mixer{mixer(0.75)}, l},
		"the largest of all": {
			[][]*theory.Problem{{pulled(1, 2), pulled(1, 1)}, {pulled(0.5, 0.1), pulled(1, 2)}},
			[]*theory.Mixer{mixer(0.75), mixer(0.75)},
			5 * l,
		},
		"γλ is just what they keep": {[][]*theory.Problem{{pulled(1, 2), pulled(1, 2)}}, []*theory.Mixer{mixer(0.5)}, l / 2},
		"γλ is more than they keep": {[][]*theory.Problem{{pulled(1, 2), pulled(1, 2)}}, []*theory.Mixer{mixer(0.4375)}, 0},
		"more than they keep, later": {
			[][]*theory.Problem{{pulled(1, 2), pulled(1, 2)}, {pulled(1, 2), pulled(1, 2)}},
			[]*theory.Mixer{mixer(0.75), mixer(0.4375)},
			0,
		},
		"one that mixes only": {[][]*theory.Problem{{pulled(1, 2), none}}, []*theory.Mixer{mixer(0.75)}, l / 2},
		"one without a ridge": {[][]*theory.Problem{{pulled(1, 2), pulled(1, 0)}}, []*theory.Mixer{mixer(0.75)}, 0},
		"another cost":        {[][]*theory.Problem{{pulled(1, 2), quadratic}}, []*theory.Mixer{mixer(0.75)}, 0},
		"a ridge and nothing to meet": {
			[][]*theory.Problem{{pulled(1, 2), {Kind: theory.CrossEntropy, Inputs: 1, Outputs: 2, Ridge: 1}}},
			[]*theory.Mixer{mixer(0.75)},
			l / 2,
		},
	} {
		if got, err := ball(c.local, c.mixers, gamma); err != nil || got != c.want {
			t.Errorf("%s: got %v, %v; want %v", name, got, err, c.want)
		}
	}
}
