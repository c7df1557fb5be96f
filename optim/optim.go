package optim

import (
	"fmt"
	"math"

	"github.com/wdgnn/wdgnn/internal/kernel"
)

var kernels = kernel.Current()

// Optimizer turns gradients into steps. It is made for a fixed number of
// parameters and is not safe for concurrent use.
type Optimizer interface {
	// Step moves params, in place, against grad, which it reads. It keeps no
	// reference to either and allocates nothing. Lengths other than the
	// number of parameters panic.
	Step(params, grad []float32)

	// State returns a copy of what later steps depend on.
	State() State

	// Restore takes over a copy of s. A State of another algorithm or size,
	// or with values that are not finite, is an error and changes nothing.
	Restore(s State) error
}

// State is what an Optimizer remembers between steps. It round-trips through
// JSON to the same bits.
type State struct {
	// Algorithm is "sgd" or "adam".
	Algorithm string `json:"algorithm"`

	// Steps counts the steps taken.
	Steps uint64 `json:"steps"`

	// Values holds the running means, each as long as the parameters: nothing
	// for SGD without momentum, the velocity for SGD with momentum, m and
	// then v for Adam.
	Values []float32 `json:"values,omitempty"`
}

// maxSteps is the largest count that a State may carry: beyond it readers of
// JSON in other languages lose digits.
const maxSteps = 1 << 53

// check reports why s cannot be the state of the named algorithm with that
// many values.
func (s State) check(algorithm string, values int) error {
	switch {
	case s.Algorithm != algorithm:
		return fmt.Errorf("state of algorithm %q, want %q", s.Algorithm, algorithm)
	case len(s.Values) != values:
		return fmt.Errorf("state with %d values, want %d", len(s.Values), values)
	case s.Steps > maxSteps:
		return fmt.Errorf("state after %d steps, want at most %d", s.Steps, uint64(maxSteps))
	}
	for i, v := range s.Values {
		if !finite(float64(v)) {
			return fmt.Errorf("state with value %d = %v", i, v)
		}
	}
	return nil
}

// checkStep panics unless params and grad have n elements.
func checkStep(op string, n int, params, grad []float32) {
	if len(params) != n || len(grad) != n {
		panic(fmt.Sprintf("optim: %s: %d parameters and a gradient of %d, want %d", op, len(params), len(grad), n))
	}
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// positive says whether v, rounded to float32, is finite and above 0.
func positive(v float64) bool { return float32(v) > 0 && finite(float64(float32(v))) }

// decay says whether v, rounded to float32, can be the weight of the past in a
// running mean: 0 ≤ v < 1.
func decay(v float64) bool { return v >= 0 && float32(v) < 1 }

// orDefault is v, or otherwise where v is 0.
func orDefault(v, otherwise float64) float64 {
	if v == 0 {
		return otherwise
	}
	return v
}

// unless returns a complaint unless ok.
func unless(ok bool, format string, args ...any) error {
	if ok {
		return nil
	}
	return fmt.Errorf(format, args...)
}
