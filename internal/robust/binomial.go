package robust

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// AtLeast returns the lower bound of Clopper and Pearson on a probability, given that
// it came true in k of n independent draws: with the given confidence, such as 0.999,
// the probability is at least that. It is the p at which k or more of n come true
// with probability 1 - confidence,
//
//	Σ_{i≥k} C(n,i) pⁱ (1-p)ⁿ⁻ⁱ = I_p(k, n-k+1) = α
func AtLeast(k, n int, confidence float64) float64 {
	if k <= 0 || n <= 0 {
		return 0
	}
	alpha := 1 - confidence
	low, high := 0.0, float64(k)/float64(n)
	if k == n { // αⁿ⁻¹, to all digits
		return math.Pow(alpha, 1/float64(n))
	}
	for range 60 { // of the p whose tail is not above α, the largest that is found
		p := (low + high) / 2
		if mathext.RegIncBeta(float64(k), float64(n-k+1), p) <= alpha {
			low = p
		} else {
			high = p
		}
	}
	return low
}

// onAverage returns a lower bound, by Hoeffding's inequality, on the expectation of
// something between 0 and 1 whose mean over n independent draws is known.
func onAverage(mean float64, n int, confidence float64) float64 {
	if n <= 0 {
		return 0
	}
	return max(mean-math.Sqrt(math.Log(1/(1-confidence))/(2*float64(n))), 0)
}
