package certify

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/config"
	"github.com/wdgnn/wdgnn/internal/crown"
	"github.com/wdgnn/wdgnn/internal/lifecycle"
	"github.com/wdgnn/wdgnn/internal/paper/theory"
	"github.com/wdgnn/wdgnn/rule"
)

// Every premise of every bound: what makes it fail takes the word "proven" away, says
// why, and leaves the others alone. What is learned once more in float64 takes less for
// granted.
func TestPremises(t *testing.T) {
	mixer := func(dense ...float64) *theory.Mixer {
		m, err := theory.MixerOf(2, dense)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	loose := mixer(0.5, 0.5, 0.5, 0.5)
	loose.RowError = 2e-5
	good := Tracked{Bound: []Number{1}, Measured: []Number{1}, Rest: 3, Rough: mostRough}
	nan := Number(math.NaN())
	rough := &Tracked{Bound: good.Bound, Measured: good.Measured, Rest: 3, Rough: 2 * mostRough}
	unknown := &Tracked{Bound: good.Bound, Measured: good.Measured, Rest: nan, Rough: nan}
	endless := &Tracked{Bound: []Number{nan}, Measured: good.Measured}
	run := func(r recording, tracked *Tracked, again bool) premises {
		if r.mode == config.Distributed && r.mixers == nil {
			r.mixers = []*theory.Mixer{mixer(0.5, 0.5, 0.5, 0.5)}
		}
		return r.steps(tracked, again)
	}
	clipped := rule.Config{ClipNorm: 1, Ridge: 0.1}
	many := func(m *theory.Mixer) recording {
		return recording{mode: config.Distributed, mixers: []*theory.Mixer{m}}
	}
	below := mixer(1.5, -0.5, 0.5, 0.5)
	const (
		answers   = "the network that is bounded is the one that answers"
		whole     = "gradients are whole, or only shorter"
		gradients = "steps are gradient steps"
	)
	for name, c := range map[string]struct {
		got  premises
		fail string // the premise that does not hold, and what is said
		why  string
	}{
		"a certificate":               {got: direct(false, rounded{off: mostOff, both: 2}, 2)},
		"of one graph, S = Ŝ":         {got: direct(false, rounded{off: 1e-7, both: 2, same: true}, 0)},
		"delayed filters":             {direct(true, rounded{}, 2), "filters read one graph", "stand still"},
		"another network answers":     {direct(false, rounded{off: 2 * mostOff}, 2), answers, "0.0002 of itself"},
		"below float32":               {direct(false, rounded{both: 3}, 2), "float32 rounds less than the bound", "rounds 3, the bound is 2"},
		"a certificate of NaN":        {direct(false, rounded{same: true}, math.NaN()), "the bound is a number", "NaN"},
		"an infinite certificate":     {direct(false, rounded{}, math.Inf(1)), "the bound is a number", "Inf"},
		"Theorem 1":                   {firstOrder("; so"), "what is of the order of ε² is part of it", "without O(ε²); so"},
		"a run":                       {got: run(recording{}, &good, false)},
		"a run of many":               {got: run(recording{mode: config.Distributed}, &good, false)},
		"clipped":                     {run(recording{rule: clipped}, &good, false), whole, "may be clipped"},
		"clipped, without a ridge":    {got: run(recording{rule: rule.Config{ClipNorm: 1}}, &good, false)},
		"clipped, learned once more":  {got: run(recording{rule: clipped}, &good, true)},
		"other steps":                 {run(recording{}, rough, false), gradients, "up to 3 beside"},
		"steps of NaN":                {run(recording{}, unknown, false), gradients, "beside gradient steps"},
		"a bound of NaN":              {run(recording{}, endless, false), "the bound is a number", "NaN"},
		"sums of W":                   {run(many(loose), &good, false), "rows of W sum to 1", "2e-05"},
		"sums of W, once more":        {got: run(many(loose), &good, true)},
		"sums of W, nobody mixes":     {got: run(recording{mixers: []*theory.Mixer{loose}}, &good, false)},
		"a weight below 0":            {run(many(below), &good, false), "no weight of W is below 0", "-0.5"},
		"a weight below 0, once more": {run(many(below), &good, true), "no weight of W is below 0", "-0.5"},
	} {
		var failed []string
		for _, p := range c.got {
			if !p.Holds {
				failed = append(failed, p.Name)
			}
		}
		b := c.got.bound("b", 3, 2, "as said")
		if b.Proven != (c.fail == "") || c.fail == "" && (len(failed) > 0 || b.Note != "as said") || len(b.Premises) != len(c.got) {
			t.Errorf("%s: proven %v, %q; want %v", name, b.Proven, b.Note, c.fail == "")
		}
		said := strings.HasPrefix(b.Note, "as said; not proven: ") && strings.Contains(b.Note, c.why)
		if c.fail != "" && (!slices.Equal(failed, []string{c.fail}) || !said) {
			t.Errorf("%s: %q do not hold, %q; want %q alone, with %q", name, failed, b.Note, c.fail, c.why)
		}
		if b.Ratio != 1.5 {
			t.Errorf("%s: a ratio of %v, want 1.5", name, b.Ratio)
		}
	}
}

// The network that is bounded is held against what the model answers: with the taps
// that nodes learned it is the same but for rounding, and without them it is found out.
func TestPremiseOfOwnTaps(t *testing.T) {
	f := newOnlineCase(t, config.Regress, false)
	m := f.adapted("mode: distributed, preset: own, gate: off")
	own, err := lifecycle.NodeTapsOf(m)
	if err != nil {
		t.Fatal(err)
	}
	s, err := m.Meta.Shift.Of(graph.Ring(6))
	if err != nil {
		t.Fatal(err)
	}
	x := []float64{1, 2, -1, 0.5, 1, 1, 0, 3, 1, -2, 0.25, 1}
	with, err := exact(m, own, s, s)
	if err != nil {
		t.Fatal(err)
	}
	h := searched{m.Network, own, with, s, s, nil}
	if r := h.rounds(x); !(r.off < 1e-6 && r.off > 0 && r.both > 0 && r.same) {
		t.Errorf("with their taps: got %+v, want rounding in float32", r)
	}
	h.exact = crown.NewNetwork(m.Network)
	if r := h.rounds(x); r.off < 1e-2 || direct(false, r, 1e9).proven() {
		t.Errorf("without their taps: got %+v, want that it is another network", r)
	}
	report, err := Graphs(context.Background(), m, graph.Ring(6), graph.Ring(6), Options{})
	if err != nil || !report.Bounds[0].Proven || report.Bounds[4].Proven {
		t.Errorf("the report: got %+v, %v; want the certificate proven and Theorem 1 not", report.Bounds, err)
	}
}
