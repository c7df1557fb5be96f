package agent_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/agent/agenttest"
	"github.com/wdgnn/wdgnn/graph"
)

// A node that nobody hears is left out: the others find λmax of what remains,
// and it ends alone.
func TestGaugeSilentNode(t *testing.T) {
	for _, c := range gaugeCases(t)[6:] {
		dead := 1
		s := measured(t, c.graph, agent.GaugeConfig{Diameter: c.graph.Nodes()}, func(s *agenttest.Gauges) {
			s.Fate = func(m *agent.Message, _ agent.NodeID) int {
				if int(m.From) == dead {
					return 0
				}
				return 1
			}
		}, retryThenExpire)
		rest := new(graph.Builder).Keep(c.graph, false, func(i, j int) bool { return i != dead && j != dead })
		t.Log(c.name)
		checkGauges(t, s, rest, 1e-6)
	}
}

// A link that works in one direction only is dropped at both ends.
func TestGaugeOneWayLink(t *testing.T) {
	sbm := gaugeCases(t)[6]
	i, j := 0, int(sbm.graph.Neighbors(0)[0])
	s := measured(t, sbm.graph, agent.GaugeConfig{Diameter: 6}, func(s *agenttest.Gauges) {
		s.Fate = func(m *agent.Message, to agent.NodeID) int {
			if int(m.From) == j && int(to) == i {
				return 0
			}
			return 1
		}
	}, retryThenExpire)
	rest := new(graph.Builder).Keep(sbm.graph, false, func(a, b int) bool { return min(a, b) != i || max(a, b) != j })
	checkGauges(t, s, rest, 1e-6)
	for _, k := range []int{i, j} {
		if got := s.Nodes[k].Stats().Expired; got != 1 {
			t.Errorf("node %d dropped %d links, want 1", k, got)
		}
	}
}

// Whoever was dropped is sent nothing more, so that it drops the link too.
func TestGaugeDroppedIsNotSentTo(t *testing.T) {
	g, err := agent.NewGauge(1, agent.GaugeConfig{Diameter: 2})
	if err != nil {
		t.Fatal(err)
	}
	r, err := g.Step(agent.Begin{Links: []agent.Link{{Node: 0, Weight: 1}, {Node: 2, Weight: 1}}})
	if err != nil || len(r.Send) != 1 || r.Send[0].To != agent.Everyone {
		t.Fatalf("sent %v, %v; want one message to everyone", r.Send, err)
	}
	m := r.Send[0]
	m.From, m.Values = 0, slices.Clone(m.Values)
	if _, err := g.Step(agent.Receive{Message: &m}); err != nil {
		t.Fatal(err)
	}
	if r, err = g.Step(agent.Expire{}); err != nil || len(r.Send) != 1 || r.Send[0].To != 0 {
		t.Errorf("sent %v, %v; want one message, to node 0", r.Send, err)
	}
	ask := agent.Message{From: 2, To: 1, Kind: agent.Estimate, Exchange: 1}
	if r, err = g.Step(agent.Receive{Message: &ask}); err != nil || len(r.Send) != 0 {
		t.Errorf("sent %v, %v to a node that was dropped; want nothing", r.Send, err)
	}
}

// A node that dies in the middle of a measurement leaves the others agreed, on
// λmax of the network with it or without.
func TestGaugeDeath(t *testing.T) {
	sbm := gaugeCases(t)[6]
	const dead = 7
	rest := new(graph.Builder).Keep(sbm.graph, false, func(i, j int) bool { return i != dead && j != dead })
	with, without := graph.LargestEigenvalue(sbm.graph.Adjacency()), graph.LargestEigenvalue(rest.Adjacency())
	old, rounds := 0, uint16(30)
	if testing.Short() {
		rounds = 6
	}
	for last := range rounds { // that it lives through
		rng := rand.New(rand.NewPCG(uint64(last), 3))
		died := false
		s := measured(t, sbm.graph, agent.GaugeConfig{Diameter: 6}, func(s *agenttest.Gauges) {
			s.Pick = agenttest.Random(rng)
			s.Fate = func(m *agent.Message, _ agent.NodeID) int {
				if m.From != dead {
					return 1
				}
				died = died || m.Exchange == last && rng.IntN(5) == 0 || m.Exchange > last
				if died {
					return 0
				}
				return 1
			}
		}, retryThenExpire)
		first, _, _ := s.Nodes[0].Result()
		for i, n := range s.Nodes {
			got, _, ok := n.Result()
			if i != dead && (!ok || got != first) {
				t.Errorf("last round %d: node %d found %v, %v; want %v as node 0", last, i, got, ok, first)
			}
		}
		switch {
		case math.Abs(first-with) < 1e-6*with:
			old++
		case math.Abs(first-without) > 1e-6*without:
			t.Errorf("last round %d: found %v, want %v or %v", last, first, with, without)
		}
	}
	t.Logf("%d of %d measurements counted the node that died", old, rounds)
}

// retryThenExpire is what a host does.
func retryThenExpire(stops int) agent.Event {
	if stops%2 == 0 {
		return agent.Retry{}
	}
	return agent.Expire{}
}

// Losses that nobody makes good cost links, but no measurement hangs.
func TestGaugeLossesEnd(t *testing.T) {
	for _, c := range gaugeCases(t) {
		largest := 0.0
		for i := range c.graph.Nodes() {
			largest = max(largest, c.graph.WeightedDegree(i))
		}
		for seed := range uint64(3) {
			rng := rand.New(rand.NewPCG(seed, 2))
			s := measured(t, c.graph, agent.GaugeConfig{Diameter: c.diameter}, func(s *agenttest.Gauges) {
				s.Pick = agenttest.Random(rng)
				s.Fate = func(*agent.Message, agent.NodeID) int { return min(rng.IntN(20), 1) }
			}, func(int) agent.Event { return agent.Expire{} })
			for i, n := range s.Nodes {
				lambda, _, _ := n.Result()
				if n.Open() || !(lambda >= 0 && lambda <= largest*(1+1e-9)) {
					t.Errorf("%s: node %d: open %v, λmax %v, want the end and at most the largest degree, %v", c.name, i, n.Open(), lambda, largest)
				}
			}
		}
	}
}

// Where the rounds do not suffice all nodes end alike, with bounds that hold.
func TestGaugeRoundLimit(t *testing.T) {
	c := gaugeCases(t)[1]
	s := measured(t, c.graph, agent.GaugeConfig{Diameter: 19, Tolerance: 1e-9, MaxRounds: 100}, nil, nil)
	want := graph.LargestEigenvalue(c.graph.Adjacency())
	first, _, _ := s.Nodes[0].Result()
	for i, n := range s.Nodes {
		lambda, rounds, ok := n.Result()
		lower, upper := n.Bounds()
		if ok || rounds != 95 || lambda != first || !(lower < want && want < upper) {
			t.Errorf("node %d: %v in %v to %v after %d rounds, ok %v; want %v, not ok, after 95", i, lambda, lower, upper, rounds, ok, first)
		}
	}
}

// A later measurement, of another network, begins anew; what arrives before a
// node has begun it is kept.
func TestGaugeAgain(t *testing.T) {
	list := gaugeCases(t)
	s := measured(t, list[8].graph, agent.GaugeConfig{Diameter: 11}, nil, nil)
	if _, err := s.Measure(7, list[7].graph, nil); err != nil {
		t.Fatal(err)
	}
	checkGauges(t, s, list[7].graph, 1e-6)
	early, err := s.Nodes[0].Step(agent.Begin{Time: 9, Links: []agent.Link{{Node: 1, Weight: 3}}})
	if err != nil {
		t.Fatal(err)
	}
	if r, err := s.Nodes[1].Step(agent.Receive{Message: &early.Send[0]}); err != nil || r.Ahead != 9 || s.Nodes[1].Stats().Kept != 1 {
		t.Errorf("an estimate of measurement 9: ahead %d, %v, %+v; want it kept", r.Ahead, err, s.Nodes[1].Stats())
	}
	late, err := s.Nodes[1].Step(agent.Begin{Time: 9, Links: []agent.Link{{Node: 0, Weight: 3}}})
	if err != nil || len(late.Send) != 2 { // its round 0, and round 1, for which it heard enough
		t.Errorf("%d messages and %v, want 2", len(late.Send), err)
	}
	if _, err := s.Measure(7, list[7].graph, nil); !errors.Is(err, agent.ErrOrder) {
		t.Errorf("the same measurement again: %v, want ErrOrder", err)
	}
}

// Bad estimates are refused, counted, and change nothing.
func TestGaugeRefusals(t *testing.T) {
	g, err := agent.NewGauge(1, agent.GaugeConfig{Diameter: 2})
	if err != nil {
		t.Fatal(err)
	}
	r, err := g.Step(agent.Begin{Links: []agent.Link{{Node: 0, Weight: 1}, {Node: 2, Weight: 1}}})
	if err != nil || len(r.Send) != 1 {
		t.Fatalf("%d messages and %v, want 1", len(r.Send), err)
	}
	good := r.Send[0] // a node says of itself what any other might
	good.From, good.Values = 0, slices.Clone(good.Values)
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for name, change := range map[string]func(m *agent.Message){
		"NaN":                    func(m *agent.Message) { m.Values[0] = nan },
		"a NaN bound":            func(m *agent.Message) { m.Values[7] = nan },
		"infinite":               func(m *agent.Message) { m.Values[3] = inf },
		"an infinite exponent":   func(m *agent.Message) { m.Values[2] = inf },
		"an absurd exponent":     func(m *agent.Message) { m.Values[2] = 1e9 },
		"half an exponent":       func(m *agent.Message) { m.Values[2] = 0.5 },
		"zero":                   func(m *agent.Message) { m.Values[0] = 0 },
		"negative":               func(m *agent.Message) { m.Values[0] = -0.5 },
		"two parts that overlap": func(m *agent.Message) { m.Values[0], m.Values[1] = 0.5, 0.25 },
		"too few values":         func(m *agent.Message) { m.Values = m.Values[:8] },
		"too many values":        func(m *agent.Message) { m.Values = append(m.Values, 1) },
		"a row":                  func(m *agent.Message) { m.Kind = agent.Row },
		"for somebody else":      func(m *agent.Message) { m.To = 7 },
		"from the node itself":   func(m *agent.Message) { m.From = 1 },
		"a later one that's bad": func(m *agent.Message) { m.Time, m.Values[0] = 9, nan },
	} {
		m := good
		m.Values = slices.Clone(good.Values)
		change(&m)
		if _, err := g.Step(agent.Receive{Message: &m}); !errors.Is(err, agent.ErrMalformed) {
			t.Errorf("%s: error is %v, want ErrMalformed", name, err)
		}
	}
	if st := g.Stats(); st.Refused != 13 || st.Strangers != 2 {
		t.Errorf("%d refused, %d strangers; want 13 and 2", st.Refused, st.Strangers)
	}
	for name, ev := range map[string]agent.Event{
		"the same measurement": agent.Begin{},
		"a bad link":           agent.Begin{Time: 1, Links: []agent.Link{{Node: 1, Weight: 1}}},
		"feedback":             agent.Feedback{},
		"no event":             nil,
		"no message":           agent.Receive{},
	} {
		if _, err := g.Step(ev); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	for _, m := range []agent.Message{
		{From: 77, To: agent.Everyone, Kind: agent.Estimate, Values: good.Values},             // a stranger
		{From: 0, To: agent.Everyone, Kind: agent.Estimate, Exchange: 5, Values: good.Values}, // five rounds ahead
		{From: 77, To: 1, Kind: agent.Estimate},                                               // a stranger asks
		{From: 0, To: 1, Kind: agent.Estimate, Time: 3},                                       // asks for another measurement
	} {
		if r, err := g.Step(agent.Receive{Message: &m}); err != nil || len(r.Send) != 0 {
			t.Errorf("%v: %d messages and %v, want silence", &m, len(r.Send), err)
		}
	}
	ask := agent.Message{From: 0, To: 1, Kind: agent.Estimate, Exchange: 1} // for what cannot be known yet
	if r, err := g.Step(agent.Receive{Message: &ask}); err != nil || len(r.Send) != 1 || r.Send[0].Exchange != 0 || r.Send[0].To != 0 {
		t.Errorf("asked for round 1: %v and %v, want round 0 as a sign of life", r.Send, err)
	}
	for time := range uint64(50) {
		m := good
		m.Time = time + 3
		_, err = g.Step(agent.Receive{Message: &m})
	}
	if !errors.Is(err, agent.ErrMalformed) || g.Stats().Kept != 2 {
		t.Errorf("after a flood %v, %d kept, want a refusal and 2", err, g.Stats().Kept)
	}
	if got := g.Missing(nil); !slices.Equal(got, []agent.NodeID{0, 2}) || !g.Open() {
		t.Errorf("waits for %v, want both neighbours still", got)
	}
}

func TestBadGauges(t *testing.T) {
	for _, c := range []agent.GaugeConfig{
		{},
		{Diameter: -1},
		{Diameter: 1, Tolerance: math.NaN()},
		{Diameter: 1, Tolerance: 1e-14},
		{Diameter: 1, MaxRounds: -1},
		{Diameter: 10, MaxRounds: 19},
		{Diameter: 1, MaxRounds: 1 << 16},
	} {
		if _, err := agent.NewGauge(0, c); err == nil {
			t.Errorf("%+v: no error", c)
		}
	}
}
