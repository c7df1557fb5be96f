package agent_test

import (
	"errors"
	"reflect"
	"testing"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/agent/agenttest"
	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/rule"
)

// newLine returns agents in a line that pass answers on over two hops, and do not
// mix: what they learn comes from answers alone.
func newLine(t *testing.T, nodes, relay int) (*agenttest.Swarm, *graph.Graph) {
	t.Helper()
	m, err := gnn.New(gnn.Config{In: 1, Features: 2, Outputs: 2, Wide: &gnn.WideConfig{Order: 1}})
	if err != nil {
		t.Fatal(err)
	}
	for k := range m.Params.Readout.Weight.Data {
		m.Params.Readout.Weight.Data[k] = float32(1 - 2*(k%2))
	}
	f, err := rule.NewBasis(rule.BasisConfig{Inputs: 2, Features: 2, Gain: 1, Readout: m.Params.Readout.Weight})
	if err != nil {
		t.Fatal(err)
	}
	p := &agent.Plan{
		Model: m, Operator: graph.ShiftAdjacency, Cost: loss.CrossEntropy{}, Basis: f,
		Rule: &rule.Config{StepSize: rule.StepSize{Value: 0.5}, Relay: relay},
	}
	if err := p.Validate(); err != nil {
		t.Fatal(err)
	}
	var edges []graph.Edge
	for i := range nodes - 1 {
		edges = append(edges, graph.Edge{From: i, To: i + 1, Weight: 1})
	}
	g, err := graph.FromEdges(nodes, edges, false)
	if err != nil {
		t.Fatal(err)
	}
	return agenttest.New(nodes, p), g
}

// lineStep takes a step in which node i is told labels[i].
func lineStep(t *testing.T, s *agenttest.Swarm, g *graph.Graph, time uint64, labels ...int32) {
	t.Helper()
	x := mat.NewDense(len(s.Nodes), 1, nil)
	for i := range s.Nodes {
		x.Set(i, 0, 1)
	}
	begin(t, s, time, g, x)
	if err := s.Feedback(loss.CrossEntropy{Labels: labels}); err != nil {
		t.Fatal(err)
	}
}

const none = loss.NoLabel

// What node 0 is told reaches node 1 a step later and node 2 after two, and nobody
// else; each learns from it once, and what was passed on is counted with its bytes.
func TestRelay(t *testing.T) {
	s, g := newLine(t, 4, 2)
	var learned [4][]uint64
	for step := range uint64(4) {
		labels := []int32{none, none, none, none}
		if step == 0 {
			labels[0] = 1
		}
		lineStep(t, s, g, step, labels...)
		for i, n := range s.Nodes {
			if n.Params()[0] != 0 && len(learned[i]) == 0 {
				learned[i] = append(learned[i], step)
			}
		}
	}
	if want := [4][]uint64{{0}, {1}, {2}, nil}; !reflect.DeepEqual(learned, want) {
		t.Errorf("nodes learned first in steps %v, want %v", learned, want)
	}
	var all agent.Stats
	for _, n := range s.Nodes {
		all.Add(n.Stats())
	}
	if all.Believed != 2 || all.Relayed != 2 || all.RelayedBytes != 2*44 || all.Doubled != 0 || all.Contradicted != 0 || all.Late != 2 {
		t.Errorf("counted %+v, want two answers believed, passed on twice in 88 bytes", all)
	}
}

// Nodes 0 and 2 are told different things: node 1 goes by node 0, whose number is
// lower, both ends by what they are told themselves, and contradictions are
// counted.
func TestRelayContradiction(t *testing.T) {
	s, g := newLine(t, 3, 2)
	lineStep(t, s, g, 0, 1, none, 0)
	lineStep(t, s, g, 1, none, none, none)
	lineStep(t, s, g, 2, none, none, none)
	x := func(i int) float32 { return s.Nodes[i].Params()[0] }
	if x(0) == 0 || x(1)*x(0) <= 0 || x(2)*x(0) >= 0 {
		t.Errorf("parameters begin with %v, %v and %v, want the first two on one side", x(0), x(1), x(2))
	}
	if c := s.Nodes[1].Stats().Contradicted; c != 1 {
		t.Errorf("node 1 counted %d contradictions, want 1", c)
	}
	if c := s.Nodes[2].Stats().Contradicted; c != 1 { // node 1 passes on what node 0 was told
		t.Errorf("node 2 counted %d contradictions, want 1", c)
	}
}

// A node that is restored in the middle goes on to pass on and to learn.
func TestRelayMemory(t *testing.T) {
	whole, g := newLine(t, 4, 2)
	parts, _ := newLine(t, 4, 2)
	play := func(s *agenttest.Swarm, from, to uint64) {
		for step := from; step < to; step++ {
			lineStep(t, s, g, step, int32(step%2), none, none, none)
		}
	}
	play(whole, 0, 6)
	play(parts, 0, 3)
	again, _ := newLine(t, 4, 2)
	for i, n := range parts.Nodes {
		if err := again.Nodes[i].Restore(n.Memory()); err != nil {
			t.Fatal(err)
		}
	}
	play(again, 3, 6)
	for i, n := range whole.Nodes {
		if got, want := again.Nodes[i].Memory(), n.Memory(); !reflect.DeepEqual(got, want) {
			t.Errorf("node %d: got %+v, want %+v", i, got, want)
		}
	}
	bad := whole.Nodes[1].Memory()
	bad.Relay.Steps[0].Hop = 9
	if err := again.Nodes[1].Restore(bad); err == nil {
		t.Error("a hop of 9 is restored, want an error")
	}
}

// Answers that no honest neighbour passes on are refused: of classes that there
// are not, from too far, of steps to come, or where nobody passes any on.
func TestRelayRefuses(t *testing.T) {
	s, g := newLine(t, 3, 2)
	off, _ := newLine(t, 3, 0)
	lineStep(t, s, g, 0, none, none, none)
	lineStep(t, off, g, 0, none, none, none)
	good := agent.Message{From: 0, To: agent.Everyone, Time: 1, Kind: agent.Relay, Exchange: 1, About: 0, Values: []float32{1}}
	if _, err := s.Nodes[1].Step(agent.Receive{Message: &good}); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(m *agent.Message){
		"class 2 of 2":    func(m *agent.Message) { m.Values = []float32{2} },
		"no class":        func(m *agent.Message) { m.Values = nil },
		"hop 0":           func(m *agent.Message) { m.Exchange = 0 },
		"hop 3":           func(m *agent.Message) { m.Exchange = 3 },
		"of this step":    func(m *agent.Message) { m.About = 1 },
		"half a class":    func(m *agent.Message) { m.Values = []float32{0.5} },
		"class minus one": func(m *agent.Message) { m.Values = []float32{-1} },
	} {
		m := good
		change(&m)
		if _, err := s.Nodes[1].Step(agent.Receive{Message: &m}); !errors.Is(err, agent.ErrMalformed) {
			t.Errorf("%s: got %v, want ErrMalformed", name, err)
		}
	}
	if _, err := off.Nodes[1].Step(agent.Receive{Message: &good}); !errors.Is(err, agent.ErrMalformed) {
		t.Errorf("a plan without relays: got %v, want ErrMalformed", err)
	}
}

// A neighbour whose row came, but not all answers that it announced, is waited for
// and asked; when the node gives up, the row counts all the same.
func TestRelayLost(t *testing.T) {
	s, g := newLine(t, 2, 1)
	lineStep(t, s, g, 0, 1, none)
	s.Fate = func(m *agent.Message, _ agent.NodeID) int {
		if m.Kind == agent.Relay {
			return 0
		}
		return 1
	}
	if err := s.Begin(1, g, mat.NewDense(2, 1, []float32{1, 1})); err != nil {
		t.Fatal(err)
	}
	if err := s.RunToQuiet(); err != nil {
		t.Fatal(err)
	}
	if missing := s.Nodes[1].Missing(nil); len(missing) != 1 {
		t.Fatalf("node 1 waits for %v, want node 0, whose answer was lost", missing)
	}
	if err := s.Step(1, agent.Expire{}); err != nil {
		t.Fatal(err)
	}
	if n := s.Nodes[1].Stats(); n.Predicted != 2 || n.Expired != 0 {
		t.Errorf("node 1 counted %+v, want a second prediction and no link given up", n)
	}
}
