// Package vector is sums and products of vectors in float64, long ones by gonum's
// assembly.
package vector

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// long is the length from which vectors go to gonum's assembly.
const long = 16

// Dot returns aᵀb.
func Dot(a, b []float64) float64 {
	if len(a) >= long {
		return floats.Dot(a, b)
	}
	sum := 0.0
	for i, v := range a {
		sum += v * b[i]
	}
	return sum
}

// Norm returns ‖a‖, whose squares need not be numbers.
func Norm(a []float64) float64 {
	largest := 0.0
	for _, v := range a {
		largest = max(largest, math.Abs(v))
	}
	if largest == 0 || math.IsInf(largest, 0) || math.IsNaN(largest) {
		return largest
	}
	sum := 0.0
	for _, v := range a {
		sum += (v / largest) * (v / largest)
	}
	return largest * math.Sqrt(sum)
}

// Axpy adds s x to y.
func Axpy(y []float64, s float64, x []float64) {
	y = y[:len(x)]
	if len(x) >= long {
		floats.AddScaled(y, s, x)
		return
	}
	for i, v := range x {
		y[i] += s * v
	}
}

// Scale multiplies v by s.
func Scale(v []float64, s float64) {
	for i := range v {
		v[i] *= s
	}
}
