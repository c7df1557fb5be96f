package figure

import (
	"math"
	"strconv"
	"strings"
)

// niceStep returns the smallest of 1, 2, 5, 10, 20, … that is at least about
// raw, at any power of ten.
func niceStep(raw float64) float64 {
	unit := math.Pow(10, math.Floor(math.Log10(raw)))
	for _, m := range []float64{1, 2, 5} {
		if raw <= m*unit*1.0001 {
			return m * unit
		}
	}
	return 10 * unit
}

// multiples returns the multiples of step from lo to hi, at most 50.
func multiples(lo, hi, step float64) []float64 {
	var out []float64
	first := math.Ceil(lo/step - 1e-6)
	for i := range 50 {
		v := (first + float64(i)) * step
		if v > hi+1e-6*step {
			break
		}
		if v == 0 {
			v = 0 // not -0
		}
		out = append(out, v)
	}
	return out
}

// linearTicks marks the multiples of step.
func (s *scale) linearTicks(step float64) {
	for _, v := range multiples(s.min, s.max, step) {
		s.mark(v, number(v, step))
	}
}

// mark adds a tick where the axis shows v.
func (s *scale) mark(v float64, label string) {
	if s.shows(v) {
		s.ticks = append(s.ticks, tick{v, label})
	}
}

// logTicks marks a logarithmic axis: powers of ten, and what lies between
// where few of those are in sight.
func (s *scale) logTicks(want int) {
	if s.zero {
		s.mark(0, number(0, 0))
	}
	decades := s.max - s.min
	if decades < 0.9 {
		lo, hi := math.Pow(10, s.min), math.Pow(10, s.max)
		step := niceStep((hi - lo) / float64(want))
		for _, v := range multiples(lo, hi, step) {
			s.mark(v, number(v, step))
		}
		return
	}
	label := func(v float64) string { return number(v, 0) }
	if math.Ceil(s.min-1e-9) < -3 || math.Floor(s.max+1e-9) > 5 { // one way of writing along one axis
		label = func(v float64) string { return minus(scientific(v)) }
	}
	every := max(1, math.Ceil(decades/8))
	for e := math.Ceil(s.min - 1e-9); e <= s.max+1e-9; e++ {
		if math.Mod(e, every) == 0 {
			s.mark(pow10(e), label(pow10(e)))
		}
	}
	if every > 1 {
		return
	}
	for e := math.Floor(s.min); e <= s.max; e++ {
		for m := 2.0; m < 10; m++ {
			v := m * pow10(e)
			switch {
			case !s.shows(v):
			case decades < 2.2 && (m == 2 || m == 5):
				s.mark(v, label(v))
			default:
				s.minor = append(s.minor, v)
			}
		}
	}
}

// pow10 returns 10 to the power of a whole number, as exact as a constant.
func pow10(e float64) float64 { return math.Pow10(int(e)) }

// number writes v as a tick label. A positive step is the distance between
// ticks and sets the number of decimals; otherwise as many as v needs.
func number(v, step float64) string {
	size := max(math.Abs(v), step)
	var text string
	switch {
	case v == 0:
		text = "0"
	case step > 0 && size/step > 1e5: // ticks that differ in late digits
		text = strconv.FormatFloat(v, 'f', min(decimals(step), 12), 64)
	case size >= 1e6 || size < 1e-3:
		text = scientific(v)
	case step >= 1e-6:
		text = strconv.FormatFloat(v, 'f', decimals(step), 64)
	default:
		text = strconv.FormatFloat(v, 'g', 6, 64)
	}
	return minus(text)
}

// minus gives negative numbers the sign of typography.
func minus(text string) string { return strings.ReplaceAll(text, "-", "−") }

// scientific writes v as 2.5e6, with no more digits than it needs.
func scientific(v float64) string {
	text := strconv.FormatFloat(v, 'e', 5, 64)
	digits, exponent, _ := strings.Cut(text, "e")
	digits = strings.TrimSuffix(strings.TrimRight(digits, "0"), ".")
	if strings.Trim(exponent, "+0") == "" {
		return digits
	}
	sign := ""
	if exponent[0] == '-' {
		sign = "-"
	}
	return digits + "e" + sign + strings.TrimLeft(exponent[1:], "0")
}

// decimals returns how many digits after the point tell multiples of step
// apart.
func decimals(step float64) int {
	return max(0, int(-math.Floor(math.Log10(step)+1e-9)))
}
