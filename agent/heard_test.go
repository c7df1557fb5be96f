package agent_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/agent/agenttest"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/rule"
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
	heard := named(t, "two layers, neighbours")
	frozen, personal := heard, heard
	frozen.rule, personal.rule = nil, named(t, "two layers, paper").rule
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
		tr := newTrial(t, named(t, "filter, neighbours"), seed, steps)
		c := tr.plan.PlanConfig
		c.Forgiving = seed < 2
		s := agenttest.New(tr.nodes, newPlan(t, c))
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

// Answers that come two steps late are learned from with the rows that they were
// made with, gaps and all, by agents and in one process, to the same bits, and also
// where everybody is restored from a checkpoint in between.
func TestHeardLate(t *testing.T) {
	const steps, late = 15, 2
	for seed := range uint64(4) {
		v := named(t, "filter, neighbours")
		r := *v.rule
		r.Delay, r.Gate, r.Newton = late, &rule.Gate{}, &rule.Newton{Doubt: 0.1, Fresh: 2}
		v.rule = &r
		tr := newTrial(t, v, seed, steps)
		s := agenttest.New(tr.nodes, tr.plan)
		for k := range steps {
			begin(t, s, uint64(k), tr.graphs[k/3], tr.samples[k].Signal)
			told := loss.Loss(loss.CrossEntropy{Labels: slices.Repeat([]int32{loss.NoLabel}, tr.nodes)})
			for i := range s.Nodes {
				if k >= late {
					told = tr.costs[k-late]
					if err := s.Step(i, agent.Told{Time: uint64(k - late), Loss: told, Index: i}); err != nil {
						t.Fatal(err)
					}
				}
				if err := s.Step(i, agent.Feedback{}); err != nil {
					t.Fatal(err)
				}
			}
			y := mat.NewDense(tr.nodes, tr.model.Outputs(), nil)
			if err := tr.learner.Observe(tr.samples[k]); err != nil {
				t.Fatal(err)
			}
			if err := tr.learner.Predict(y); err != nil {
				t.Fatal(err)
			}
			if err := tr.learner.Update(told); err != nil {
				t.Fatal(err)
			}
			tr.sameBits(t, k, s, y)
			if k%4 == 3 {
				restart(t, tr, s)
			}
		}
	}
}

// restart restores all nodes, and the learner in one process, from what they
// remember.
func restart(t *testing.T, tr *trial, s *agenttest.Swarm) {
	t.Helper()
	for i, n := range s.Nodes {
		text, err := json.Marshal(n.Memory())
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
	if err := tr.learner.Restore(tr.learner.Snapshot()); err != nil {
		t.Fatal(err)
	}
}
