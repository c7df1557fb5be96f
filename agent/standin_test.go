package agent_test

import (
	"math"
	"slices"
	"testing"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
)

// couple returns node 0 of two, with a filter y = x_0 + 10 x_1, that goes on with rows up
// to stale steps old.
func couple(t *testing.T, stale int) *agent.Node {
	t.Helper()
	m, err := gnn.New(gnn.Config{In: 1, Features: 1, Outputs: 1, Wide: &gnn.WideConfig{Order: 1}})
	if err != nil {
		t.Fatal(err)
	}
	m.Params.Wide.Taps[0].Set(0, 0, 1)
	m.Params.Wide.Taps[1].Set(0, 0, 10)
	m.Params.Readout.Weight.Set(0, 0, 1)
	return agent.NewNode(0, newPlan(t, agent.PlanConfig{Model: m, Operator: graph.ShiftAdjacency, Forgiving: true, Stale: stale}), nil)
}

// playCouple lets node 0 observe 1 in each step, and node 1 say the given rows; NaN
// stands for one that is lost. It returns what node 0 predicts.
func playCouple(t *testing.T, n *agent.Node, said []float32) (answers []float32) {
	t.Helper()
	step := func(ev agent.Event) {
		r, err := n.Step(ev)
		if err != nil {
			t.Fatal(err)
		}
		if r.Prediction != nil {
			answers = append(answers, r.Prediction[0])
		}
	}
	for time, x := range said {
		step(agent.Begin{Time: uint64(time), Links: []agent.Link{{Node: 1, Weight: 1}}, Row: []float32{1}})
		if x == x {
			step(agent.Receive{Message: &agent.Message{
				From: 1, To: agent.Everyone, Time: uint64(time), Kind: agent.Row, Links: 1, Degree: 1, Values: []float32{x},
			}})
		} else {
			step(agent.Expire{})
		}
		step(agent.Feedback{})
	}
	return answers
}

var lost = float32(math.NaN())

// A signal that changes slowly: the last row stands in for one that does not come, up
// to so many steps. Then the link counts as dropped.
func TestOldRowStandsIn(t *testing.T) {
	n := couple(t, 2)
	got := playCouple(t, n, []float32{2, 2.5, lost, lost, lost, 3})
	if want := []float32{21, 26, 26, 26, 1, 31}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if s := n.Stats(); s.Aged != 2 || s.Expired != 1 {
		t.Errorf("got %d old rows and %d dropped links, want 2 and 1", s.Aged, s.Expired)
	}
}

// A signal that is another one in every step: old rows are farther from what comes than
// nothing is, and are left out.
func TestOldRowLeftOut(t *testing.T) {
	n := couple(t, 2)
	got := playCouple(t, n, []float32{2, -2, 2, lost, 3})
	if want := []float32{21, -19, 21, 1, 31}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if s := n.Stats(); s.Aged != 0 || s.Expired != 1 {
		t.Errorf("got %d old rows and %d dropped links, want 0 and 1", s.Aged, s.Expired)
	}
}

// The row for which an old one stood in, or would have, comes after the answer. It is
// another one, and its sender did not contradict itself.
func TestTruthAfterOldRow(t *testing.T) {
	for name, said := range map[string][]float32{"stood in": {2, 2.5, 2.5}, "left out": {2, -2, 2}} {
		n := couple(t, 2)
		playCouple(t, n, said)
		for _, ev := range []agent.Event{
			agent.Begin{Time: 3, Links: []agent.Link{{Node: 1, Weight: 1}}, Row: []float32{1}},
			agent.Expire{},
			agent.Receive{Message: &agent.Message{
				From: 1, To: agent.Everyone, Time: 3, Kind: agent.Row, Links: 1, Degree: 1, Values: []float32{7},
			}},
		} {
			if _, err := n.Step(ev); err != nil {
				t.Errorf("an old row %s: %T: got %v, want no error", name, ev, err)
			}
		}
	}
}

// Without Stale nothing stands in.
func TestNoOldRows(t *testing.T) {
	got := playCouple(t, couple(t, 0), []float32{2, 2, lost})
	if want := []float32{21, 21, 1}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// A row that comes too late for its step, even after the answer, is remembered.
func TestLateRowRemembered(t *testing.T) {
	n := couple(t, 1)
	playCouple(t, n, []float32{2, 2, lost})
	late := &agent.Message{From: 1, To: agent.Everyone, Time: 2, Kind: agent.Row, Links: 1, Degree: 1, Values: []float32{4}}
	if _, err := n.Step(agent.Receive{Message: late}); err != nil {
		t.Fatal(err)
	}
	if _, err := n.Step(agent.Begin{Time: 3, Links: []agent.Link{{Node: 1, Weight: 1}}, Row: []float32{1}}); err != nil {
		t.Fatal(err)
	}
	if !n.Recalls(1) {
		t.Fatal("the row that came late is not remembered, want it")
	}
	r, err := n.Step(agent.Expire{})
	if err != nil || len(r.Prediction) != 1 || r.Prediction[0] != 41 {
		t.Errorf("got %v, %v, want 41", r.Prediction, err)
	}
}
