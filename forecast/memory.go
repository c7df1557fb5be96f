package forecast

import (
	"errors"
	"fmt"
	"slices"
)

// Memory is all that a sensor remembers; readings are normalised. Restored into a
// sensor of the same Spec, it goes on with the same bits.
type Memory struct {
	Started   bool      `json:"started"` // something was read, or missed
	Step      uint64    `json:"step"`    // the last one
	Lags      []float32 `json:"lags"`    // the newest first
	Extras    []float32 `json:"extras,omitempty"`
	Estimated bool      `json:"estimated"` // the newest is an estimate
	Value     float64   `json:"value"`     // the last reading that was used, about its level
	Kept      float64   `json:"kept"`      // κᵏ, what it counts now
	Alone     float64   `json:"alone"`     // λᵏ, the same if no neighbour is heard

	Doubt   float64 `json:"doubt"` // m
	Doubted bool    `json:"doubted"`
	Quiet   int     `json:"quiet"` // steps without an answer, 12 at most
	Rough   float64 `json:"rough"` // v
	Run     int     `json:"run"`   // equal readings, the last included
	Last    float32 `json:"last"`  // reading that was not far outside
	At      uint64  `json:"at"`    // its step
	Reason  uint8   `json:"reason"`
	Since   uint64  `json:"since"`

	// Norm is that of a sensor that was not in training; nil for others.
	Norm *Norm `json:"norm,omitempty"`
}

// Memory returns a copy of what the sensor remembers.
func (s *Sensor) Memory() Memory {
	m := s.m
	m.Lags, m.Extras = slices.Clone(m.Lags), slices.Clone(m.Extras)
	if m.Norm != nil {
		m.Norm = m.Norm.clone()
	}
	return m
}

// Restore makes the sensor go on from m, of which it keeps a copy; the sensor's norm
// stays.
func (s *Sensor) Restore(m Memory) error {
	if err := m.validate(s.spec); err != nil {
		return fmt.Errorf("forecast: restore a sensor: %w", err)
	}
	m.Lags, m.Extras = slices.Clone(m.Lags), slices.Clone(m.Extras)
	m.Norm = s.m.Norm
	s.m, s.reason = m, reason(m.Reason)
	s.truth, s.knows = 0, false
	return nil
}

func (m *Memory) validate(s *Spec) error {
	if len(m.Lags) != s.Lags || len(m.Extras) != s.Extras {
		return fmt.Errorf("%d lags and %d extras, want %d and %d", len(m.Lags), len(m.Extras), s.Lags, s.Extras)
	}
	for _, v := range slices.Concat(m.Lags, m.Extras, []float32{m.Last}) {
		if v-v != 0 {
			return fmt.Errorf("a reading is %v, want a number", v)
		}
	}
	for _, v := range []float64{m.Value, m.Kept, m.Alone, m.Doubt, m.Rough} {
		if v-v != 0 {
			return fmt.Errorf("a number is %v", v)
		}
	}
	if !(m.Kept >= 0 && m.Kept <= 1 && m.Alone >= 0 && m.Alone <= 1 && m.Rough >= 0 && m.Doubt >= 0 && m.Doubt <= 1) {
		return fmt.Errorf("a share is out of range: kept %v, alone %v, doubt %v", m.Kept, m.Alone, m.Doubt)
	}
	if m.Quiet < 0 || m.Run < 0 || int(m.Reason) >= len(reasons) {
		return errors.New("a count is out of range")
	}
	if m.Norm != nil {
		return m.Norm.validate(s)
	}
	return nil
}
