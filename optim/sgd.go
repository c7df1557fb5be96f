package optim

import (
	"errors"
	"fmt"
	"slices"
)

// SGDConfig says how [SGD] steps. Its zero value is usable: plain gradient
// descent with step size 0.01. doc/config.md is written from the comments of the
// fields.
type SGDConfig struct {
	// The step size γ > 0; 0 means 0.01.
	StepSize float64 `json:"step_size,omitempty" yaml:"step_size" example:"0.01"`

	// The momentum μ, 0 ≤ μ < 1; 0 means none.
	Momentum float64 `json:"momentum,omitempty" yaml:"momentum" example:"0.9"`
}

// Validate reports everything that is wrong with c.
func (c SGDConfig) Validate() error {
	return errors.Join(
		unless(c.StepSize == 0 || positive(c.StepSize), "optim: SGD: step size %v, want a positive float32, or 0 for the default", c.StepSize),
		unless(decay(c.Momentum), "optim: SGD: momentum %v, want 0 ≤ momentum < 1", c.Momentum),
	)
}

// SGD is stochastic gradient descent, with a momentum if it has one:
//
//	p = p - γ·g                          without momentum, as in eq. (7)
//
//	v = μ·v + g                          with momentum
//	p = p - γ·v
//
// It implements [Optimizer].
type SGD struct {
	params   int
	step     float32 // γ
	momentum float32 // μ
	velocity []float32
	steps    uint64
}

// NewSGD returns an optimizer for that many parameters.
func NewSGD(params int, c SGDConfig) (*SGD, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if params < 0 {
		return nil, fmt.Errorf("optim: SGD: %d parameters", params)
	}
	s := &SGD{params: params, step: float32(orDefault(c.StepSize, 0.01)), momentum: float32(c.Momentum)}
	if s.momentum != 0 {
		s.velocity = make([]float32, params)
	}
	return s, nil
}

// Step takes one step; see [Optimizer].
func (s *SGD) Step(params, grad []float32) {
	checkStep("SGD", s.params, params, grad)
	s.steps++
	if s.velocity == nil {
		kernels.Axpy(params, -s.step, grad) // p -= γ g
		return
	}
	kernels.Scale(s.velocity, s.momentum)
	kernels.Axpy(s.velocity, 1, grad)         // v = μ v + g
	kernels.Axpy(params, -s.step, s.velocity) // p -= γ v
}

// State returns the number of steps and the velocity; see [Optimizer].
func (s *SGD) State() State {
	return State{Algorithm: "sgd", Steps: s.steps, Values: slices.Clone(s.velocity)}
}

// Restore continues from st; see [Optimizer].
func (s *SGD) Restore(st State) error {
	if err := st.check("sgd", len(s.velocity)); err != nil {
		return fmt.Errorf("optim: SGD: restore: %w", err)
	}
	s.steps = st.Steps
	copy(s.velocity, st.Values)
	return nil
}
