package agent_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/wdgnn/wdgnn/agent/agenttest"
	"github.com/wdgnn/wdgnn/conformal"
	"github.com/wdgnn/wdgnn/rule"
)

// Agents give their answers the bounds that the in-process learner gives them, and
// count alike how they turn out; answers and parameters are those of a run without.
func TestSwarmBounds(t *testing.T) {
	const steps = 30
	for _, gated := range []bool{false, true} {
		v := variants()[1]
		plain, sure := *v.rule, *v.rule
		if gated {
			plain.Gate, sure.Gate = &rule.Gate{}, &rule.Gate{}
		}
		sure.Conformal = &conformal.Config{Coverage: 0.7, Classes: true, Window: 12}
		v.rule = &plain
		without := newTrial(t, v, 1, steps)
		v.rule = &sure
		tr := newTrial(t, v, 1, steps)
		s := agenttest.New(tr.nodes, tr.plan)
		for k := range steps {
			tr.play(t, s, k, uint64(k)+1)
			tr.sameBits(t, k, s, tr.step(t, k))
			if want := without.step(t, k); !slices.Equal(s.Outputs().Data, want.Data) {
				t.Fatalf("step %d: answers with bounds are others than without", k)
			}
			for i, n := range s.Nodes {
				if got, want := n.Bounds(), tr.consensus.Bounds(i); !reflect.DeepEqual(got, want) || len(want) != 1 {
					t.Fatalf("step %d: node %d: got bounds %v, want %v", k, i, got, want)
				}
				if got, want := n.Meter(), tr.consensus.Meter(i); got != want {
					t.Fatalf("step %d: node %d: got %+v, want %+v", k, i, got, want)
				}
			}
		}
		if m := s.Nodes[1].Meter(); m.Judged == 0 || s.Nodes[1].Bounds()[0].Unknown() {
			t.Errorf("gated %t: got %+v and bounds %v, want something known after %d steps", gated, m, s.Nodes[1].Bounds(), steps)
		}
	}
}
