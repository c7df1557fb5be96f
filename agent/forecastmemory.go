package agent

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/wdgnn/wdgnn/forecast"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/rule"
)

// ForecastMemory is what a node that forecasts remembers between two steps.
type ForecastMemory struct {
	Sensor *forecast.Memory   `json:"sensor,omitempty"` // nil of a newcomer that has not heard a sensor of training yet
	Season *rule.SeasonMemory `json:"season,omitempty"` // nil if it does not learn by seasons
	Near   *float32           `json:"near,omitempty"`   // of neighbours' readings in the last step, normalised; nil if none was heard
	Late   []PastTruth        `json:"late,omitempty"`   // told since, in the user's units
	Truths []PastTruth        `json:"truths,omitempty"` // of the last steps, normalised; of nodes that learn by other rules
}

// forecastText is a ForecastMemory as JSON has it: of a season, thousands of numbers
// per node, the bytes of rule.SeasonMemory.Numbers, little-endian float64.
type forecastText struct {
	*plainForecast
	Season []byte `json:"season,omitempty"`
}

type plainForecast ForecastMemory

// MarshalJSON writes the season as bytes.
func (m *ForecastMemory) MarshalJSON() ([]byte, error) {
	text := forecastText{plainForecast: (*plainForecast)(m)}
	if m.Season != nil {
		numbers := m.Season.Numbers()
		text.Season = make([]byte, 0, 8*len(numbers))
		for _, v := range numbers {
			text.Season = binary.LittleEndian.AppendUint64(text.Season, math.Float64bits(v))
		}
	}
	return json.Marshal(text)
}

// UnmarshalJSON reads what MarshalJSON writes. Whether it fits a node, Restore says.
func (m *ForecastMemory) UnmarshalJSON(data []byte) error {
	text := forecastText{plainForecast: (*plainForecast)(m)}
	if err := json.Unmarshal(data, &text); err != nil {
		return err
	}
	m.Season = nil
	if text.Season == nil {
		return nil
	}
	if len(text.Season)%8 != 0 {
		return fmt.Errorf("agent: memory: a season of %d bytes, want 8 for each number", len(text.Season))
	}
	numbers := make([]float64, len(text.Season)/8)
	for k := range numbers {
		numbers[k] = math.Float64frombits(binary.LittleEndian.Uint64(text.Season[8*k:]))
	}
	season, err := rule.SeasonOf(numbers)
	m.Season = &season
	return err
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
	if f.season != nil {
		s := f.season.Memory()
		m.Season = &s
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

// recall returns what a node has that remembers m after the step of the given time,
// nil if the node does not forecast. A memory that says nothing of it, as seeds may,
// leaves the node with what it began with.
func (n *Node) recall(m *ForecastMemory, time uint64) (*forecasting, error) {
	f := newForecasting(n.id, n.plan)
	switch {
	case m == nil:
		return f, nil
	case f == nil:
		return nil, errors.New("the memory is of a node that forecasts, and this one does not")
	}
	if err := f.restore(m); err != nil {
		return nil, err
	}
	f.at, f.heard, f.near = time, m.Near != nil, 0
	if m.Near != nil {
		f.near = *m.Near
	}
	return f, nil
}

// restore puts back what m says.
func (f *forecasting) restore(m *ForecastMemory) error {
	if m.Sensor == nil {
		if f.sensor != nil || m.Season != nil {
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
	if (m.Season != nil) != (f.season != nil) {
		return fmt.Errorf("the memory has seasons: %v, the plan learns them: %v", m.Season != nil, f.season != nil)
	}
	if f.season != nil {
		if err := f.season.Restore(*m.Season); err != nil {
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
