package optim

import (
	"fmt"
	"math"
)

// ClipNorm shortens grad, in place, to the length limit if it is longer, and
// returns the length it had:
//
//	norm = √(Σ g²)        g = g · limit/norm  where norm > limit
//
// A limit of 0 means none. The norm of a gradient with a NaN is NaN, with an
// infinity and no NaN it is +Inf; such a gradient is left as it is, since no
// factor mends it, and the caller should not step on it.
//
// The sum runs in float64, in four interleaved parts that are added at the
// end, and has the same bits on every architecture. ClipNorm panics if limit
// is negative or NaN.
func ClipNorm(grad []float32, limit float64) (norm float64) {
	if !(limit >= 0) {
		panic(fmt.Sprintf("optim: ClipNorm: limit %v", limit))
	}
	norm = math.Sqrt(squares(grad))
	if limit > 0 && norm > limit && finite(norm) {
		kernels.Scale(grad, float32(limit/norm))
	}
	return norm
}

// squares returns Σ g², part r over the elements i with i mod 4 = r.
func squares(grad []float32) float64 {
	var part [4]float64
	for len(grad) >= 4 {
		a, b, c, d := float64(grad[0]), float64(grad[1]), float64(grad[2]), float64(grad[3])
		part[0] += float64(a * a)
		part[1] += float64(b * b)
		part[2] += float64(c * c)
		part[3] += float64(d * d)
		grad = grad[4:]
	}
	for r, g := range grad {
		part[r] += float64(float64(g) * float64(g))
	}
	return (part[0] + part[1]) + (part[2] + part[3])
}
