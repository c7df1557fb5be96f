package theory

import (
	"math"
	"testing"
)

// The constant is the largest |λ a'(λ)| of the whole interval: no point of a
// dense grid exceeds it, and some point comes close.
//
// Reference: Section 4, Definition 1.
func TestIntegralLipschitzAgainstGrid(t *testing.T) {
	rng := newRand(10)
	for k := range instances() {
		a := make(Response, 1+rng.IntN(9))
		for i := range a {
			a[i] = rng.NormFloat64() * math.Pow(10, 4*rng.Float64()-2)
			if rng.IntN(6) == 0 {
				a[i] = 0
			}
		}
		over := Interval{-2 * rng.Float64(), 3 * rng.Float64()}
		if k%5 == 0 {
			over.Low = 0 // as of a Laplacian
		}
		constant, at := a.IntegralLipschitz(over)
		gain, _ := a.LargestGain(over)
		slope := a.slope()
		if got := math.Abs(slope.At(at)); got != constant {
			t.Fatalf("case %d: the constant is %v but at %v it is %v", k, constant, at, got)
		}
		wantConstant, wantGain := 0.0, 0.0
		for _, l := range grid(over, 2000) {
			wantConstant = max(wantConstant, math.Abs(slope.At(l)))
			wantGain = max(wantGain, math.Abs(a.At(l)))
		}
		for _, c := range [][2]float64{{constant, wantConstant}, {gain, wantGain}} {
			if c[0] < c[1]*(1-1e-12) || c[0] > c[1]*(1+1e-3)+1e-12 {
				t.Fatalf("case %d, %v over %v: got %v, the grid says %v", k, a, over, c[0], c[1])
			}
		}
	}
}

// Closed forms: a constant has no slope, a(λ) = λᴷ has K λmaxᴷ.
//
// Reference: Section 4, Definition 1.
func TestIntegralLipschitzOfPowers(t *testing.T) {
	for order := range 6 {
		a := make(Response, order+1)
		a[order] = 1
		got, _ := a.IntegralLipschitz(Interval{-1.5, 2})
		if want := float64(order) * math.Pow(2, float64(order)); !near(got, want, 1e-14) {
			t.Errorf("order %d: got %v, want %v", order, got, want)
		}
	}
}

// The paper calls |λ a'(λ)| ≤ C_L equivalent to eq. (12). It is weaker: this
// filter, which climbs in two steps as λ² grows from 0, satisfies it with a
// constant that is too small for eq. (12).
//
// Reference: Section 4, eq. (12).
func TestTwoFormsOfIntegralLipschitzDiffer(t *testing.T) {
	a := make(Response, 49) // 2 - (1-λ²)³ - (1-λ²)²⁴
	a[0] = 2
	for _, m := range []int{3, 24} {
		c := -1.0
		for k := range m + 1 {
			a[2*k] += c
			c *= -float64(m-k) / float64(k+1)
		}
	}
	over := Interval{-1, 1}
	derivative, _ := a.IntegralLipschitz(over)
	pair := a.PairConstant(grid(over, 400))
	if pair < 1.05*derivative {
		t.Errorf("got %v over pairs and %v from the derivative, want the first clearly larger", pair, derivative)
	}
	l, m := 0.8, 0.1
	if left, right := a.At(l)-a.At(m), derivative*(l-m)/((l+m)/2); left <= right {
		t.Errorf("|a(%v) - a(%v)| = %v, want more than the %v of eq. (12)", l, m, left, right)
	}
}

// Eq. (12) over pairs of eigenvalues by brute force.
//
// Reference: Section 4, eq. (12).
func TestPairConstantIsEquation12(t *testing.T) {
	rng := newRand(11)
	for range 200 {
		a := Response(randomSignal(rng, 1+rng.IntN(6)))
		frequencies := randomSignal(rng, 2+rng.IntN(10))
		c := a.PairConstant(frequencies)
		for _, l := range frequencies {
			for _, m := range frequencies {
				if l == m {
					continue
				}
				left, right := math.Abs(a.At(l)-a.At(m)), c*math.Abs(l-m)/(math.Abs(l+m)/2)
				if left > right*(1+1e-9)+1e-12 {
					t.Fatalf("|a(%v) - a(%v)| = %v, want %v at most", l, m, left, right)
				}
			}
		}
	}
}
