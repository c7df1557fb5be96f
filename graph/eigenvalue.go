package graph

import "github.com/wdgnn/wdgnn/mat"

// smallMatrix is the number of rows up to which a matrix is handled densely.
const smallMatrix = 64

// LargestEigenvalue returns λmax, the largest absolute value of an eigenvalue
// of a, computed in float64 with a relative error of about 1e-10 (1e-8 for
// chains of 100,000 nodes, which are the hardest case). The same matrix always
// gives the same result.
//
// Small symmetric matrices are reduced densely. Larger ones are handled by
// Lanczos' method, which also works for disconnected graphs, for bipartite
// ones (where λ and -λ both occur) and for negative entries. A matrix that is
// not symmetric is treated component by component, by the power method or, if
// that is slow, densely; without cycles λmax is exactly 0.
//
// LargestEigenvalue panics if a is not square.
func LargestEigenvalue(a *mat.CSR) float64 {
	mustSquare("LargestEigenvalue", a)
	switch {
	case a.NNZ() == 0:
		return 0
	case !a.Equal(a.T()):
		return spectralRadius(a)
	case a.Rows <= smallMatrix:
		return reduce(a).radius()
	}
	return lanczos(a)
}

const (
	lanczosGrowth = 1e-11  // relative growth of the estimate that ends the iteration
	lanczosSteps  = 10_000 // products with the matrix at most
)

// lanczos returns the largest absolute eigenvalue of a symmetric matrix. It
// builds an orthonormal basis v_1, v_2, … of the spaces spanned by x, A x, …,
// A^(m-1) x, in which A is the tridiagonal matrix T:
//
//	β_m v_(m+1) = A v_m - α_m v_m - β_(m-1) v_(m-1)      α_m = v_mᵀ A v_m
//
// The extreme eigenvalues of T approach those of A from inside. Rounding makes
// the v_m lose their orthogonality, which repeats eigenvalues of T but moves
// none of them out of the spectrum, so no vector need be kept. The estimate
// is compared with that of at least 4/5 as many steps: where it approaches
// slowly, it is given the more time.
func lanczos(a *mat.CSR) float64 {
	n := a.Rows
	prev, v, w := make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range v {
		v[i] = 0.5 + scatter(i) // positive, and in no special direction
	}
	scale(v, 1/norm(v))
	negligible := 1e-14 * largestRowSum(a)
	var alpha, beta []float64
	estimate, nextLook := 0.0, 16
	for m := 1; ; m++ {
		multiply(w, a, v)
		if m > 1 {
			addScaled(w, -beta[m-2], prev)
		}
		alpha = append(alpha, dot(w, v))
		addScaled(w, -alpha[m-1], v)
		b := norm(w)
		if done := b <= negligible || m == lanczosSteps; done || m == nextLook {
			before := estimate
			estimate = tridiagonal{alpha, beta}.radius()
			if done || estimate-before <= lanczosGrowth*estimate {
				return estimate
			}
			nextLook += max(16, m/4)
		}
		beta = append(beta, b)
		scale(w, 1/b)
		prev, v, w = v, w, prev
	}
}

// scatter returns a number 0 ≤ u < 1 that looks random, the same for the same
// i, by the finaliser of SplitMix64.
func scatter(i int) float64 {
	z := (uint64(i) + 1) * 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return float64(float64((z^z>>31)>>11) / (1 << 53))
}
