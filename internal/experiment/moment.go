package experiment

import (
	"fmt"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/rule"
)

// Moment returns the second moment of the training signals at the nodes read,
// on the whole graph; nil for a network without a wide part.
func (d *Dataset) Moment(net *gnn.WideDeep, e *mat.Engine) (*rule.Moment, error) {
	s, err := d.shift()
	if err != nil {
		return nil, err
	}
	if !d.Delayed() {
		return online.InputMoment(net, s, d.Train.signals, d.Read, e), nil
	}
	var read []int
	for t := range d.Steps {
		for _, i := range d.Read {
			read = append(read, t*d.Nodes+i)
		}
	}
	return online.InputMoment(net, s, d.Train.signals, read, e), nil
}

// shift returns S of the whole graph, of trajectories that of space and time.
func (d *Dataset) shift() (*mat.CSR, error) {
	if d.Delayed() {
		return d.spaceTime, nil
	}
	return d.Shift.Of(d.graph)
}

// PutMoment stores a second moment in a model file; nil stores nothing.
func PutMoment(file *modelfile.Model, m *rule.Moment) {
	if m != nil {
		file.SetMoment(modelfile.Float64s{Rows: m.Inputs + 1, Cols: m.Inputs + 1, Data: m.Mean}, m.Count)
	}
}

// MomentOf returns the second moment that a model file holds, nil if it holds
// none.
func MomentOf(file *modelfile.Model) (*rule.Moment, error) {
	mean, count, found := file.Moment()
	if !found {
		return nil, nil
	}
	m := &rule.Moment{Inputs: mean.Rows - 1, Mean: mean.Data, Count: count}
	if err := m.Validate(); err != nil {
		return nil, fmt.Errorf("tensor online.moment: %w", err)
	}
	return m, nil
}
