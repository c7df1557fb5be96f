package rule

import (
	"errors"
	"fmt"
	"math"
	"strings"
)

// StepSize is γ_t.
type StepSize struct {
	Schedule Schedule `json:"schedule,omitzero"`

	// Value is γ for Fixed and the first γ for Decaying. For Automatic it is
	// the share of 2/C_s that is taken, 0 < Value < 1; 0 means a half. Alone,
	// a node never overshoots; nodes that mix with all their weight may need
	// a share below (1 + the smallest eigenvalue of W)/2.
	Value float64 `json:"value"`

	// Steps is τ ≥ 0 of Decaying: γ_t = γ/√(1 + t/τ); 0 means 100.
	Steps float64 `json:"steps,omitempty"`
}

// Schedule says how a step size changes. It is written as text in JSON.
type Schedule int

// The schedules.
const (
	Fixed     Schedule = iota // "fixed": γ
	Decaying                  // "decaying": γ/√(1 + t/τ)
	Automatic                 // "automatic": a share of 2/C_s, from the curvature of the current cost
)

var scheduleNames = []string{"fixed", "decaying", "automatic"}

// String returns the name that UnmarshalText reads.
func (s Schedule) String() string {
	if s < 0 || int(s) >= len(scheduleNames) {
		return fmt.Sprintf("Schedule(%d)", int(s))
	}
	return scheduleNames[s]
}

// MarshalText returns the name of s.
func (s Schedule) MarshalText() ([]byte, error) { return marshal("schedule", int(s), scheduleNames) }

// UnmarshalText sets s by name.
func (s *Schedule) UnmarshalText(text []byte) error {
	i, err := unmarshal("schedule", string(text), scheduleNames)
	if err == nil {
		*s = Schedule(i)
	}
	return err
}

// Validate reports everything that is wrong with s.
func (s StepSize) Validate() error {
	var errs []error
	complain := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("rule: step_size."+format, args...))
	}
	if s.Schedule < 0 || int(s.Schedule) >= len(scheduleNames) {
		complain("schedule: %v: want %s", s.Schedule, strings.Join(scheduleNames, ", "))
	}
	if !(s.Value >= 0) || math.IsInf(s.Value, 0) {
		complain("value is %v, want a number ≥ 0", s.Value)
	} else if s.Schedule == Automatic && s.Value >= 1 {
		complain("value is %v: an automatic step is a share of 2/C_s, want below 1", s.Value)
	}
	if !(s.Steps >= 0) || math.IsInf(s.Steps, 0) {
		complain("steps is %v, want a number ≥ 0", s.Steps)
	}
	return errors.Join(errs...)
}

// At returns γ_t for the cost of step t. Where a cost has no curvature, because
// it is flat, an automatic step is 0.
func (s StepSize) At(t int, cost Cost) float64 {
	switch s.Schedule {
	case Decaying:
		tau := s.Steps
		if tau == 0 {
			tau = 100
		}
		return s.Value / math.Sqrt(1+float64(t)/tau)
	case Automatic:
		share := s.Value
		if share == 0 {
			share = 0.5
		}
		if c := cost.Curvature(); c > 0 {
			return share * 2 / c
		}
		return 0
	}
	return s.Value
}
