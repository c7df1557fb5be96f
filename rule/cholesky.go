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

// multiply writes A x to dst, A by rows. Four rows at a time keep a processor busy
// that waits for every sum to be added to; each is summed as dot does, to the same
// bits.
func multiply(dst, a, x []float64) {
	n, e := len(x), 0
	for ; e+4 <= len(dst); e += 4 {
		r0, r1, r2, r3 := a[e*n:(e+1)*n], a[(e+1)*n:(e+2)*n], a[(e+2)*n:(e+3)*n], a[(e+3)*n:(e+4)*n]
		dst[e], dst[e+1], dst[e+2], dst[e+3] = dots(r0, r1, r2, r3, x)
	}
	for ; e < len(dst); e++ {
		dst[e] = dot(a[e*n:(e+1)*n], x)
	}
}

// dots returns the products of four rows with x, of whose length they are.
func dots(r0, r1, r2, r3, x []float64) (s0, s1, s2, s3 float64) {
	r0, r1, r2, r3 = r0[:len(x)], r1[:len(x)], r2[:len(x)], r3[:len(x)]
	for i, v := range x {
		s0 += float64(r0[i] * v)
		s1 += float64(r1[i] * v)
		s2 += float64(r2[i] * v)
		s3 += float64(r3[i] * v)
	}
	return s0, s1, s2, s3
}
