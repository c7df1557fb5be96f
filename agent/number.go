package agent

import "math"

// number is a positive number mantissa·2ᵉˣᵖᵒⁿᵉⁿᵗ that neither overflows nor
// vanishes in a long product. Its mantissa, ½ to 1, is the sum of two float32,
// so that it travels exactly.
type number struct {
	mantissa float64
	exponent int
}

const (
	numberLen   = 3       // values on the wire: the mantissa, what is missing in it, the exponent
	maxExponent = 1 << 24 // up to here a float32 holds every integer
)

// newNumber returns x·2ᵉ, rounded to 48 bits; x must be positive and finite.
func newNumber(x float64, e int) number {
	m, shift := math.Frexp(x)
	first := float32(m)
	return number{float64(first) + float64(float32(m-float64(first))), e + shift}
}

// float returns n as a float64, at least 2^-1000 and at most 2^1000.
func (n number) float() float64 { return math.Ldexp(n.mantissa, max(-1000, min(n.exponent, 1000))) }

// over returns n/d, rounded to 48 bits.
func (n number) over(d number) number {
	return newNumber(n.mantissa/d.mantissa, n.exponent-d.exponent)
}

// times returns n·x in units of 2ᵘⁿⁱᵗ.
func (n number) times(x float64, unit int) float64 {
	return math.Ldexp(n.mantissa*x, max(n.exponent-unit, -2000))
}

// less compares two numbers.
func (n number) less(m number) bool {
	return n.exponent < m.exponent || n.exponent == m.exponent && n.mantissa < m.mantissa
}

// put writes n to three values.
func (n number) put(values []float32) {
	first := float32(n.mantissa)
	values[0], values[1], values[2] = first, float32(n.mantissa-float64(first)), float32(n.exponent)
}

// readNumber is the inverse of put. It says whether the values are those of a
// number that put may have written.
func readNumber(values []float32) (number, bool) {
	m, e := float64(values[0])+float64(values[1]), float64(values[2])
	if !(m >= 0.5 && m < 1) || !(math.Abs(e) < maxExponent) || e != math.Trunc(e) {
		return number{}, false
	}
	n := number{m, int(e)}
	var again [numberLen]float32
	n.put(again[:])
	return n, again == [numberLen]float32(values)
}
