package kernel

import "math"

// Exponential and hyperbolic tangent in float32, shared by all sets: the
// portable loops call exp1 and tanh1, the assembly does the same steps on
// many lanes. Write x = n·ln 2 + r with |r| ≤ ln 2 / 2; then
//
//	exp x   = 2ⁿ·(1 + expm1 r)
//	expm1 x = 2ⁿ·expm1 r + (2ⁿ - 1)
//	tanh x  = E/(E + 2)              with E = expm1 2x, for x ≥ 0
//
// and expm1 r = r + r²·q(r), q the Taylor polynomial Σ rⁱ/(i+2)!, i ≤ 5,
// whose remainder is below 2⁻²⁷ of the result.
const (
	log2E = 1 / math.Ln2

	// ln 2 in two parts; n·ln2Hi is exact for |n| < 2¹¹.
	ln2Hi = 0x1.62ep-1
	ln2Lo = math.Ln2 - ln2Hi

	// Beyond this argument tanh rounds to 1.
	tanhMax = 10

	// Adding and subtracting 1.5·2²³ rounds to the nearest integer.
	roundMagic = 3 << 22
)

// taylor holds 1/7!, 1/6!, …, 1/2!, the coefficients of q in Horner order.
var taylor = [6]float32{1.0 / 5040, 1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 1.0 / 2}

// reduce returns n and expm1 r for x = n·ln 2 + r.
func reduce(x float32) (n, expm1 float32) {
	n = (float32(x*log2E) + roundMagic) - roundMagic
	r := x - float32(n*ln2Hi)
	r -= float32(n * ln2Lo)
	q := taylor[0]
	for _, t := range taylor[1:] {
		q = float32(q*r) + t
	}
	return n, r + float32(float32(r*r)*q)
}

// pow2 is 2ⁿ for integer -126 ≤ n ≤ 127.
func pow2(n float32) float32 { return math.Float32frombits(uint32(int32(n)+127) << 23) }

// exp1 is exp x for x ≤ 0. Results below the smallest normal number are 0.
func exp1(x float32) float32 {
	n, e := reduce(x)
	if n < -126 {
		return 0
	}
	s := pow2(n)
	return float32(s*e) + s
}

func tanh1(x float32) float32 {
	const sign = 1 << 31
	bits := math.Float32bits(x)
	a := min(math.Float32frombits(bits&^sign), tanhMax) // |x|
	n, e := reduce(2 * a)
	s := pow2(n)
	e = float32(s*e) + (s - 1)
	return math.Float32frombits(math.Float32bits(e/(e+2)) | bits&sign)
}

// Log returns the natural logarithm of a positive, finite, normal x as a
// float64, the same bits on every architecture. With x = 2ᵏ·m,
// √½ ≤ m < √2 and f = (m-1)/(m+1),
//
//	log x = k·ln 2 + 2·(f + f³/3 + f⁵/5 + …)
func Log(x float32) float64 {
	m, k := math.Frexp(float64(x))
	if m < math.Sqrt2/2 {
		m, k = 2*m, k-1
	}
	f := (m - 1) / (m + 1)
	f2 := f * f
	sum := 0.0
	for i := 21; i >= 1; i -= 2 {
		sum = float64(sum*f2) + 1/float64(i)
	}
	return float64(float64(k)*math.Ln2) + float64(2*f*sum)
}
