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
	// the share of 2 W_ii/C_s that is taken, 0 < Value < 1; 0 means a half.
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
	Automatic                 // "automatic": a share of 2 W_ii/C_s, from the curvature of the current cost
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
		complain("value is %v: an automatic step is a share of 2 W_ii/C_s, want below 1", s.Value)
	}
	if !(s.Steps >= 0) || math.IsInf(s.Steps, 0) {
		complain("steps is %v, want a number ≥ 0", s.Steps)
	}
	return errors.Join(errs...)
}

// At returns γ_t for the cost of step t, taken by a node that gives itself the
// weight own, W_ii: 1 for one that hears nobody else.
//
// An automatic step is a share s < 1 of 2 W_ii/C_s. Alone that is a step which
// cannot raise the cost. With neighbours it keeps what mixing and stepping do
// together from swinging further and further: with 0 ≼ H ≼ C_s the curvature of
// the cost on the way, the node's part in its own next parameters is W_ii - γH,
// no longer than W_ii, and the weights of a row sum to 1. doc/theory.md has the
// proof. Where a cost has no curvature, because it is flat, the step is 0.
func (s StepSize) At(t int, cost Cost, own float64) float64 {
	switch s.Schedule {
	case Decaying:
		tau := s.Steps
		if tau == 0 {
			tau = 100
		}
		return s.Value / math.Sqrt(1+float64(t)/tau)
	case Automatic:
		if c := cost.Curvature(); c > 0 {
			return s.share() * 2 / c * own
		}
		return 0
	}
	return s.Value
}

// share returns the share of an automatic step.
func (s StepSize) share() float64 {
	if s.Value == 0 {
		return 0.5
	}
	return s.Value
}
