package graph

import (
	"math"

	"gonum.org/v1/gonum/blas"
	lapack "gonum.org/v1/gonum/lapack/gonum"

	"github.com/wdgnn/wdgnn/mat"
)

// tridiagonal is a symmetric matrix T with entries on its diagonal and beside
// it only: T_ii = diag[i], T_i,i+1 = T_i+1,i = side[i].
type tridiagonal struct {
	diag []float64 // n
	side []float64 // n-1 or more
}

// reduce returns a tridiagonal matrix with the eigenvalues of the symmetric
// matrix a, by Householder reflections in float64. It takes time N³.
//
// Its eigenvalues are then found by bisection: gonum v0.17.0 would find them by
// QR steps, which panic where weights differ so much that T has a part below
// 1e-122.
func reduce(a *mat.CSR) tridiagonal {
	n := a.Rows
	if n == 0 {
		return tridiagonal{}
	}
	t := tridiagonal{diag: make([]float64, n), side: make([]float64, n-1)}
	const perRow = 32 // work space that lets Dsytrd use blocks of this size
	tau, work := make([]float64, n-1), make([]float64, perRow*n)
	lapack.Implementation{}.Dsytrd(blas.Upper, n, float64s(a), n, t.diag, t.side, tau, work, len(work))
	return t
}

// eigenvalues returns the eigenvalues of T in ascending order.
func (t tridiagonal) eigenvalues() []float64 {
	values := make([]float64, len(t.diag))
	for k := range values {
		values[k] = t.eigenvalue(k)
	}
	return values
}

// radius returns the largest absolute eigenvalue of T.
func (t tridiagonal) radius() float64 {
	return max(-t.eigenvalue(0), t.eigenvalue(len(t.diag)-1))
}

// eigenvalue returns the k-th smallest eigenvalue of T, k counted from 0, with
// an error of about 1e-16 times the largest.
func (t tridiagonal) eigenvalue(k int) float64 {
	bound := t.bound()
	lo, hi := -bound, bound
	for hi-lo > 1e-16*bound {
		mid := lo + float64((hi-lo)/2)
		if mid <= lo || mid >= hi {
			break // neighbouring numbers
		}
		if t.below(mid) > k {
			hi = mid
		} else {
			lo = mid
		}
	}
	return lo + float64((hi-lo)/2)
}

// bound returns max_i Σ_j |T_ij|, which no eigenvalue exceeds.
func (t tridiagonal) bound() float64 {
	bound := 0.0
	for i, d := range t.diag {
		sum := math.Abs(d)
		if i > 0 {
			sum += math.Abs(t.side[i-1])
		}
		if i+1 < len(t.diag) {
			sum += math.Abs(t.side[i])
		}
		bound = max(bound, sum)
	}
	return bound
}

// below returns the number of eigenvalues of T less than x, which is the
// number of negative pivots of T - x I.
func (t tridiagonal) below(x float64) int {
	count := 0
	pivot := 1.0
	for i, d := range t.diag {
		fill := 0.0
		if i > 0 && t.side[i-1] != 0 {
			fill = t.side[i-1] * (t.side[i-1] / pivot) // infinite after the smallest pivot, and then the next fill is 0
		}
		switch pivot = d - x - fill; {
		case pivot == 0:
			pivot = math.SmallestNonzeroFloat64
		case pivot < 0:
			count++
		}
	}
	return count
}
