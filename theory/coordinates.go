package theory

import (
	"errors"
	"fmt"
	"math"

	gmat "gonum.org/v1/gonum/mat"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/rule"
)

// Coordinates translate the parameters x of package rule, y = y† + z x R, to the
// w of a Problem, in which a step of online learning is a plain gradient step.
// Without whitening they are orthonormal coordinates of 𝒜, as x is, but for a
// rotation:
//
//	w = x R Γ^-½   y = y† + z w Γ^½      Γ = ΩᵀΩ = RᵀR
//
// With whitening, P_L = C Cᵀ, they are the coordinates in which the whitened
// step is a plain one, and distances are measured there:
//
//	w = C⁻¹ x R    y = y† + (z C) w
type Coordinates struct {
	inputs, outputs int
	bias            bool
	basis           *rule.Basis
	root            []float64 // Γ^½, or with whitening the projection on the range of Γ
	inverse         []float64 // its pseudo-inverse
	left            []float64 // C, lower triangular, P×P; nil without whitening
}

// whiteningRidge is that of rule.Whitening.
const whiteningRidge = 1e-4

// NewCoordinates returns those of a model with a wide part. Bias says whether
// the wide part's bias is retrained; a moment asks for whitened steps.
func NewCoordinates(m *gnn.WideDeep, bias bool, moment *rule.SecondMoment) (*Coordinates, error) {
	if m.Config.Wide == nil {
		return nil, errors.New("theory: the model has no wide part, and nothing else learns online")
	}
	c := &Coordinates{inputs: (m.Config.Wide.Order + 1) * m.Config.In, outputs: m.Outputs(), bias: bias}
	if bias {
		c.inputs++
	}
	n := NewNetwork(m)
	var err error
	if c.basis, err = rule.NewBasis(rule.BasisConfig{
		Inputs:   (m.Config.Wide.Order + 1) * m.Config.In,
		Features: n.Features, Bias: bias, Gain: float32(n.GainWide), Readout: m.Params.Readout.Weight,
	}); err != nil {
		return nil, err
	}
	omega := make([]float64, n.Features*n.Outputs)
	for g := range n.Features {
		for k := range n.Outputs {
			switch {
			case n.Readout != nil:
				omega[g*n.Outputs+k] = n.GainWide * n.Readout[g*n.Outputs+k]
			case g == k:
				omega[g*n.Outputs+k] = n.GainWide
			}
		}
	}
	gram := make([]float64, n.Outputs*n.Outputs)
	for g := range n.Features {
		row := omega[g*n.Outputs : (g+1)*n.Outputs]
		for a, v := range row {
			axpy(gram[a*n.Outputs:(a+1)*n.Outputs], v, row)
		}
	}
	e, err := eigen(gram, n.Outputs)
	if err != nil {
		return nil, err
	}
	c.root, c.inverse = make([]float64, len(gram)), make([]float64, len(gram))
	for i, v := range e.values {
		if v <= rankTolerance*e.values[n.Outputs-1] {
			continue
		}
		s := math.Sqrt(v)
		if moment != nil {
			s = 1
		}
		u := e.vectors[i*n.Outputs : (i+1)*n.Outputs]
		for a, x := range u {
			axpy(c.root[a*n.Outputs:(a+1)*n.Outputs], s*x, u)
			axpy(c.inverse[a*n.Outputs:(a+1)*n.Outputs], x/s, u)
		}
	}
	if moment != nil {
		return c, c.whiten(moment)
	}
	return c, nil
}

// whiten factors P_L = (Σ + 1e-4 diag Σ)⁻¹ as C Cᵀ. With Σ + … = L Lᵀ, C = L⁻ᵀ.
func (c *Coordinates) whiten(m *rule.SecondMoment) error {
	n := c.inputs
	all := m.Inputs + 1
	if want := n; m.Inputs != want && !(c.bias && all == want) {
		return fmt.Errorf("theory: a second moment of %d inputs for %d rows of taps", m.Inputs, n)
	}
	sigma := gmat.NewSymDense(n, nil)
	for a := range n {
		for b := a; b < n; b++ {
			v := m.Mean[a*all+b]
			if a == b {
				if v *= 1 + whiteningRidge; v == 0 {
					v = 1
				}
			}
			sigma.SetSym(a, b, v)
		}
	}
	var chol gmat.Cholesky
	if !chol.Factorize(sigma) {
		return errors.New("theory: the second moment of the inputs is not positive definite")
	}
	var lower gmat.TriDense
	chol.LTo(&lower)
	var inverse gmat.Dense
	if err := inverse.Inverse(&lower); err != nil {
		var condition gmat.Condition
		if !errors.As(err, &condition) {
			return fmt.Errorf("theory: second moment: %w", err)
		}
	}
	c.left = make([]float64, n*n) // L⁻ᵀ
	for a := range n {
		for b := range n {
			c.left[a*n+b] = inverse.At(b, a)
		}
	}
	return nil
}

// Problem returns an empty cost of the right shape, to which rows are added.
func (c *Coordinates) Problem(kind Kind, ridge float64) *Problem {
	return &Problem{Kind: kind, Inputs: c.inputs, Outputs: c.outputs, Root: c.root, Ridge: ridge}
}

// Input returns what a row of a Problem reads, for the shifted inputs of a node
// as package rule sees them, (K+1)·F numbers or more.
func (c *Coordinates) Input(z []float32) []float64 {
	in := make([]float64, c.inputs)
	for k := range in {
		if c.bias && k == c.inputs-1 {
			in[k] = 1
		} else {
			in[k] = float64(z[k])
		}
	}
	if c.left == nil {
		return in
	}
	out := make([]float64, c.inputs)
	for a, v := range in { // z C
		axpy(out, v, c.left[a*c.inputs:(a+1)*c.inputs])
	}
	return out
}

// Of returns w for the parameters x of package rule.
func (c *Coordinates) Of(x []float32) []float64 {
	n, k := c.inputs, c.outputs
	effect, w := make([]float64, n*k), make([]float64, n*k)
	c.basis.Effect(effect, x)
	for a := range n {
		for b := range k {
			axpy(w[a*k:(a+1)*k], effect[a*k+b], c.inverse[b*k:(b+1)*k])
		}
	}
	if c.left == nil {
		return w
	}
	// C u = v with C = L⁻ᵀ upper triangular: back substitution.
	for b := range k {
		for a := n - 1; a >= 0; a-- {
			sum := w[a*k+b]
			for j := a + 1; j < n; j++ {
				sum -= c.left[a*n+j] * w[j*k+b]
			}
			w[a*k+b] = sum / c.left[a*n+a]
		}
	}
	return w
}
