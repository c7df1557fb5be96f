package agent_test

import (
	"testing"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/agent/agenttest"
	"github.com/wdgnn/wdgnn/rule"
)

// Agents and the in-process learner leave the same neighbours out of their
// mixtures, and have the same bits with one whose parameters are absurd.
// Reference: Section 3, eq. (9).
func TestOutlierSameBits(t *testing.T) {
	paper := rule.Paper(false).Ungated()
	paper.StepSize.Value, paper.Limit = 0.2, 1e12
	for _, v := range variants()[:2] {
		v.rule = &paper
		t.Run(v.name, func(t *testing.T) {
			const absurd = 4
			tr := newTrial(t, v, 1, 6)
			s := agenttest.New(tr.nodes, tr.plan)
			all := tr.consensus.Snapshot()
			params := all.Nodes[absurd].Params()
			for e := range params {
				params[e] = 1e6
			}
			if err := tr.consensus.Restore(all); err != nil {
				t.Fatal(err)
			}
			for i, n := range s.Nodes {
				if err := n.Restore(agent.Memory{Node: agent.NodeID(i), State: all.Nodes[i]}); err != nil {
					t.Fatal(err)
				}
			}
			left := uint64(0)
			for k := range 6 {
				tr.play(t, s, k, uint64(k)+1)
				tr.sameBits(t, k, s, tr.step(t, k))
			}
			for i, n := range s.Nodes {
				left += n.Stats().LeftOut
				for _, x := range n.Params() {
					if i != absurd && (x > 1e3 || x < -1e3) {
						t.Fatalf("node %d: parameters %v, want none of node %d's", i, n.Params(), absurd)
					}
				}
			}
			if left == 0 {
				t.Error("nobody was left out")
			}
		})
	}
}
