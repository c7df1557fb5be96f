package theory

import (
	"errors"
	"math"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/internal/crown"
	"github.com/wdgnn/wdgnn/internal/vector"
	"github.com/wdgnn/wdgnn/rule"
)

// Coordinates translate the parameters x of package rule, y = y† + z x R, to the
// w of a Problem, in which a step of online learning is a plain gradient step.
// They are orthonormal coordinates of 𝒜, as x is, but for a rotation:
//
//	w = x R Γ^-½   y = y† + z w Γ^½      Γ = ΩᵀΩ = RᵀR
type Coordinates struct {
	inputs, outputs int
	bias            bool
	basis           *rule.Basis
	root            []float64 // Γ^½
	inverse         []float64 // its pseudo-inverse
}

// NewCoordinates returns those of a model with a wide part. Bias says whether
// the wide part's bias is retrained.
func NewCoordinates(m *gnn.WideDeep, bias bool) (*Coordinates, error) {
	if m.Config.Wide == nil {
		return nil, errors.New("theory: the model has no wide part, and nothing else learns online")
	}
	c := &Coordinates{inputs: (m.Config.Wide.Order + 1) * m.Config.In, outputs: m.Outputs(), bias: bias}
	if bias {
		c.inputs++
	}
	n := crown.NewNetwork(m)
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
			vector.Axpy(gram[a*n.Outputs:(a+1)*n.Outputs], v, row)
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
		u := e.vectors[i*n.Outputs : (i+1)*n.Outputs]
		for a, x := range u {
			vector.Axpy(c.root[a*n.Outputs:(a+1)*n.Outputs], s*x, u)
			vector.Axpy(c.inverse[a*n.Outputs:(a+1)*n.Outputs], x/s, u)
		}
	}
	return c, nil
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
	return in
}

// Of returns w for the parameters x of package rule.
func (c *Coordinates) Of(x []float32) []float64 {
	n, k := c.inputs, c.outputs
	effect, w := make([]float64, n*k), make([]float64, n*k)
	c.basis.Effect(effect, x)
	for a := range n {
		for b := range k {
			vector.Axpy(w[a*k:(a+1)*k], effect[a*k+b], c.inverse[b*k:(b+1)*k])
		}
	}
	return w
}
