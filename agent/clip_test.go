package agent_test

import (
	"testing"

	"github.com/wdgnn/wdgnn/agent/agenttest"
	"github.com/wdgnn/wdgnn/rule"
)

// lie overwrites parameters with ±100.
func lie(x []float32) {
	for e := range x {
		x[e] = float32(100 - 200*(e%2))
	}
}

// One neighbour that says ±100 at every step moves nobody who clips, and far more
// those who do not. Agents and the in-process learner have the same bits, and
// Stats.Clipped tells that somebody stands out.
// Reference: Section 3, eq. (9).
func TestLyingNeighbour(t *testing.T) {
	const liar, steps = 4, 12
	pulled := map[rule.Clip]float64{}
	for _, clip := range []rule.Clip{rule.ClipOff, rule.ClipMedian, rule.ClipTrimmed} {
		config := rule.Personal(5)
		config.StepSize.Value, config.Mixing, config.Clip, config.Outlier = 0.1, 0.3, clip, -1
		v := variants()[1]
		v.rule = &config
		tr := newTrial(t, v, 1, steps)
		s := agenttest.New(tr.nodes, tr.plan)
		clipped := uint64(0)
		for k := range steps {
			lie(tr.consensus.Params(liar))
			lie(s.Nodes[liar].Params())
			tr.play(t, s, k, uint64(k)+1)
			tr.sameBits(t, k, s, tr.step(t, k))
		}
		for i, n := range s.Nodes {
			if i != liar {
				pulled[clip] = max(pulled[clip], tr.consensus.Basis().Distance(n.Params(), nil))
				clipped += n.Stats().Clipped
			}
		}
		if (clipped > 0) != (clip != rule.ClipOff) {
			t.Errorf("clip %v: %d clipped", clip, clipped)
		}
	}
	if off := pulled[rule.ClipOff]; off < 5*pulled[rule.ClipMedian] || off < 5*pulled[rule.ClipTrimmed] {
		t.Errorf("parameters as far as %v, want those without clipping five times as far as others", pulled)
	}
}
