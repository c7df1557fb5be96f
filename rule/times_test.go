package rule

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Products of small matrices have the bits of the plain loops, whatever their
// sizes.
func TestTimes(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	draw := func(n int) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = rng.NormFloat64()
		}
		return x
	}
	for range 200 {
		n, w, c := rng.IntN(9), rng.IntN(7), 1+rng.IntN(7)
		dst, x, m := draw(n*c), draw(n*w), draw(w*c)
		want := slices.Clone(dst)
		for i := range n {
			for k := range w {
				for j := range c {
					want[i*c+j] += float64(x[i*w+k] * m[k*c+j])
				}
			}
		}
		addTimes(dst, x, m, w, c)
		if !slices.Equal(dst, want) {
			t.Fatalf("%d×%d by %d×%d: got %v, want %v", n, w, w, c, dst, want)
		}
		sum, z := draw(c), draw(w)
		want = slices.Clone(sum)
		for k := range w {
			for j := range c {
				want[j] += float64(z[k] * m[k*c+j])
			}
		}
		addRowTimes(sum, z, m)
		if !slices.Equal(sum, want) {
			t.Fatalf("%d by %d×%d: got %v, want %v", w, w, c, sum, want)
		}
	}
}

// What is well within a limit is finite and below it; what is near it, or not a
// number, is left to an exact look.
func TestWellWithin(t *testing.T) {
	for _, c := range []struct {
		x     []float64
		limit float64
		want  bool
	}{
		{nil, 1, true},
		{[]float64{3, 4, 0}, 10, true},
		{[]float64{3, 4}, 5.1, false},
		{[]float64{3, 4, 12}, 13.1, false},
		{[]float64{3, 4}, math.Inf(1), true},
		{[]float64{1e30, 4}, 1, false},
		{[]float64{3, math.Inf(1)}, math.Inf(1), false},
		{[]float64{1, 2, math.NaN()}, math.Inf(1), false},
	} {
		if got := wellWithin64(c.x, c.limit); got != c.want {
			t.Errorf("%v within %v: got %v, want %v", c.x, c.limit, got, c.want)
		}
		var x []float32
		for _, v := range c.x {
			x = append(x, float32(v))
		}
		if got := wellWithin(x, c.limit); got != c.want {
			t.Errorf("%v within %v in float32: got %v, want %v", x, c.limit, got, c.want)
		}
	}
}
