package graph

import (
	"math"

	"github.com/wdgnn/wdgnn/mat"
)

// The few float64 vector operations that the iterations of this package need.

// multiply computes y = A x.
func multiply(y []float64, a *mat.CSR, x []float64) {
	for i := range y {
		sum := 0.0
		col, val := a.Row(i)
		for e, j := range col {
			sum += float64(float64(val[e]) * x[j])
		}
		y[i] = sum
	}
}

// addScaled computes y += c x.
func addScaled(y []float64, c float64, x []float64) {
	for i, v := range x {
		y[i] += float64(c * v)
	}
}

// scale computes x = c x.
func scale(x []float64, c float64) {
	for i := range x {
		x[i] *= c
	}
}

func dot(x, y []float64) float64 {
	sum := 0.0
	for i, v := range x {
		sum += float64(v * y[i])
	}
	return sum
}

func norm(x []float64) float64 { return math.Sqrt(dot(x, x)) }

// largestRowSum returns max_i Σ_j |A_ij|, which no eigenvalue exceeds.
func largestRowSum(a *mat.CSR) float64 {
	most := 0.0
	for i := range a.Rows {
		sum := 0.0
		_, val := a.Row(i)
		for _, v := range val {
			sum += math.Abs(float64(v))
		}
		most = max(most, sum)
	}
	return most
}
