package rule

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// StepSize is γ_t.
type StepSize struct {
	Schedule Schedule `json:"schedule,omitempty"`

	// Value is γ, the first one for Decaying.
	Value float64 `json:"value"`

	// Steps is τ ≥ 0 of Decaying: γ_t = γ/√(1 + t/τ); 0 means 100.
	Steps float64 `json:"steps,omitempty"`
}

// Schedule says how a step size changes. Nothing means Fixed.
type Schedule string

// The schedules.
const (
	Fixed    Schedule = "fixed"    // γ
	Decaying Schedule = "decaying" // γ/√(1 + t/τ)
)

// Validate reports everything that is wrong with s.
func (s StepSize) Validate() error {
	var errs []error
	complain := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("rule: step_size."+format, args...))
	}
	if !slices.Contains([]Schedule{"", Fixed, Decaying}, s.Schedule) {
		complain("schedule is %.40q, want fixed or decaying", s.Schedule)
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
