package rule

import (
	"math"

	"github.com/wdgnn/wdgnn/mat"
)

// cholesky writes L, n×n lower triangular with a = L Lᵀ, to l, overwritten: the
// same bits everywhere. It is false if a is not positive definite.
func cholesky(l, a []float64, n int) bool {
	clear(l)
	for i := range n {
		for j := range i + 1 {
			v := a[i*n+j] - dot(l[i*n:i*n+j], l[j*n:j*n+j])
			if i > j {
				l[i*n+j] = v / l[j*n+j]
				continue
			}
			if !(v > 0) || math.IsInf(v, 0) {
				return false
			}
			l[i*n+i] = math.Sqrt(v)
		}
	}
	return true
}

// root is cholesky for an a that may have eigenvalues of 0. Directions in which
// nothing is left but rounding get columns of 0; so do those of negative
// eigenvalues, and then it is false.
func root(l, a []float64, n int) bool {
	clear(l)
	largest := 0.0
	for i := range n {
		largest = max(largest, a[i*n+i])
	}
	const rounding, wrong = 1e-14, 1e-9
	positive := true
	for j := range n {
		v := a[j*n+j] - dot(l[j*n:j*n+j], l[j*n:j*n+j])
		if !(v > rounding*largest) {
			positive = positive && v >= -wrong*largest
			continue
		}
		d := math.Sqrt(v)
		l[j*n+j] = d
		for i := j + 1; i < n; i++ {
			l[i*n+j] = (a[i*n+j] - dot(l[i*n:i*n+j], l[j*n:j*n+j])) / d
		}
	}
	return positive
}

// forward solves L b = a in place, L of full rank.
func forward(l, a []float64) {
	n := len(a)
	for i := range n {
		a[i] = (a[i] - dot(l[i*n:i*n+i], a[:i])) / l[i*n+i]
	}
}

// backward solves Lᵀ b = a in place.
func backward(l, a []float64) {
	n := len(a)
	for i := n - 1; i >= 0; i-- {
		sum := a[i]
		for k := i + 1; k < n; k++ {
			sum -= float64(l[k*n+i] * a[k])
		}
		a[i] = sum / l[i*n+i]
	}
}

// logRatio returns ln(a/b), both ≥ 0, and 0 where neither is above 0.
func logRatio(a, b float64) float64 {
	if !(a > 0) {
		return 0
	}
	return mat.Log(a) - mat.Log(b)
}
