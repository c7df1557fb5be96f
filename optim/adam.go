package optim

import (
	"errors"
	"fmt"
	"slices"

	"github.com/wdgnn/wdgnn/internal/kernel"
)

// AdamConfig says how [Adam] steps. Its zero value is usable and means the
// values of the article that introduced Adam. doc/config.md is written from the
// comments of the fields.
type AdamConfig struct {
	// The step size γ > 0; 0 means 0.001.
	StepSize float64 `json:"step_size,omitempty" yaml:"step_size" example:"0.005"`

	// The decay β₁ of the mean of gradients, 0 < β₁ < 1; 0 means 0.9.
	Beta1 float64 `json:"beta1,omitempty" yaml:"beta1" example:"0.9"`

	// The decay β₂ of the mean of their squares, 0 < β₂ < 1; 0 means 0.999.
	Beta2 float64 `json:"beta2,omitempty" yaml:"beta2" example:"0.999"`

	// What is added to the root of that mean, ε > 0; 0 means 1e-8.
	Epsilon float64 `json:"epsilon,omitempty" yaml:"epsilon" example:"1e-8"`
}

// Validate reports everything that is wrong with c.
func (c AdamConfig) Validate() error {
	return errors.Join(
		unless(c.StepSize == 0 || positive(c.StepSize), "optim: Adam: step size %v, want a positive float32, or 0 for the default", c.StepSize),
		unless(decay(c.Beta1), "optim: Adam: beta1 %v, want 0 < beta1 < 1, or 0 for the default", c.Beta1),
		unless(decay(c.Beta2), "optim: Adam: beta2 %v, want 0 < beta2 < 1, or 0 for the default", c.Beta2),
		unless(c.Epsilon == 0 || positive(c.Epsilon), "optim: Adam: epsilon %v, want a positive float32, or 0 for the default", c.Epsilon),
	)
}

func (c AdamConfig) withDefaults() AdamConfig {
	return AdamConfig{
		StepSize: orDefault(c.StepSize, 0.001),
		Beta1:    orDefault(c.Beta1, 0.9),
		Beta2:    orDefault(c.Beta2, 0.999),
		Epsilon:  orDefault(c.Epsilon, 1e-8),
	}
}

// Adam divides each step by the running size of its parameter's gradient:
//
//	m = β₁·m + (1-β₁)·g
//	v = β₂·v + (1-β₂)·g²
//	p = p - γ · m/(1-β₁ᵗ) / (√(v/(1-β₂ᵗ)) + ε)
//
// The divisions by 1-βᵗ undo the bias of means that start at 0. Adam
// implements [Optimizer].
type Adam struct {
	config AdamConfig // with defaults filled in
	means  []float32  // m, then v
	steps  uint64     // t
}

// NewAdam returns an optimizer for that many parameters.
func NewAdam(params int, c AdamConfig) (*Adam, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if params < 0 {
		return nil, fmt.Errorf("optim: Adam: %d parameters", params)
	}
	return &Adam{config: c.withDefaults(), means: make([]float32, 2*params)}, nil
}

// Step takes one step; see [Optimizer].
func (a *Adam) Step(params, grad []float32) {
	n := len(a.means) / 2
	checkStep("Adam", n, params, grad)
	a.steps++
	kernels.Adam(params, grad, a.means[:n], a.means[n:], a.scalars())
}

// scalars returns the scalars of step t.
func (a *Adam) scalars() kernel.AdamStep {
	c := a.config
	return kernel.AdamStep{
		Beta1: float32(c.Beta1), Rest1: float32(1 - c.Beta1),
		Beta2: float32(c.Beta2), Rest2: float32(1 - c.Beta2),
		Rate:    float32(c.StepSize / (1 - power(c.Beta1, a.steps))),
		Unbias:  float32(1 / (1 - power(c.Beta2, a.steps))),
		Epsilon: float32(c.Epsilon),
	}
}

// power is bⁿ by squaring: products alone, so that the bits are the same on
// every architecture, and a function of n alone, so that a restored run finds
// them again.
func power(b float64, n uint64) float64 {
	p := 1.0
	for ; n > 0; n >>= 1 {
		if n&1 != 0 {
			p = float64(p * b)
		}
		b = float64(b * b)
	}
	return p
}

// State returns the number of steps and both means; see [Optimizer].
func (a *Adam) State() State {
	return State{Algorithm: "adam", Steps: a.steps, Values: slices.Clone(a.means)}
}

// Restore continues from s; see [Optimizer].
func (a *Adam) Restore(s State) error {
	err := s.check("adam", len(a.means))
	for i := len(a.means) / 2; err == nil && i < len(a.means); i++ {
		if s.Values[i] < 0 {
			err = fmt.Errorf("state with a negative mean of squares, value %d = %v", i, s.Values[i])
		}
	}
	if err != nil {
		return fmt.Errorf("optim: Adam: restore: %w", err)
	}
	a.steps = s.Steps
	copy(a.means, s.Values)
	return nil
}
