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

	// Value is γ, the first one for Decaying.
	Value float64 `json:"value"`

	// Steps is τ ≥ 0 of Decaying: γ_t = γ/√(1 + t/τ); 0 means 100.
	Steps float64 `json:"steps,omitempty"`
}

// Schedule says how a step size changes. It is written as text in JSON.
type Schedule int

// The schedules.
const (
	Fixed    Schedule = iota // "fixed": γ
	Decaying                 // "decaying": γ/√(1 + t/τ)
)

var scheduleNames = []string{"fixed", "decaying"}

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
	}
	if !(s.Steps >= 0) || math.IsInf(s.Steps, 0) {
		complain("steps is %v, want a number ≥ 0", s.Steps)
	}
	return errors.Join(errs...)
}

// At returns γ_t.
func (s StepSize) At(t int) float64 {
	if s.Schedule != Decaying {
		return s.Value
	}
	tau := s.Steps
	if tau == 0 {
		tau = 100
	}
	return s.Value / math.Sqrt(1+float64(t)/tau)
}
