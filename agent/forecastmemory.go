package agent

import (
	"errors"
	"fmt"
	"slices"

	"github.com/wdgnn/wdgnn/forecast"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/rule"
)

// ForecastMemory is what a node that forecasts remembers between two steps.
type ForecastMemory struct {
	Sensor *forecast.Memory `json:"sensor,omitempty"` // nil of a newcomer that has not heard a sensor of training yet
	Near   *float32         `json:"near,omitempty"`   // of neighbours' readings in the last step, normalised; nil if none was heard
	Late   []PastTruth      `json:"late,omitempty"`   // told since, in the user's units
	Truths []PastTruth      `json:"truths,omitempty"` // of the last steps, normalised; of nodes that learn by other rules
}

// memory returns a copy of what is remembered after a step.
func (f *forecasting) memory(time uint64) *ForecastMemory {
	if f == nil {
		return nil
	}
	m := &ForecastMemory{Late: slices.Clone(f.late)}
	if f.sensor != nil {
		s := f.sensor.Memory()
		m.Sensor = &s
	}
	if f.heard && f.at == time {
		near := f.near
		m.Near = &near
	}
	for k := range f.truths {
		if t := &f.truths[k]; t.known {
			m.Truths = append(m.Truths, t.PastTruth)
		}
	}
	return m
}

// recall returns what a node has with such a memory, nil if it does not forecast. A
// memory that says nothing of it, as seeds may, leaves the node with what it began with.
func (n *Node) recall(of *Memory) (*forecasting, error) {
	f, m := newForecasting(n.id, n.plan), of.Forecast
	switch {
	case m == nil:
		return f, nil
	case f == nil:
		return nil, errors.New("the memory is of a node that forecasts, and this one does not")
	}
	if err := f.restore(m, of.State); err != nil {
		return nil, err
	}
	f.at, f.heard, f.near = of.Time, m.Near != nil, 0
	if m.Near != nil {
		f.near = *m.Near
	}
	return f, nil
}

// restore puts back what m says.
func (f *forecasting) restore(m *ForecastMemory, state rule.State) error {
	if m.Sensor == nil {
		if f.sensor != nil {
			return errors.New("the memory of a node that forecasts has no sensor")
		}
		return nil
	}
	if f.sensor == nil {
		if m.Sensor.Norm == nil {
			return errors.New("the memory of a newcomer does not say what is known of its sensor")
		}
		f.join(*m.Sensor.Norm)
		f.fresh()
	}
	if err := f.sensor.Restore(*m.Sensor); err != nil {
		return err
	}
	f.latest, f.started = m.Sensor.Step, m.Sensor.Started
	if f.season != nil {
		if state == nil {
			return errors.New("the memory has no seasons, which the plan learns")
		}
		if err := f.season.Restore(state); err != nil {
			return err
		}
	}
	for _, t := range slices.Concat(m.Late, m.Truths) {
		if !mat.Finite(t.Value) {
			return fmt.Errorf("the truth of step %d is %v", t.Time, t.Value)
		}
	}
	f.late = append(f.late[:0], m.Late[:min(len(m.Late), f.plan.lateness()+1)]...)
	if f.truths != nil {
		for _, t := range m.Truths {
			f.truths[t.Time%uint64(len(f.truths))] = pastTruth{t, true}
		}
	}
	if m.Near != nil && !mat.Finite(*m.Near) {
		return fmt.Errorf("the mean of neighbours' readings is %v", *m.Near)
	}
	return nil
}
