package mat

// Argmax returns the index of the largest value, the first of equals: the class
// that scores name. It is 0 if there are no values; NaN is never the largest,
// unless it comes first.
func Argmax[T float32 | float64](values []T) int {
	best := 0
	for i, v := range values {
		if v > values[best] {
			best = i
		}
	}
	return best
}

// Finite says whether no value is NaN or infinite.
func Finite[T float32 | float64](values ...T) bool {
	for _, v := range values {
		if v-v != 0 { // NaN - NaN and Inf - Inf are NaN
			return false
		}
	}
	return true
}

// SumSquares returns Σ x[i]², about: it is summed up in float32, in an order that
// differs between kernel sets, and is infinite or NaN if a value is. It is for
// bounds that leave room, far cheaper than a sum in order.
func SumSquares(x []float32) float32 { return kernels.Dot(x, x) }
