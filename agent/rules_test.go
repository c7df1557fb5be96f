package agent_test

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/agent/agenttest"
	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/rule"
)

// line is three nodes in a line with a filter of order 1 that learns literally:
// node 1 hears 0 and 2.
func line(t *testing.T, change func(*agent.PlanConfig)) (*agenttest.Swarm, *graph.Graph) {
	t.Helper()
	m, err := gnn.New(gnn.Config{In: 1, Features: 1, Outputs: 1, Wide: &gnn.WideConfig{Order: 1}})
	if err != nil {
		t.Fatal(err)
	}
	m.Params.Wide.Taps[0].Set(0, 0, 1)
	m.Params.Wide.Taps[1].Set(0, 0, 10)
	m.Params.Readout.Weight.Set(0, 0, 1)
	f, err := rule.NewBasis(rule.BasisConfig{Inputs: 2, Features: 1, Gain: 1, Readout: m.Params.Readout.Weight})
	if err != nil {
		t.Fatal(err)
	}
	paper := rule.Paper(false).Ungated()
	paper.StepSize.Value = 0.1
	p := agent.PlanConfig{Model: m, Operator: graph.ShiftAdjacency, Basis: f, Rule: &paper, Cost: loss.MSE{}}
	if change != nil {
		change(&p)
	}
	g, err := graph.FromEdges(3, []graph.Edge{{From: 0, To: 1, Weight: 1}, {From: 1, To: 2, Weight: 1}}, false)
	if err != nil {
		t.Fatal(err)
	}
	return agenttest.New(3, newPlan(t, p)), g
}

var ones = mat.NewDense(3, 1, []float32{1, 2, 4})

// begin opens a step and delivers until nothing waits.
func begin(t testing.TB, s *agenttest.Swarm, time uint64, g *graph.Graph, x mat.Dense) {
	t.Helper()
	if err := s.Begin(time, g, x); err != nil {
		t.Fatal(err)
	}
	if err := s.RunToQuiet(); err != nil {
		t.Fatal(err)
	}
}

func target(v ...float32) loss.MSE { return loss.MSE{Target: mat.NewDense(len(v), 1, v)} }

// A neighbour that stays silent counts as a dropped link for the step: the
// shift leaves it out and its mixing weight stays at home.
func TestSilentNeighbor(t *testing.T) {
	s, g := line(t, nil)
	s.Fate = func(m *agent.Message, to agent.NodeID) int {
		if m.From == 2 {
			return 0
		}
		return 1
	}
	begin(t, s, 0, g, ones)
	if got, want := s.Nodes[1].Missing(nil), []agent.NodeID{2}; !slices.Equal(got, want) {
		t.Fatalf("node 1 waits for %v, want %v", got, want)
	}
	if n, err := s.Expire(); err != nil || n != 1 {
		t.Fatalf("%d expiries, want that of node 1 alone: %v", n, err)
	}
	if got, want := s.Outputs().At(1, 0), float32(2+10*1); got != want { // x_1 + 10 x_0, without x_2
		t.Errorf("node 1 predicts %v, want %v", got, want)
	}
	if err := s.Feedback(target(0, 0, 0)); err != nil {
		t.Fatal(err)
	}
	if got := s.Nodes[1].Stats().Expired; got != 1 {
		t.Errorf("%d links expired, want 1", got)
	}
	// All parameters are 0 before, so what node 1 has is its own step alone:
	// -γ zᵀ dy = -0.1 [2 1]·2·12.
	want := []float32{-0.1 * 2 * 24, -0.1 * 1 * 24}
	for e, got := range s.Nodes[1].Params() {
		if math.Abs(float64(got-want[e])) > 1e-5 {
			t.Errorf("parameter %d is %v, want %v", e, got, want[e])
		}
	}
	// In the next step 0 and 1 are heard; the third that node 1 would give 2
	// stays at home: W_11 = 2/3.
	before := slices.Clone(s.Nodes[1].Params())
	other := slices.Clone(s.Nodes[0].Params())
	if err := s.Begin(1, g, mat.NewDense(3, 1, nil)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Expire(); err != nil {
		t.Fatal(err)
	}
	if err := s.Feedback(target(0, 0, 0)); err != nil { // x = 0: no gradient
		t.Fatal(err)
	}
	for e, got := range s.Nodes[1].Params() {
		want := 2.0/3*float64(before[e]) + 1.0/3*float64(other[e])
		if math.Abs(float64(got)-want) > 1e-5 {
			t.Errorf("parameter %d is %v after mixing, want %v", e, got, want)
		}
	}
}

// Whoever is asked sends again what it sent in this step or the one before, and
// nothing else.
func TestResendOnRequest(t *testing.T) {
	s, g := line(t, nil)
	lost := true
	s.Fate = func(m *agent.Message, to agent.NodeID) int {
		if m.From == 2 && m.Kind == agent.Row && lost {
			return 0
		}
		return 1
	}
	begin(t, s, 0, g, ones)
	lost = false
	if err := s.Step(1, agent.Retry{}); err != nil {
		t.Fatal(err)
	}
	if err := s.RunToQuiet(); err != nil {
		t.Fatal(err)
	}
	if got, want := s.Outputs().At(1, 0), float32(2+10*(1+4)); got != want {
		t.Errorf("node 1 predicts %v, want %v", got, want)
	}
	if asked, resent := s.Nodes[1].Stats().Asked, s.Nodes[2].Stats().Resent; asked != 1 || resent != 1 {
		t.Errorf("asked %d times, sent again %d times, want 1 and 1", asked, resent)
	}
	if err := s.Feedback(target(0, 0, 0)); err != nil {
		t.Fatal(err)
	}
	first := slices.Clone(s.Nodes[2].Params())
	if err := s.Begin(1, g, ones); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		time uint64
		sent int
	}{{1, 1}, {0, 1}, {7, 0}} {
		r, err := s.Nodes[2].Step(agent.Receive{Message: &agent.Message{From: 1, To: 2, Time: c.time, Kind: agent.Ask}})
		if err != nil || len(r.Send) != c.sent {
			t.Errorf("asked for step %d: %d messages and %v, want %d", c.time, len(r.Send), err, c.sent)
		}
		if c.time == 0 && len(r.Send) == 1 && (r.Send[0].Time != 0 || !slices.Equal(r.Send[0].Values[1:], make([]float32, len(first)))) {
			t.Errorf("step 0 sent again is %v %v, want the parameters of then, zeros", r.Send[0], r.Send[0].Values)
		}
	}
}

// Messages of a later step wait for it; those of a past one are ignored; a
// flood of them is bounded.
func TestAheadAndBehind(t *testing.T) {
	s, g := line(t, nil)
	row := func(from agent.NodeID, time uint64) agent.Event {
		return agent.Receive{
			Message: &agent.Message{From: from, To: agent.Everyone, Time: time, Kind: agent.Row, Links: 1, Degree: 1, Values: []float32{5, 0, 0}},
		}
	}
	if err := s.BeginNode(1, 3, g, ones.Row(1)); err != nil {
		t.Fatal(err)
	}
	if err := s.Step(1, row(0, 2)); err != nil || s.Nodes[1].Stats().Stale != 1 {
		t.Errorf("a message of the past: %v, %+v", err, s.Nodes[1].Stats())
	}
	r, err := s.Nodes[1].Step(row(0, 5))
	if err != nil || r.Ahead != 5 {
		t.Errorf("a message of step 5: %v, ahead %d", err, r.Ahead)
	}
	if err := s.Step(1, row(0, 5)); err != nil || s.Nodes[1].Stats().Duplicates != 1 {
		t.Errorf("the same again: %v, %+v", err, s.Nodes[1].Stats())
	}
	for time := uint64(6); time < 100; time++ {
		err = s.Step(1, row(0, time))
	}
	if !errors.Is(err, agent.ErrMalformed) || s.Nodes[1].Stats().Kept > 4 {
		t.Errorf("after a flood %v, %d kept, want a refusal and at most 4", err, s.Nodes[1].Stats().Kept)
	}
	if err := s.Step(1, row(2, 5)); err != nil {
		t.Fatal(err)
	}
	// The host skips to step 5: both rows are there already.
	if err := s.BeginNode(1, 5, g, ones.Row(1)); err != nil {
		t.Fatal(err)
	}
	if got, want := s.Outputs().At(1, 0), float32(2+10*10); got != want {
		t.Errorf("node 1 predicts %v, want %v", got, want)
	}
	if st := s.Nodes[1].Stats(); st.Abandoned != 1 || st.Skipped != 1 {
		t.Errorf("%d steps abandoned and %d skipped, want 1 and 1", st.Abandoned, st.Skipped)
	}
}

// Bad messages and events are refused, counted, and change nothing.
func TestRefusals(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	s, g := line(t, func(p *agent.PlanConfig) { p.MaxNorm = 100 })
	if err := s.Begin(1, g, ones); err != nil {
		t.Fatal(err)
	}
	n := s.Nodes[1]
	good := agent.Message{From: 0, To: agent.Everyone, Time: 1, Kind: agent.Row, Links: 1, Degree: 1, Values: []float32{1, 0, 0}}
	for name, change := range map[string]func(m *agent.Message){
		"NaN":                     func(m *agent.Message) { m.Values[1] = nan },
		"infinite":                func(m *agent.Message) { m.Values[0] = inf },
		"too few values":          func(m *agent.Message) { m.Values = m.Values[:2] },
		"too many values":         func(m *agent.Message) { m.Values = append(m.Values, 1) },
		"an exchange too many":    func(m *agent.Message) { m.Exchange = 1 },
		"an absurd exchange":      func(m *agent.Message) { m.Exchange = math.MaxUint16 },
		"no kind":                 func(m *agent.Message) { m.Kind = 0 },
		"an absurd norm":          func(m *agent.Message) { m.Values[2] = 1e30 },
		"a row too long":          func(m *agent.Message) { m.Values[0] = 1e3 },
		"a degree that is NaN":    func(m *agent.Message) { m.Degree = math.NaN() },
		"for somebody else":       func(m *agent.Message) { m.To = 7 },
		"from the node itself":    func(m *agent.Message) { m.From = 1 },
		"a later one that is bad": func(m *agent.Message) { m.Time, m.Values[0] = 9, nan },
	} {
		m := good
		m.Values = slices.Clone(good.Values)
		change(&m)
		if _, err := n.Step(agent.Receive{Message: &m}); !errors.Is(err, agent.ErrMalformed) {
			t.Errorf("%s: error is %v, want ErrMalformed", name, err)
		}
	}
	if got := n.Missing(nil); len(got) != 2 {
		t.Errorf("node 1 waits for %v, want both neighbours still", got)
	}
	stranger := good
	stranger.From = 77
	if _, err := n.Step(agent.Receive{Message: &stranger}); err != nil || n.Stats().Strangers != 3 {
		t.Errorf("a stranger: %v, %+v", err, n.Stats())
	}
	for name, ev := range map[string]agent.Event{
		"the same step again":     agent.Begin{Time: 1, Row: []float32{1}},
		"feedback without answer": agent.Feedback{Loss: target(1, 2, 3), Index: 1},
		"no event":                nil,
		"two features":            agent.Begin{Time: 2, Row: []float32{1, 2}},
		"a NaN observation":       agent.Begin{Time: 2, Row: []float32{nan}},
		"links out of order":      agent.Begin{Time: 2, Row: []float32{1}, Links: []agent.Link{{Node: 2, Weight: 1}, {Node: 0, Weight: 1}}},
		"a link to itself":        agent.Begin{Time: 2, Row: []float32{1}, Links: []agent.Link{{Node: 1, Weight: 1}}},
		"a link of no weight":     agent.Begin{Time: 2, Row: []float32{1}, Links: []agent.Link{{Node: 2}}},
	} {
		if _, err := n.Step(ev); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if n.Time() != 1 || !n.Open() {
		t.Errorf("node 1 is at step %d, open %v; want 1, true", n.Time(), n.Open())
	}
	if err := s.RunToQuiet(); err != nil {
		t.Fatal(err)
	}
	if err := s.Step(1, agent.Feedback{Loss: variation{}, Index: 1}); err == nil {
		t.Error("a cost that is of no single node was accepted")
	}
	if err := s.Feedback(target(1, 2, 3)); err != nil {
		t.Errorf("after all that: %v", err)
	}
}

// variation is a cost of the whole network only.
type variation struct{}

func (variation) Eval(dy, y mat.Dense) float64 { return 0 }

// Parameters that are too long are shortened if the plan says so.
func TestClippedParameters(t *testing.T) {
	s, g := line(t, func(p *agent.PlanConfig) { p.ClipNorm = 5 })
	if err := s.BeginNode(0, 0, g, ones.Row(0)); err != nil {
		t.Fatal(err)
	}
	m := agent.Message{From: 1, To: agent.Everyone, Kind: agent.Row, Links: 2, Degree: 2, Values: []float32{0, 30, 40}}
	if err := s.Step(0, agent.Receive{Message: &m}); err != nil {
		t.Fatal(err)
	}
	if err := s.Step(0, agent.Feedback{}); err != nil {
		t.Fatal(err)
	}
	for e, want := range []float64{3.0 / 3, 4.0 / 3} { // W_01 = 1/3 of the shortened vector
		if got := s.Nodes[0].Params()[e]; math.Abs(float64(got)-want) > 1e-6 {
			t.Errorf("parameter %d is %v, want %v", e, got, want)
		}
	}
	if got := s.Nodes[0].Stats().Clipped; got != 1 {
		t.Errorf("%d vectors shortened, want 1", got)
	}
}

// A step that would diverge keeps the parameters, is counted, and ends.
func TestDivergence(t *testing.T) {
	s, g := line(t, func(p *agent.PlanConfig) { r := *p.Rule; r.StepSize.Value = 1e30; p.Rule = &r })
	for k := range uint64(3) {
		begin(t, s, k, g, ones)
		if err := s.Feedback(target(1e6, 1e6, 1e6)); err != nil {
			t.Fatal(err)
		}
	}
	for i, n := range s.Nodes {
		if n.Stats().Diverged == 0 {
			t.Errorf("node %d did not notice", i)
		}
		for _, v := range n.Params() {
			if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
				t.Errorf("node %d has parameters %v", i, n.Params())
			}
		}
	}
}

// Nodes that are restarted from their memory, one after the other in the middle
// of a run, go on with the same bits.
func TestRestart(t *testing.T) {
	for _, v := range variants() {
		t.Run(v.name, func(t *testing.T) {
			const steps = 6
			tr := newTrial(t, v, 5, steps)
			s := agenttest.New(tr.nodes, tr.plan)
			for k := range steps {
				i := k % tr.nodes
				if k > 0 {
					text, err := json.Marshal(s.Nodes[i].Memory())
					if err != nil {
						t.Fatal(err)
					}
					var m agent.Memory
					if err := json.Unmarshal(text, &m); err != nil {
						t.Fatal(err)
					}
					s.Nodes[i] = agent.NewNode(agent.NodeID(i), tr.plan, nil)
					if err := s.Nodes[i].Restore(m); err != nil {
						t.Fatal(err)
					}
				}
				tr.play(t, s, k, uint64(k))
				tr.sameBits(t, k, s, tr.step(t, k))
			}
			if err := s.Nodes[0].Restore(agent.Memory{Node: 1}); err == nil {
				t.Error("the memory of another node was accepted")
			}
			if err := s.Nodes[0].Restore(agent.Memory{Delay: []float32{1}}); err == nil {
				t.Error("a delay line that does not fit was accepted")
			}
		})
	}
}

// A plan says everything that is wrong with it.
func TestBadPlans(t *testing.T) {
	m, err := gnn.New(gnn.Config{In: 1, Features: 2, Wide: &gnn.WideConfig{Order: 1}})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]agent.PlanConfig{
		"no model":          {Operator: graph.ShiftAdjacency},
		"no such operator":  {Model: m, Operator: graph.Shift(99)},
		"a scale not given": {Model: m, Operator: graph.ShiftSpectral},
		"a negative norm":   {Model: m, Operator: graph.ShiftAdjacency, MaxNorm: -1},
	} {
		if _, err := agent.NewPlan(c); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// A forgiving node leaves a neighbour out of the hop whose message was lost and
// hears it again in the next; a strict one drops it to the end of the step.
func TestForgiving(t *testing.T) {
	m, err := gnn.New(gnn.Config{In: 1, Features: 1, Outputs: 1, Wide: &gnn.WideConfig{Order: 2}})
	if err != nil {
		t.Fatal(err)
	}
	for k, tap := range []float32{1, 10, 100} {
		m.Params.Wide.Taps[k].Set(0, 0, tap)
	}
	m.Params.Readout.Weight.Set(0, 0, 1)
	for _, c := range []struct {
		forgiving bool
		want      float32
	}{
		{false, 10*1 + 100*10},      // Sx = 1 and S²x = 10, of node 2 alone
		{true, 10*1 + 100*(10+100)}, // node 1 is heard in the second hop
	} {
		n := agent.NewNode(0, newPlan(t, agent.PlanConfig{Model: m, Operator: graph.ShiftAdjacency, Forgiving: c.forgiving}), nil)
		var last []float32
		for _, ev := range []agent.Event{
			agent.Begin{Links: []agent.Link{{Node: 1, Weight: 1}, {Node: 2, Weight: 1}}, Row: []float32{0}},
			agent.Receive{Message: &agent.Message{From: 2, To: agent.Everyone, Kind: agent.Row, Values: []float32{1}}},
			agent.Expire{}, // the first row of node 1 was lost
			agent.Receive{Message: &agent.Message{From: 1, To: agent.Everyone, Kind: agent.Row, Exchange: 1, Values: []float32{100}}},
			agent.Receive{Message: &agent.Message{From: 2, To: agent.Everyone, Kind: agent.Row, Exchange: 1, Values: []float32{10}}},
		} {
			r, err := n.Step(ev)
			if err != nil {
				t.Fatal(err)
			}
			if r.Prediction != nil {
				last = slices.Clone(r.Prediction)
			}
		}
		if !slices.Equal(last, []float32{c.want}) {
			t.Errorf("forgiving %v: prediction %v, want %v", c.forgiving, last, c.want)
		}
	}
}
