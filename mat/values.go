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
