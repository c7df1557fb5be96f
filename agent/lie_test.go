package agent_test

import (
	"errors"
	"math"
	"testing"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
)

// pair is node 1 of a filter of two hops whose taps are 1, in step 0, with the links
// and the observation given.
func pair(t *testing.T, shift graph.Shift, links []agent.Link, change func(*agent.PlanConfig)) (*agent.Node, agent.Ready) {
	t.Helper()
	m, err := gnn.New(gnn.Config{In: 1, Features: 1, Outputs: 1, NoBias: true, Wide: &gnn.WideConfig{Order: 2}})
	if err != nil {
		t.Fatal(err)
	}
	for _, tap := range m.Params.Wide.Taps {
		tap.Set(0, 0, 1)
	}
	m.Params.Readout.Weight.Set(0, 0, 1)
	p := agent.PlanConfig{Model: m, Operator: shift}
	if change != nil {
		change(&p)
	}
	n := agent.NewNode(1, newPlan(t, p), nil)
	r, err := n.Step(agent.Begin{Links: links, Row: []float32{3}})
	if err != nil {
		t.Fatal(err)
	}
	return n, r
}

// first is a row of exchange 0 of node 0.
func first(x float32, links uint32, degree float64) *agent.Message {
	return &agent.Message{To: agent.Everyone, Kind: agent.Row, Links: links, Degree: degree, Values: []float32{x}}
}

// What no honest node sends is refused with the word for it; what there is no room for
// is refused without one.
func TestLies(t *testing.T) {
	long, strange := first(1, 1, 1), first(1, 1, 1)
	long.Values, strange.Exchange = []float32{1, 2}, 9
	for name, c := range map[string]struct {
		m    *agent.Message
		want agent.Lie
	}{
		"in order":          {first(1, 1, 1), ""},
		"a number more":     {long, agent.LieShape},
		"no such exchange":  {strange, agent.LieShape},
		"NaN":               {first(float32(math.NaN()), 1, 1), agent.LieNumbers},
		"as long as may be": {first(-10, 1, 1), ""},
		"too long":          {first(math.Nextafter32(10, 11), 1, 1), agent.LieBounds},
		"an endless one":    {first(1, 1, math.Inf(1)), agent.LieNumbers},
		"links and none":    {first(1, 1, 0), agent.LieDegree},
		"none and links":    {first(1, 0, 2), agent.LieDegree},
		"far too small":     {first(1, 1, 1e-30), agent.LieDegree},
	} {
		n, _ := pair(t, graph.ShiftSymmetric, []agent.Link{{Node: 0, Weight: 1}}, func(p *agent.PlanConfig) { p.MaxRows = []float64{10, 10} })
		_, err := n.Step(agent.Receive{Message: c.m})
		var got agent.Lie
		if errors.As(err, &got); got != c.want || (err != nil) != (c.want != "") || err != nil && !errors.Is(err, agent.ErrMalformed) {
			t.Errorf("%s: got %q, %v, want %q", name, got, err, c.want)
		}
	}
	n, _ := pair(t, graph.ShiftSymmetric, []agent.Link{{Node: 0, Weight: 1}}, nil)
	var err error
	for k := range uint64(9) { // of later steps
		m := first(1, 1, 1)
		m.Time = k + 1
		_, err = n.Step(agent.Receive{Message: m})
	}
	var lie agent.Lie
	if !errors.Is(err, agent.ErrMalformed) || errors.As(err, &lie) {
		t.Errorf("the ninth row of later steps: got %v, want it refused and no lie", err)
	}
}

// Of two rows of one exchange the first is used. The same again is a copy; another is a
// contradiction.
func TestTwoFaced(t *testing.T) {
	for name, c := range map[string]struct {
		second *agent.Message
		want   agent.Lie
	}{
		"a copy":         {first(2, 2, 2), ""},
		"another value":  {first(-2, 2, 2), agent.LieTwoFaced},
		"another degree": {first(2, 2, 3), agent.LieTwoFaced},
		"other links":    {first(2, 1, 2), agent.LieTwoFaced},
	} {
		n, _ := pair(t, graph.ShiftRowStochastic, []agent.Link{{Node: 0, Weight: 1}, {Node: 2, Weight: 1}}, nil)
		if _, err := n.Step(agent.Receive{Message: first(2, 2, 2)}); err != nil {
			t.Fatal(err)
		}
		_, err := n.Step(agent.Receive{Message: c.second})
		var got agent.Lie
		if errors.As(err, &got); got != c.want {
			t.Errorf("%s: got %q, %v, want %q", name, got, err, c.want)
		}
	}
}

// A neighbour cannot make its row count more by a degree that is smaller than the link
// alone: with 1/4 in place of 2 it would count √(a/(d_i/4)), and counts √(a/d_i).
func TestSmallDegree(t *testing.T) {
	for degree, want := range map[float64]float64{2: 0.5, 1: math.Sqrt(0.5), 0.25: math.Sqrt(0.5)} {
		links := []agent.Link{{Node: 0, Weight: 1}, {Node: 2, Weight: 1}}
		n, _ := pair(t, graph.ShiftSymmetric, links, nil)
		if _, err := n.Step(agent.Receive{Message: first(4, 2, degree)}); err != nil {
			t.Fatal(err)
		}
		r, err := n.Step(agent.Expire{})
		if err != nil || len(r.Send) != 1 {
			t.Fatalf("degree %v: got %v, %v, want the row of the next exchange", degree, r.Send, err)
		}
		if got := float64(r.Send[0].Values[0]); math.Abs(got-4*want) > 1e-6 {
			t.Errorf("degree %v: the sum is %v, want %v", degree, got, 4*want)
		}
	}
}

// Who adds up rows that are all within their bounds says nothing that others refuse:
// 6 + 6 is sent as 10 where that is the bound. Its own observation is sent as it is.
func TestSumsAreShortened(t *testing.T) {
	links := []agent.Link{{Node: 0, Weight: 1}, {Node: 2, Weight: 1}}
	_, r := pair(t, graph.ShiftAdjacency, links, func(p *agent.PlanConfig) { p.MaxRows = []float64{2, 10} })
	if got := r.Send[0].Values[0]; got != 3 {
		t.Errorf("it observed 3 and sends %v, want 3", got)
	}
	other := first(6, 1, 1)
	n, _ := pair(t, graph.ShiftAdjacency, links, func(p *agent.PlanConfig) { p.MaxRows = []float64{6, 10} })
	if _, err := n.Step(agent.Receive{Message: other}); err != nil {
		t.Fatal(err)
	}
	other = first(6, 1, 1)
	other.From = 2
	r, err := n.Step(agent.Receive{Message: other})
	if err != nil || len(r.Send) != 1 {
		t.Fatalf("got %v, %v, want the row of the next exchange", r.Send, err)
	}
	if got := r.Send[0].Values[0]; got > 10 || got < 9.99 || n.Stats().Shortened != 1 {
		t.Errorf("the sum of 6 and 6 is sent as %v, %d shortened, want 10 and one", got, n.Stats().Shortened)
	}
}
