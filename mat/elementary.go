package mat

import "math"

// ln 2 in two parts: the first has zeros behind its first 32 bits, so that a
// small whole number times it is exact.
const (
	ln2High = 6.93147180369123816490e-01
	ln2Low  = 1.90821492927058770002e-10
)

// Exp returns e^x within one unit in the last place. Every operation rounds on
// its own, so that all architectures get the same bits; those of math.Exp differ
// where it is written in assembly.
//
//	x = k ln 2 + r, |r| ≤ ½ ln 2      e^x = 2ᵏ e^r
//	e^r = 1 + r + r c/(2-c)           c = r - r² p(r²), p the polynomial of fdlibm
func Exp(x float64) float64 {
	switch {
	case math.IsNaN(x) || math.IsInf(x, 1):
		return x
	case x > 709.782712893384:
		return math.Inf(1)
	case x < -745.1332191019412:
		return 0
	}
	k := math.Floor(float64(x*math.Log2E) + 0.5)
	high, low := x-float64(k*ln2High), float64(k*ln2Low)
	r := high - low
	t := float64(r * r)
	c := r - float64(t*polynomial(t, exponential))
	y := 1 - ((low - float64(r*c)/(2-c)) - high)
	if -1021 < k && k < 1023 { // 2ᵏ is a normal number, and so is the product
		return y * math.Float64frombits(uint64(int64(k)+1023)<<52)
	}
	return math.Ldexp(y, int(k))
}

// exponential are the coefficients of p, highest power first.
var exponential = []float64{
	4.13813679705723846039e-08, -1.65339022054652515390e-06, 6.61375632143793436117e-05,
	-2.77777777770155933842e-03, 1.66666666666666019037e-01,
}

// Log returns the natural logarithm of x within one unit in the last place, with
// the same bits everywhere, as Exp does.
//
//	x = 2ᵏ (1+f), √½ < 1+f < √2, s = f/(2+f)      ln(1+f) = f - (f²/2 - s (f²/2 + s² q(s²)))
func Log(x float64) float64 {
	switch {
	case math.IsNaN(x) || math.IsInf(x, 1):
		return x
	case x < 0:
		return math.NaN()
	case x == 0:
		return math.Inf(-1)
	}
	m, e := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m *= 2
		e--
	}
	f, k := m-1, float64(e)
	s := f / (2 + f)
	t := float64(s * s)
	half := float64(float64(0.5*f) * f)
	rest := float64(s*(half+float64(t*polynomial(t, logarithm)))) + float64(k*ln2Low)
	return float64(k*ln2High) - ((half - rest) - f)
}

// logarithm are the coefficients of q, highest power first.
var logarithm = []float64{
	1.479819860511658591e-01, 1.531383769920937332e-01, 1.818357216161805012e-01,
	2.222219843214978396e-01, 2.857142874366239149e-01, 3.999999999940941908e-01, 6.666666666666735130e-01,
}

// polynomial returns the value of one by Horner's rule.
func polynomial(x float64, coefficients []float64) float64 {
	sum := 0.0
	for _, c := range coefficients {
		sum = float64(sum*x) + c
	}
	return sum
}
