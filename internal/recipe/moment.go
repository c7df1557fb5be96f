package recipe

import (
	"fmt"

	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/rule"
)

// PutMoment stores a second moment in a model file, with those of single nodes;
// nil stores nothing.
func PutMoment(file *modelfile.Model, m *rule.SecondMoment) {
	if m == nil {
		return
	}
	file.SetMoment(modelfile.Float64s{Rows: m.Inputs + 1, Cols: m.Inputs + 1, Data: m.Mean}, m.Count)
	heard := map[int]modelfile.Heard{}
	for i, h := range m.Heard {
		heard[i] = modelfile.Heard{Neighbors: h.Neighbors, Moment: h.Moment}
	}
	file.SetHeard(heard)
}

// MomentOf returns the second moment that a model file holds, with those of
// single nodes; nil if it holds none.
func MomentOf(file *modelfile.Model) (*rule.SecondMoment, error) {
	mean, count, found := file.Moment()
	if !found {
		return nil, nil
	}
	m := &rule.SecondMoment{Inputs: mean.Rows - 1, Mean: mean.Data, Count: count}
	if err := m.Validate(); err != nil {
		return nil, fmt.Errorf("tensor online.moment: %w", err)
	}
	return m, hearAgain(m, file)
}

// hearAgain adds what single nodes heard in training.
func hearAgain(m *rule.SecondMoment, file *modelfile.Model) error {
	if file.Network.Config.Wide == nil {
		return nil
	}
	shape := online.NewHearing(file.Network, nil)
	heard, err := file.Heard(shape.Inputs, shape.Hops*shape.Features)
	if err != nil || heard == nil {
		return err
	}
	m.Heard = map[int]*rule.Hearing{}
	for i, h := range heard {
		m.Heard[i] = online.NewHearing(file.Network, h.Neighbors)
		m.Heard[i].Moment = h.Moment
	}
	if err := m.Validate(); err != nil {
		return fmt.Errorf("tensors online.heard: %w", err)
	}
	return nil
}
