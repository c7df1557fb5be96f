package agent_test

import (
	"slices"
	"testing"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/agent/agenttest"
)

// Nodes that are reset have the parameters of the model again, keep their time
// and counts, and learn on.
func TestReset(t *testing.T) {
	for _, v := range variants() {
		t.Run(v.name, func(t *testing.T) {
			const steps = 4
			tr := newTrial(t, v, 5, steps)
			s := agenttest.New(tr.nodes, tr.plan)
			trained := agent.NewNode(0, tr.plan, nil).Params()
			for k := range steps {
				tr.play(t, s, k, uint64(k))
				learned := slices.ContainsFunc(s.Nodes, func(n *agent.Node) bool { return !slices.Equal(n.Params(), trained) })
				if k%2 == 1 && trained != nil && !learned {
					t.Errorf("step %d: nobody has learned anything", k)
				}
				if k != 1 {
					continue
				}
				for i, n := range s.Nodes {
					before := n.Stats()
					n.Reset()
					if got := n.Params(); !slices.Equal(got, trained) {
						t.Errorf("node %d: got %v, want %v", i, got, trained)
					}
					if n.Time() != 1 || n.Stats() != before {
						t.Errorf("node %d: time %d and counts %+v, want 1 and %+v", i, n.Time(), n.Stats(), before)
					}
				}
			}
		})
	}
}
