package crown

import (
	"math"

	"github.com/wdgnn/wdgnn/gnn"
)

// lines are two straight lines that hold a nonlinearity between them on an
// interval [l, u]:
//
//	a h + b  ≤  σ(h)  ≤  A h + B        l ≤ h ≤ u
type lines struct {
	lowSlope, low   float64 // a, b
	highSlope, high float64 // A, B
}

// relax returns the lines of CROWN for σ on [l, u]. At a point, l = u, both are
// the tangent. Bounds that are not finite give lines that are not numbers, with
// which nothing is certified.
func relax(a gnn.Activation, l, u float64) lines {
	switch a {
	case gnn.ReLU:
		return relaxKink(0, l, u)
	case gnn.LeakyReLU:
		return relaxKink(leakySlope, l, u)
	case gnn.Tanh:
		return relaxTanh(l, u)
	}
	return lines{lowSlope: 1, highSlope: 1}
}

// relaxKink is relax for max(h, s h), 0 ≤ s < 1. Where the kink lies inside, the
// upper line is the chord, and the lower one the half line that leaves the smaller
// area between.
func relaxKink(s, l, u float64) lines {
	switch {
	case l >= 0:
		return lines{lowSlope: 1, highSlope: 1}
	case u <= 0:
		return lines{lowSlope: s, highSlope: s}
	}
	chord := (u - s*l) / (u - l)
	below := s
	if u > -l {
		below = 1
	}
	return lines{lowSlope: below, highSlope: chord, high: u * (1 - chord)}
}

// narrow is the width below which a chord of tanh is not computed from its ends:
// their difference would be rounding.
const narrow = 1e-5

// relaxTanh is relax for tanh, which is convex below 0 and concave above.
//
//	0 ≤ l        upper: the tangent in the middle            lower: the chord
//	l < 0 < u    upper: the chord if it lies above, that is if its slope is at most tanh'(u),
//	             otherwise the tangent at some d in (0, u] that passes (l, tanh l) on the upper side
//
// and as tanh(-h) = -tanh(h) the rest is the mirror image. A tangent at d > 0 lies
// above tanh from 0 on; between l and 0 the difference is concave, so above too
// if it is at both ends. On a narrow interval both lines have the smallest slope
// in it and begin at an end.
func relaxTanh(l, u float64) lines {
	if u-l < narrow {
		slope := min(tanhSlope(l), tanhSlope(u))
		return lines{slope, math.Tanh(l) - slope*l, slope, math.Tanh(u) - slope*u}
	}
	var out lines
	out.highSlope, out.high = aboveTanh(l, u)
	slope, at := aboveTanh(-u, -l)
	out.lowSlope, out.low = slope, -at
	return out
}

// aboveTanh returns slope and intercept of a line above tanh on [l, u].
func aboveTanh(l, u float64) (slope, at float64) {
	low, high := math.Tanh(l), math.Tanh(u)
	tangent := func(d float64) (float64, float64) {
		s := tanhSlope(d)
		return s, math.Tanh(d) - s*d
	}
	if l >= 0 {
		return tangent((l + u) / 2)
	}
	if chord := (high - low) / (u - l); u <= 0 || chord <= tanhSlope(u) {
		return chord, max(low-chord*l, high-chord*u)
	}
	most, least := min(u, -l, 20), 0.0
	for range 12 {
		d := (least + most) / 2
		if s, b := tangent(d); s*l+b >= low {
			most = d
		} else {
			least = d
		}
	}
	if s, b := tangent(most); s*l+b >= low {
		return s, b
	}
	return 0, high // level with the upper end
}

// tanhSlope returns tanh'(h) = 1 - tanh² h, from exponentials so that it does not
// vanish by rounding.
func tanhSlope(h float64) float64 {
	e := math.Exp(-2 * math.Abs(h))
	return 4 * e / ((1 + e) * (1 + e))
}
