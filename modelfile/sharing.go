package modelfile

import (
	"errors"
	"math"
)

// Sharing is what training found of how much nodes should share online: what it
// costs, on the last training samples played as a stream, to mix taps with
// different strengths.
type Sharing struct {
	Steps  int            `json:"steps"`            // samples that were played
	Frozen float64        `json:"frozen"`           // mean cost of the model as trained
	Trials []SharingTrial `json:"trials"`           // by strength, ascending
	Pooled *float64       `json:"pooled,omitempty"` // mean cost of one set of taps for all nodes; nil if it was not tried
}

// SharingTrial is one strength.
type SharingTrial struct {
	Mixing float64 `json:"mixing"` // η: 0 leaves every node to itself, 1 is consensus
	Cost   float64 `json:"cost"`   // mean
}

// Best returns the strength that cost least, the smallest of equals.
func (s *Sharing) Best() SharingTrial {
	best := s.Trials[0]
	for _, t := range s.Trials[1:] {
		if t.Cost < best.Cost {
			best = t
		}
	}
	return best
}

// Names of what is stored beside the parameters.
const (
	sharingName      = "online.sharing"       // a row per strength: η and cost
	sharingOtherName = "online.sharing.other" // samples, cost as trained and, if it was tried, of one set of taps
)

// SetSharing stores s; nil stores nothing.
func (m *Model) SetSharing(s *Sharing) {
	if s == nil {
		return
	}
	if m.Precise == nil {
		m.Precise = map[string]Float64s{}
	}
	x := Float64s{Rows: len(s.Trials), Cols: 2}
	for _, t := range s.Trials {
		x.Data = append(x.Data, t.Mixing, t.Cost)
	}
	other := []float64{float64(s.Steps), s.Frozen}
	if s.Pooled != nil {
		other = append(other, *s.Pooled)
	}
	m.Precise[sharingName] = x
	m.Precise[sharingOtherName] = Float64s{Rows: 1, Cols: len(other), Data: other}
}

// Sharing returns what SetSharing stored; false if the model has none, or what it
// has makes no sense.
func (m *Model) Sharing() (*Sharing, bool) {
	x, found := m.Numbers(sharingName)
	other, also := m.Numbers(sharingOtherName)
	if !found || !also || x.Rows < 1 || x.Cols != 2 || len(other.Data) < 2 || len(other.Data) > 3 {
		return nil, false
	}
	s := &Sharing{Steps: int(other.Data[0]), Frozen: other.Data[1]}
	if len(other.Data) == 3 {
		s.Pooled = &other.Data[2]
	}
	for t := range x.Rows {
		trial := SharingTrial{x.Data[2*t], x.Data[2*t+1]}
		if !(trial.Mixing >= 0 && trial.Mixing <= 1) || math.IsNaN(trial.Cost) {
			return nil, false
		}
		s.Trials = append(s.Trials, trial)
	}
	return s, true
}

// MeasuredMixing returns the strength of mixing that training found to cost least.
func (m *Model) MeasuredMixing() (float64, error) {
	s, found := m.Sharing()
	if !found {
		return 0, errors.New("the model file does not say which mixing strength costs least; train the model again with this version")
	}
	return s.Best().Mixing, nil
}
