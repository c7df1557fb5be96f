package certify

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/wdgnn/wdgnn/internal/config"
	"github.com/wdgnn/wdgnn/internal/paper/theory"
)

// What nodes did beside their steps is all that moved them where costs are flat and all
// agree: bounds are that, in the mean and around it.
//
// Reference: doc/theory.md "Rounding".
func TestTogetherBesideSteps(t *testing.T) {
	m, err := theory.MixerOf(2, []float64{0.5, 0.5, 0.5, 0.5})
	if err != nil {
		t.Fatal(err)
	}
	flat := &theory.Problem{Kind: theory.Quadratic, Inputs: 1, Outputs: 1}
	local := [][]*theory.Problem{{flat, flat}, {flat, flat}}
	optima := []theory.Optimum{{Exists: true, W: []float64{0}}, {Exists: true, W: []float64{0}}}
	r := &recording{mode: config.Distributed, nodes: 2, mixers: []*theory.Mixer{m, m}, pace: &pace{ctx: context.Background()}}
	c := &OnlineReport{Mixing: &mixingReport{}}
	for name, next := range map[string][][]float64{"both moved": {{3}, {3}}, "one moved": {{3}, {0}}, "apart": {{3}, {-3}}} {
		got, err := r.trackTogether(c, "bounds", local, optima, [][][]float64{{{0}, {0}}, next}, 1)
		if err != nil {
			t.Fatal(err)
		}
		if b := float64(got.Bound[1]); got.Measured[1] != 3 || b < 3 || b > 3*(1+1e-12) || got.Rest != 3 {
			t.Errorf("%s: %v away, bound %v, %v beside the step; want 3 of all", name, got.Measured[1], b, got.Rest)
		}
	}
}

// Of a cost that stands still, learning ends at what is left of where it began: the
// table says so with e_0, and its limit is 0.
//
// Reference: doc/theory.md "The limiting error against γ".
func TestLimitsBeginAtStart(t *testing.T) {
	still := &theory.Problem{Kind: theory.Quadratic, Inputs: 1, Outputs: 1, Rows: []theory.Row{
		{Input: []float64{1}, Base: []float64{0}, Target: []float64{3}, Share: 1}, // (w - 3)²
	}}
	optimum := theory.Optimum{Exists: true, W: []float64{3}}
	r := &recording{pace: &pace{ctx: context.Background()}}
	points, err := r.limits(slices.Repeat([]*theory.Problem{still}, 8), slices.Repeat([]theory.Optimum{optimum}, 8))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range points {
		want := 3 * math.Pow(math.Abs(1-2*p.StepSize), 6) // the first of the last quarter
		if p.Start != 3 || p.Bound != 0 || math.Abs(p.Own-want) > 1e-12 || math.Abs(p.Measured-want) > 1e-12 {
			t.Errorf("γ = %v: got %+v; want e_0 = 3, a limit of 0, and %v left of it", p.StepSize, p, want)
		}
	}
	if len(points) != len(limitShares) {
		t.Errorf("got %d step sizes, want %d", len(points), len(limitShares))
	}
}
