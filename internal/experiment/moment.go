package experiment

import (
	"fmt"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/rule"
)

// InputMoment returns the second moment of what the wide part of net reads,
// [X SX … SᴷX], at the given rows of samples on the shift s; nil for a network
// without a wide part. Of a trajectory, s is its space-time shift.
//
//	s: R×R   signals: (samples·R)×F, sample by sample   read: rows of a sample; nil means all
func InputMoment(net *gnn.WideDeep, s *mat.CSR, signals mat.Dense, read []int, e *mat.Engine) *rule.Moment {
	if net.Config.Wide == nil {
		return nil
	}
	if read == nil {
		read = make([]int, s.Rows)
		for i := range read {
			read[i] = i
		}
	}
	inputs := (net.Config.Wide.Order + 1) * net.Config.In
	shifter := gnn.Shifter{Engine: e}
	shifted := mat.NewDense(s.Rows, inputs, nil)
	const block = 1024 // rows that are added at once
	rows := mat.NewDense(len(read)*max(block/len(read), 1), inputs, nil)
	m, filled := new(rule.Moment), 0
	for from := 0; from < signals.Rows; from += s.Rows {
		shifter.Shift(shifted, s, signals.View(from, 0, s.Rows, signals.Cols))
		for _, i := range read {
			copy(rows.Row(filled), shifted.Row(i))
			filled++
		}
		if filled == rows.Rows || from+s.Rows == signals.Rows {
			m.Add(rows.View(0, 0, filled, inputs), inputs)
			filled = 0
		}
	}
	return m
}

// Moment returns the second moment of the training signals at the nodes read,
// on the whole graph; nil for a network without a wide part.
func (d *Dataset) Moment(net *gnn.WideDeep, e *mat.Engine) (*rule.Moment, error) {
	s, err := d.shift()
	if err != nil {
		return nil, err
	}
	if !d.Delayed() {
		return InputMoment(net, s, d.Train.signals, d.Read, e), nil
	}
	var read []int
	for t := range d.Steps {
		for _, i := range d.Read {
			read = append(read, t*d.Nodes+i)
		}
	}
	return InputMoment(net, s, d.Train.signals, read, e), nil
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
