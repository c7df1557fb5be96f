package conformal

import "math"

// Bound is what an answer was given with: how far from it the truth may be. Of
// classes High alone counts.
type Bound struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// everything is the bound of an answer of which nothing is known yet: no score is
// beyond it.
var everything = Bound{-math.MaxFloat64, math.MaxFloat64}

// Unknown says whether nothing is known yet of how far the truth may be.
func (b Bound) Unknown() bool { return b == everything }

// Set appends the classes that the answer y, scores of all classes, leaves
// possible, in ascending order. The best class is among them always.
func (b Bound) Set(dst []int, y []float32) []int {
	for c := range y {
		if b.Holds(y, c) {
			dst = append(dst, c)
		}
	}
	return dst
}

// Holds says whether class c is in the set of the answer y.
func (b Bound) Holds(y []float32, c int) bool {
	s := Margin(y, c)
	return s <= b.High || s-s != 0 || s <= 0 && c == best(y)
}

// Interval returns between which numbers the answer y says that the truth is,
// rounded outwards; all of them if nothing is known.
func (b Bound) Interval(y float32) (low, high float32) {
	if v := float64(y); b.Unknown() || v-v != 0 {
		return float32(math.Inf(-1)), float32(math.Inf(1))
	}
	l, h := float64(y)+b.Low, float64(y)+b.High
	low, high = float32(l), float32(h)
	if float64(low) > l {
		low = math.Nextafter32(low, float32(math.Inf(-1)))
	}
	if float64(high) < h {
		high = math.Nextafter32(high, float32(math.Inf(1)))
	}
	return low, high
}

// Margin returns the score of class c, by how much the best other class is ahead
// of it in the answer y; less than 0 if none is. It is not finite if y is not.
func Margin(y []float32, c int) float64 {
	other := math.Inf(-1)
	for k, v := range y {
		if v-v != 0 {
			return math.NaN()
		}
		if k != c {
			other = max(other, float64(v))
		}
	}
	if len(y) == 1 {
		return 0
	}
	return other - float64(y[c])
}

// best returns the first class with the largest score.
func best(y []float32) int {
	at := 0
	for c, v := range y {
		if v > y[at] {
			at = c
		}
	}
	return at
}

// Residual returns the score of an answer y to a question whose truth is a
// number. It is not finite if one of them is not.
func Residual(y, truth float32) float64 { return float64(truth) - float64(y) }
