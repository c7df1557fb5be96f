package gnn

import (
	"fmt"

	"github.com/wdgnn/wdgnn/mat"
)

// Activation is the pointwise nonlinearity σ of eq. (4). All of them satisfy
// σ(0) = 0 and |σ(x) - σ(y)| ≤ |x - y|, as Theorem 1 asks.
type Activation uint8

const (
	ReLU      Activation = iota // max(x, 0)
	Tanh                        // tanh x, within four units in the last place
	LeakyReLU                   // x if x ≥ 0, 0.01 x otherwise
	Identity                    // x
)

const leakySlope = 0.01

var activationNames = [...]string{ReLU: "relu", Tanh: "tanh", LeakyReLU: "leaky-relu", Identity: "identity"}

func (a Activation) String() string {
	if int(a) < len(activationNames) {
		return activationNames[a]
	}
	return fmt.Sprintf("Activation(%d)", uint8(a))
}

// MarshalText writes the name of a.
func (a Activation) MarshalText() ([]byte, error) {
	if int(a) >= len(activationNames) {
		return nil, fmt.Errorf("gnn: no activation has number %d", uint8(a))
	}
	return []byte(a.String()), nil
}

// UnmarshalText reads the name of an activation.
func (a *Activation) UnmarshalText(text []byte) error {
	for i, name := range activationNames {
		if name == string(text) {
			*a = Activation(i)
			return nil
		}
	}
	return fmt.Errorf("gnn: no activation is called %q: choose one of %q", text, activationNames)
}

// forward replaces y by σ(y).
func (a Activation) forward(e *mat.Engine, y mat.Dense) {
	switch a {
	case ReLU:
		e.LeakyReLU(y, y, 0)
	case Tanh:
		e.Tanh(y, y)
	case LeakyReLU:
		e.LeakyReLU(y, y, leakySlope)
	}
}

// backward replaces dy by scale times the gradient before σ, given its output
// y.
func (a Activation) backward(e *mat.Engine, dy, y mat.Dense, scale float32) {
	switch a {
	case ReLU:
		e.LeakyReLUBack(dy, dy, y, 0, scale)
	case Tanh:
		e.TanhBack(dy, dy, y, scale)
	case LeakyReLU:
		e.LeakyReLUBack(dy, dy, y, leakySlope, scale)
	case Identity:
		e.Scale(dy, scale)
	}
}
