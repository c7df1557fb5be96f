package agent_test

import (
	"slices"
	"testing"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/agent/agenttest"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/random"
)

// named returns the variant of that name.
func named(t *testing.T, name string) variant {
	t.Helper()
	list := variants()
	at := slices.IndexFunc(list, func(v variant) bool { return v.name == name })
	if at < 0 {
		t.Fatalf("no variant is called %q", name)
	}
	return list[at]
}

// traffic plays a trial and returns how many messages were sent, and how many
// numbers in them.
func traffic(t *testing.T, v variant) (messages, numbers int) {
	t.Helper()
	const steps = 7
	tr := newTrial(t, v, 4, steps)
	s := agenttest.New(tr.nodes, tr.plan)
	s.Fate = func(m *agent.Message, _ agent.NodeID) int {
		messages++
		numbers += len(m.Values)
		return 1
	}
	for k := range steps {
		tr.play(t, s, k, uint64(k))
	}
	return messages, numbers
}

// Weighting neighbours one by one takes no message and no number more than the
// model that does not learn: what they send for the filter is enough. Learning by
// consensus sends parameters beside.
func TestHeardSendsNothing(t *testing.T) {
	heard := named(t, "two layers, heard")
	frozen, personal := heard, heard
	frozen.rule, personal.rule = nil, named(t, "two layers, personal").rule
	messages, numbers := traffic(t, heard)
	if m, n := traffic(t, frozen); messages != m || numbers != n {
		t.Errorf("heard sends %d messages of %d numbers, the model as trained %d of %d; want as many", messages, numbers, m, n)
	}
	if m, n := traffic(t, personal); messages != m || numbers >= n {
		t.Errorf("heard sends %d messages of %d numbers, personal %d of %d; want as many messages of fewer numbers", messages, numbers, m, n)
	}
}

// A neighbour whose message was lost is imputed, at the hop where it was lost, and
// learning goes on.
func TestHeardWithLostMessages(t *testing.T) {
	const steps = 12
	for seed := range uint64(4) {
		tr := newTrial(t, named(t, "filter, heard"), seed, steps)
		tr.plan.Forgiving = seed < 2
		s := agenttest.New(tr.nodes, tr.plan)
		rng := random.Stream(seed, "losses")
		s.Fate = func(*agent.Message, agent.NodeID) int { return min(rng.IntN(5), 1) }
		lost := 0
		for k := range steps {
			if err := s.Begin(uint64(k), tr.graphs[k/3], tr.samples[k].Signal); err != nil {
				t.Fatal(err)
			}
			n, err := s.Expire()
			if err != nil {
				t.Fatal(err)
			}
			lost += n
			for i := range tr.nodes {
				if !mat.Finite(s.Outputs().Row(i)...) {
					t.Fatalf("seed %d, step %d: node %d answers %v", seed, k, i, s.Outputs().Row(i))
				}
			}
			if err := s.Feedback(tr.costs[k]); err != nil {
				t.Fatal(err)
			}
		}
		if lost == 0 {
			t.Error("no message was lost: the test shows nothing")
		}
		moved := 0
		for i, n := range s.Nodes {
			if n.Stats().Diverged != 0 {
				t.Errorf("seed %d: node %d diverged", seed, i)
			}
			if slices.ContainsFunc(n.Params(), func(v float32) bool { return v != 0 }) {
				moved++
			}
		}
		if moved < 6 { // those that are told answers
			t.Errorf("seed %d: %d nodes learned, want 6", seed, moved)
		}
	}
}
