package swarm

import (
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/online"
)

// frozen runs the model as trained beside a swarm that is asked for classes, on
// the same samples.
type frozen struct {
	model *online.Observer
	y     mat.Dense
	meter online.Meter
}

func newFrozen(t *Task) (*frozen, error) {
	o, err := online.NewObserver(t.model.Network, online.Config{Nodes: t.Nodes, Read: t.model.Meta.Nodes, Delayed: t.model.Meta.Delayed})
	if err != nil {
		return nil, err
	}
	return &frozen{model: o, y: mat.NewDense(t.Nodes, t.model.Network.Outputs(), nil)}, nil
}

// step takes the step that the swarm took.
func (f *frozen) step(m *Step) error {
	if _, ok := m.Cost.(loss.CrossEntropy); !ok {
		return nil
	}
	if err := f.model.Observe(m.Sample); err != nil {
		return err
	}
	if err := f.model.Predict(f.y); err != nil {
		return err
	}
	f.meter.Watch(f.y, m.Cost)
	return f.model.Update(m.Cost)
}
