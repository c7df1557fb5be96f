package swarm

import (
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/online"
)

// frozen runs the model as trained beside a swarm whose answers do not change the
// world, on the same samples.
type frozen struct {
	model *online.Observer
	y     mat.Dense
	meter online.Meter

	series *seriesWorld // of nodes that forecast, in the place of a model
}

func newFrozen(t *Task) (*frozen, error) {
	if w, ok := t.World.(*seriesWorld); ok {
		return &frozen{series: w}, nil
	}
	o, err := online.NewObserver(t.model.Network, t.observed())
	if err != nil {
		return nil, err
	}
	return &frozen{model: o, y: mat.NewDense(t.Nodes, t.model.Network.Outputs(), nil)}, nil
}

// step takes the step that the swarm took.
func (f *frozen) step(m *Step) error {
	if f.series != nil {
		if m.Known {
			f.meter.Watch(mat.Dense{}, judged(f.series.trained))
		}
		return nil
	}
	if err := f.model.Observe(m.Sample); err != nil {
		return err
	}
	if err := f.model.Predict(f.y); err != nil {
		return err
	}
	if m.Known {
		f.meter.Watch(f.y, m.Cost)
	}
	return f.model.Update(m.Cost)
}
