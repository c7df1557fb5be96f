package swarm

import (
	"fmt"
	"slices"

	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/transport"
)

// Verification is how a swarm compares with online.Consensus, which ran the
// same steps in one process.
type Verification struct {
	SameOutputs int    `json:"same_outputs"` // steps in which every output had the same bits
	Steps       int    `json:"steps"`
	SameParams  int    `json:"same_params"` // nodes whose parameters had the same bits at the end
	Nodes       int    `json:"nodes"`
	First       string `json:"first_difference,omitempty"`
}

// Same says whether everything had the same bits.
func (v *Verification) Same() bool {
	return v.SameOutputs == v.Steps && v.SameParams == v.Nodes && v.Nodes > 0
}

// verifier runs online.Consensus beside a swarm.
type verifier struct {
	learner *online.Consensus
	series  *seriesWorld // of nodes that forecast, in the place of a learner
	y       mat.Dense
	Verification
}

func newVerifier(t *Task) (*verifier, error) {
	if w, ok := t.World.(*seriesWorld); ok {
		return &verifier{series: w, Verification: Verification{Nodes: t.Nodes}}, nil
	}
	settings := t.observed()
	settings.Read, settings.HopByHop = nil, true
	o, err := online.NewObserver(t.model.Network, settings)
	if err != nil {
		return nil, err
	}
	l, err := online.NewConsensus(o, t.rule)
	if err != nil {
		return nil, err
	}
	if t.seed != nil {
		if err := l.Restore(*t.seed); err != nil {
			return nil, err
		}
	}
	return &verifier{learner: l, y: mat.NewDense(t.Nodes, t.model.Network.Outputs(), nil), Verification: Verification{Nodes: t.Nodes}}, nil
}

// step takes the step that the swarm took.
func (v *verifier) step(m *Step) error {
	if v.series != nil {
		v.judge(m, v.series.expected)
		return nil
	}
	if err := v.learner.Observe(m.Sample); err != nil {
		return err
	}
	if err := v.learner.Predict(v.y); err != nil {
		return err
	}
	v.judge(m, v.y.Row)
	return v.learner.Update(m.told())
}

// judge compares what nodes answered at a step with what is expected of each.
func (v *verifier) judge(m *Step, expected func(i int) []float32) {
	v.Steps++
	same := true
	for i := range m.Outputs.Rows {
		if got, want := m.Outputs.Row(i), expected(i); !sameNumbers(got, want) {
			same = false
			if v.First == "" {
				v.First = fmt.Sprintf("step %d, node %d: the swarm says %v, one process %v", m.Sample.Time, i, got, want)
			}
		}
	}
	if same {
		v.SameOutputs++
	}
}

// compare compares the parameters that the hosts reported last.
func (v *verifier) compare(final map[transport.HostID]*host.Report) {
	v.SameParams = 0
	for _, r := range final {
		for node, params := range r.Params {
			if slices.Equal(params, v.learner.Params(int(node))) {
				v.SameParams++
			} else if v.First == "" {
				v.First = fmt.Sprintf("at the end, node %d: the swarm has parameters %v, one process %v", node, params, v.learner.Params(int(node)))
			}
		}
	}
}
