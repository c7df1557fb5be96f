package theory

import (
	"math"
	"slices"

	gmat "gonum.org/v1/gonum/mat"

	"github.com/wdgnn/wdgnn/internal/crown"
)

// Response is the frequency response a(λ) = Σ_k a_k λᵏ of one input and one
// output feature of a filter, by its coefficients a_0 … a_K.
type Response []float64

// Responses returns the frequency responses of f, a_fg at f·G+g.
func Responses(f *crown.Filter) []Response {
	out := make([]Response, f.In*f.Out)
	for i := range out {
		for _, tap := range f.Taps {
			out[i] = append(out[i], tap[i])
		}
	}
	return out
}

// At returns a(λ).
func (a Response) At(lambda float64) float64 {
	sum := 0.0
	for k := len(a) - 1; k >= 0; k-- {
		sum = sum*lambda + a[k]
	}
	return sum
}

// derivative returns a'.
func (a Response) derivative() Response {
	if len(a) < 2 {
		return Response{0}
	}
	d := make(Response, len(a)-1)
	for k := range d {
		d[k] = float64(k+1) * a[k+1]
	}
	return d
}

// Slope returns λ a'(λ).
func (a Response) Slope(lambda float64) float64 { return a.slope().At(lambda) }

// Interval is [λ_l, λ_h], where frequencies lie.
type Interval struct{ Low, High float64 }

// slope returns λ a'(λ) as a polynomial, whose largest absolute value is C_L.
func (a Response) slope() Response {
	q := make(Response, len(a))
	for k := range q {
		q[k] = float64(k) * a[k]
	}
	return q
}

// LargestGain returns max |a(λ)| over the interval, which Theorem 1 wants to be
// at most 1, and where it is reached.
func (a Response) LargestGain(over Interval) (gain, at float64) { return a.largest(over) }

// IntegralLipschitz returns max |λ a'(λ)| over the interval, and where it is
// reached: the constant C_L of the derivative form of eq. (12).
func (a Response) IntegralLipschitz(over Interval) (constant, at float64) {
	return a.slope().largest(over)
}

// largest returns the largest |a(λ)| over an interval. A polynomial has its
// extremes at the ends or where the derivative is 0; the zeros are the
// eigenvalues of the derivative's companion matrix. Real parts of complex zeros
// are looked at too: a double zero may come out as a pair beside the axis, and
// looking at a place too many does no harm.
func (a Response) largest(over Interval) (value, at float64) {
	look := func(x float64) {
		if v := math.Abs(a.At(x)); v > value || math.IsNaN(v) {
			value, at = v, x
		}
	}
	at = over.Low
	look(over.Low)
	look(over.High)
	for _, z := range a.derivative().roots(over) {
		if z > over.Low && z < over.High {
			look(z)
		}
	}
	return value, at
}

// roots returns the real parts of the zeros of a, those far outside the interval
// perhaps left out.
func (a Response) roots(over Interval) []float64 {
	reach := max(math.Abs(over.Low), math.Abs(over.High))
	if reach == 0 {
		return nil
	}
	c := slices.Clone(a) // in units of reach, so that zeros of interest are within the unit circle
	power, largest := 1.0, 0.0
	for k := range c {
		c[k] *= power
		power *= reach
		largest = max(largest, math.Abs(c[k]))
	}
	n := len(c) - 1
	for n > 0 && math.Abs(c[n]) <= 1e-14*largest { // a zero that far away hardly bends a within reach
		n--
	}
	switch {
	case n < 1:
		return nil
	case n == 1:
		return []float64{-c[0] / c[1] * reach}
	}
	companion := gmat.NewDense(n, n, nil)
	for k := range n {
		companion.Set(k, n-1, -c[k]/c[n])
		if k > 0 {
			companion.Set(k, k-1, 1)
		}
	}
	var e gmat.Eigen
	if !e.Factorize(companion, gmat.EigenNone) {
		return grid(over, 4096)
	}
	var out []float64
	for _, z := range e.Values(nil) {
		out = append(out, polish(c[:n+1], real(z))*reach)
		out = append(out, real(z)*reach)
	}
	return out
}

// polish takes two Newton steps towards a zero of c near x, if they stay near.
func polish(c Response, x float64) float64 {
	d := c.derivative()
	z := x
	for range 2 {
		slope := d.At(z)
		if slope == 0 {
			return x
		}
		z -= c.At(z) / slope
	}
	if math.Abs(z-x) > 1e-3*(1+math.Abs(x)) || math.IsNaN(z) {
		return x
	}
	return z
}

// grid returns n+1 points of an interval.
func grid(over Interval, n int) []float64 {
	out := make([]float64, n+1)
	for i := range out {
		out[i] = over.Low + (over.High-over.Low)*float64(i)/float64(n)
	}
	return out
}

// divided returns (a(λ) - a(μ)) / (λ - μ), and a'(λ) where they are equal,
// without cancellation: Σ_k a_k Σ_{j<k} λʲ μᵏ⁻¹⁻ʲ.
func (a Response) divided(lambda, mu float64) float64 {
	// With b_k the Horner values of a at λ, the quotient is Σ b_{k+1} μᵏ.
	sum, b := 0.0, 0.0
	for k := len(a) - 1; k >= 1; k-- {
		b = b*lambda + a[k]
		sum = sum*mu + b
	}
	return sum
}

// PairConstant returns max |λ_i + λ_j|/2 · |a(λ_i) - a(λ_j)|/|λ_i - λ_j| over
// all pairs of the given frequencies: the constant C_L of eq. (12) itself, where
// λ_i and λ_j are what the graph offers. It is at least the largest |λ a'(λ)|
// at a frequency and often larger: the two forms are not equivalent.
func (a Response) PairConstant(frequencies []float64) float64 {
	largest := 0.0
	for i, l := range frequencies {
		for _, m := range frequencies[:i+1] {
			largest = max(largest, math.Abs((l+m)/2*a.divided(l, m)))
		}
	}
	return largest
}

// FilterConstants are the constants of one filter over the spectra of S and Ŝ.
type FilterConstants struct {
	Name              string  `json:"filter"`
	In                int     `json:"in"`
	Out               int     `json:"out"`
	Order             int     `json:"order"`
	IntegralLipschitz float64 `json:"integral_lipschitz"` // C_L: max over features and the interval of |λ a'(λ)|
	LipschitzAt       float64 `json:"integral_lipschitz_at"`
	Gain              float64 `json:"gain"` // max |a(λ)| likewise; Theorem 1 wants 1 at most
	GainAt            float64 `json:"gain_at"`

	// Pair is C_L in the form of eq. (12), over all pairs of eigenvalues; NaN
	// where it was not computed.
	Pair float64 `json:"-"`
}

// Constants returns those of a filter. Frequencies are the eigenvalues of S and
// Ŝ; without them, or if there are too many pairs, Pair is NaN.
func Constants(f *crown.Filter, over Interval, frequencies []float64) FilterConstants {
	c := FilterConstants{Name: f.Name, In: f.In, Out: f.Out, Order: len(f.Taps) - 1, Pair: math.NaN()}
	responses := Responses(f)
	for _, a := range responses {
		if v, at := a.IntegralLipschitz(over); v > c.IntegralLipschitz {
			c.IntegralLipschitz, c.LipschitzAt = v, at
		}
		if v, at := a.LargestGain(over); v > c.Gain {
			c.Gain, c.GainAt = v, at
		}
	}
	const most = 3e8 // operations that the pairs may take
	if n := float64(len(frequencies)); n > 0 && n*n*float64(len(responses)*len(f.Taps)) <= most {
		c.Pair = 0
		for _, a := range responses {
			c.Pair = max(c.Pair, a.PairConstant(frequencies))
		}
	}
	return c
}
