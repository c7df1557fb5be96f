package gnn

import (
	"errors"
	"fmt"
	"math"
)

// Lipschitz is a penalty that makes a model stable to changes of the graph: it
// keeps down the integral Lipschitz constants of all its filters,
//
//	(s/2) Σ C_fg²      C_fg = max_λ |λ a_fg'(λ)|      a_fg(λ) = Σ_k [A_k]_fg λᵏ
//
// over the filters of wide and deep part and their pairs of features. The
// largest of the C_fg is C_L of Theorem 1, to which the change of the output is
// proportional. The maximum is taken over a grid of frequencies.
//
// Deviation: the paper says that such filters can be had by a penalty, and
// trains without one. The zero value is no penalty; frequencies from 0 to 0 stand
// for -1 to 1.
type Lipschitz struct {
	// The weight s ≥ 0 of the penalty.
	Strength float64 `json:"strength" yaml:"strength" default:"required" example:"1e-3"`

	// Where the eigenvalues λ of the shift begin, and end with `high`. The
	// default, -1 to 1, suits shifts whose eigenvalues lie there: `spectral`,
	// `symmetric` and `row-stochastic`.
	Low float64 `json:"low,omitempty" yaml:"low" example:"0"`

	// Where they end.
	High float64 `json:"high,omitempty" yaml:"high" example:"2"`
}

// lipschitzGrid is how many steps the grid of frequencies has.
const lipschitzGrid = 64

// Validate reports everything that is wrong with p.
func (p Lipschitz) Validate() error {
	var errs []error
	if !(p.Strength >= 0) || math.IsInf(p.Strength, 0) {
		errs = append(errs, fmt.Errorf("gnn: lipschitz.strength is %v, want a finite number ≥ 0", p.Strength))
	}
	if !(p.Low <= p.High) || math.IsInf(p.Low, 0) || math.IsInf(p.High, 0) {
		errs = append(errs, fmt.Errorf("gnn: lipschitz: frequencies from %v to %v, want finite ends in order", p.Low, p.High))
	}
	return errors.Join(errs...)
}

// Eval returns the penalty on params and adds its gradient to grad, which has
// the same architecture; nil asks for the value alone. Where several
// frequencies are the largest, the gradient is that of the first.
func (p Lipschitz) Eval(grad, params *Params) float64 {
	if p.Strength == 0 {
		return 0
	}
	powers := p.powers(params)
	sum := 0.0
	one := func(g, f *Filter) {
		for i := range f.In() {
			for j := range f.Out() {
				c, at := bend(f, i, j, powers)
				sum += float64(c * c)
				if g == nil {
					continue
				}
				for k := 1; k < len(f.Taps); k++ { // ∂(C²/2)/∂a_k = (Σ_l l a_l λˡ) k λᵏ
					d := p.Strength * c * float64(k) * powers[at][k]
					g.Taps[k].Row(i)[j] += float32(d)
				}
			}
		}
	}
	pick := func(l int) (g, f *Filter) {
		f = &params.Deep[l]
		if grad != nil {
			g = &grad.Deep[l]
		}
		return g, f
	}
	if len(params.Wide.Taps) > 0 {
		var g *Filter
		if grad != nil {
			g = &grad.Wide
		}
		one(g, &params.Wide)
	}
	for l := range params.Deep {
		one(pick(l))
	}
	return p.Strength / 2 * sum
}

// Constant returns C_L: the largest C_fg of all filters.
func (p Lipschitz) Constant(params *Params) float64 {
	powers := p.powers(params)
	largest := 0.0
	look := func(f *Filter) {
		for i := range f.In() {
			for j := range f.Out() {
				c, _ := bend(f, i, j, powers)
				largest = max(largest, math.Abs(c))
			}
		}
	}
	if len(params.Wide.Taps) > 0 {
		look(&params.Wide)
	}
	for l := range params.Deep {
		look(&params.Deep[l])
	}
	return largest
}

// bend returns λ a_ij'(λ) where it is largest, and the place in the grid.
func bend(f *Filter, i, j int, powers [][]float64) (c float64, at int) {
	order := f.Order()
	if order == 0 {
		return 0, 0
	}
	var room [16]float64
	slope := append(room[:0], 0) // coefficients k a_k of λ a'(λ)
	for k := 1; k <= order; k++ {
		slope = append(slope, float64(k)*float64(f.Taps[k].At(i, j)))
	}
	for m := range powers {
		lambda, v := powers[m][1], 0.0
		for k := order; k >= 0; k-- {
			v = float64(v*lambda) + slope[k]
		}
		if math.Abs(v) > math.Abs(c) {
			c, at = v, m
		}
	}
	return c, at
}

// powers returns λᵏ for the frequencies of the grid, up to the largest order.
func (p Lipschitz) powers(params *Params) [][]float64 {
	low, high := p.Low, p.High
	if low == 0 && high == 0 {
		low, high = -1, 1
	}
	order := params.Wide.Order()
	for l := range params.Deep {
		order = max(order, params.Deep[l].Order())
	}
	grid := make([][]float64, lipschitzGrid+1)
	for m := range grid {
		lambda := low + float64((high-low)*float64(m)/lipschitzGrid)
		power := 1.0
		for range order + 1 {
			grid[m] = append(grid[m], power)
			power *= lambda
		}
	}
	return grid
}
