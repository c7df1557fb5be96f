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
	y       mat.Dense
	Verification
}

func newVerifier(t *Task) (*verifier, error) {
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
	if err := v.learner.Observe(m.Sample); err != nil {
		return err
	}
	if err := v.learner.Predict(v.y); err != nil {
		return err
	}
	v.Steps++
	same := true
	for i := range v.y.Rows {
		if got, want := m.Outputs.Row(i), v.y.Row(i); !slices.Equal(got, want) {
			same = false
			if v.First == "" {
				v.First = fmt.Sprintf("step %d, node %d: the swarm says %v, one process %v", m.Sample.Time, i, got, want)
			}
		}
	}
	if same {
		v.SameOutputs++
	}
	return v.learner.Update(m.told())
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
