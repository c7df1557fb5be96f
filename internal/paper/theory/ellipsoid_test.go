package theory

import (
	"math"
	"math/rand/v2"
	"testing"

	gmat "gonum.org/v1/gonum/mat"
)

// logs returns ln of values.
func logs(values ...float64) []float64 {
	for i, v := range values {
		values[i] = math.Log(v)
	}
	return values
}

// One activation between two maps, by hand: U = (1 1)ᵀ(1 1), Θ = diag(2, 3), so that
//
//	2Θ - U = (3 -1; -1 5)      Q = Θ (2Θ - U)⁻¹ Θ = (20 6; 6 27)/14
//
// whether B has fewer columns than rows or not.
//
// Reference: doc/theory.md "All layers together".
func TestEllipsoidBehindActivation(t *testing.T) {
	last := gmat.NewDense(1, 2, []float64{1, 2})
	want := math.Sqrt((20 + 2*2*6 + 4*27) / 14.0)
	for name, first := range map[string]*gmat.Dense{
		"one column": gmat.NewDense(2, 1, []float64{1, 1}), "two columns": gmat.NewDense(2, 2, []float64{0.6, 0.8, 0.6, 0.8}),
	} {
		e := ellipsoids{[]*gmat.Dense{first, last}, [][]float64{logs(2, 3)}}
		if got, _ := e.bound(); !near(got, want, 1e-7) || got < want*(1+margin/2) {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
		// Three maps: the ellipsoid goes on through a second activation.
		e = ellipsoids{[]*gmat.Dense{first, last, gmat.NewDense(1, 1, []float64{-5})}, [][]float64{logs(2, 3), logs(20)}}
		u := want * want
		if got, _ := e.bound(); !near(got, 5*20/math.Sqrt(2*20-u), 1e-7) {
			t.Errorf("%s, three maps: got %v, want %v", name, got, 5*20/math.Sqrt(2*20-u))
		}
		for _, small := range []float64{0.9, 1 + 1e-7} { // 2Θ = 2 is U's longest axis, and what is near it is not trusted
			e = ellipsoids{[]*gmat.Dense{first, last}, [][]float64{logs(small, small)}}
			if got, _ := e.bound(); !math.IsInf(got, 1) {
				t.Errorf("%s, Θ = %v: got %v, want none", name, small, got)
			}
		}
	}
}

// A matrix 2Θ - U whose smallest eigenvalue is a hundred millionth of the largest is not
// trusted, though no pivot of it is small.
func TestEllipsoidOfBadCondition(t *testing.T) {
	for _, c := range []struct {
		delta float64
		want  bool
	}{{1e-5, false}, {0.5, true}} {
		a, d := 2e-3, 1.9 // 2I - U = (a b; b d) with ab - b² = δ ab
		b := math.Sqrt(a * d * (1 - c.delta))
		first := math.Sqrt(2 - a)
		root := gmat.NewDense(2, 2, []float64{first, 0, -b / first, math.Sqrt(2 - d - b*b/(2-a))})
		if got := leave(root, logs(1, 1)) != nil; got != c.want {
			t.Errorf("δ = %v: trusted %v, want %v", c.delta, got, c.want)
		}
	}
}

// Two maps whose product is 0 are worth half the product of their norms, two that
// fit together all of it: both are found, and no D does more.
func TestEllipsoidsAreExactForOneUnit(t *testing.T) {
	r := math.Sqrt(0.5)
	in := gmat.NewDense(2, 1, []float64{r, r})
	for name, c := range map[string]struct{ a, b, want float64 }{"across": {r, -r, 0.5}, "along": {r, r, 1}} {
		if got := gain([]*gmat.Dense{in, gmat.NewDense(1, 2, []float64{c.a, c.b})}, 20); got < c.want || got > c.want*1.002 {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
	if got := gain([]*gmat.Dense{in, gmat.NewDense(1, 2, nil)}, 20); got != 0 {
		t.Errorf("a map that takes nothing: got %v, want 0", got)
	}
}

// Slopes are those of the bound, by differences.
func TestSlopesOfEllipsoids(t *testing.T) {
	rng := newRand(70)
	for k := range 20 {
		e := randomChain(rng, 3, 4, 5, 1) // one axis, which is the longest
		e.begin()
		_, slopes := e.bound()
		for i, theta := range e.theta {
			for j, at := range theta {
				const h = 1e-5
				theta[j] = at + h
				high, _ := e.bound()
				theta[j] = at - h
				low, _ := e.bound()
				theta[j] = at
				now, _ := e.bound()
				if want := (high - low) / (2 * h * now); math.Abs(slopes[i][j]-want) > 1e-5 {
					t.Fatalf("chain %d, activation %d, coordinate %d: got a slope of %v, want %v", k, i, j, slopes[i][j], want)
				}
			}
		}
	}
}

// randomChain returns maps between spaces of the given sizes.
func randomChain(rng *rand.Rand, sizes ...int) *ellipsoids {
	e := &ellipsoids{}
	for i, n := range sizes[1:] {
		e.maps = append(e.maps, gmat.NewDense(n, sizes[i], randomSignal(rng, n*sizes[i])))
	}
	return e
}

// worstOf returns the largest norm of the chain over all D of zeros and ones, which
// are the worst: a norm is convex in each entry.
func (e *ellipsoids) worstOf(i int, b *gmat.Dense) float64 {
	if b == nil {
		b = e.maps[0]
	}
	rows, cols := b.Dims()
	if i == len(e.maps)-1 {
		return spectralNorm(b.RawMatrix().Data, rows, cols)
	}
	worst := 0.0
	for pattern := range 1 << rows {
		d := gmat.DenseCopyOf(b)
		for k := range rows {
			if pattern>>k&1 == 0 {
				clear(d.RawRowView(k))
			}
		}
		var next gmat.Dense
		next.Mul(e.maps[i+1], d)
		worst = max(worst, e.worstOf(i+1, &next))
	}
	return worst
}

// No choice of activations exceeds a bound, with any Θ; the one that is found is
// within a tenth of the worst in the median, and below the bound of averages.
func TestEllipsoidsHold(t *testing.T) {
	rng := newRand(71)
	var ratios, means []float64
	for k := range 150 {
		e := randomChain(rng, 1+rng.IntN(4), 1+rng.IntN(5), 1+rng.IntN(5), 1+rng.IntN(3))
		if k%2 == 0 {
			e = randomChain(rng, 1+rng.IntN(4), 2+rng.IntN(7), 1+rng.IntN(3))
		}
		worst := e.worstOf(0, nil)
		e.begin()
		start, _ := e.bound()
		for range 5 {
			other := ellipsoids{maps: e.maps}
			for _, theta := range e.theta {
				moved := append([]float64(nil), theta...)
				for i := range moved {
					moved[i] += rng.NormFloat64()
				}
				other.theta = append(other.theta, moved)
			}
			if b, _ := other.bound(); b < worst {
				t.Fatalf("chain %d: a product has the norm %v, bound %v", k, worst, b)
			}
		}
		best := e.descend(40)
		if best < worst || best > start {
			t.Fatalf("chain %d: a product has the norm %v, bounds are %v at first and %v", k, worst, start, best)
		}
		var pieces []piece
		for i, a := range e.maps {
			_, cols := a.Dims()
			pieces = append(pieces, matrixPiece(string(rune('a'+i)), a.RawMatrix().Data, cols))
		}
		ratios, means = append(ratios, best/worst), append(means, (norms{}).chain(pieces)/best)
	}
	t.Logf("bound over worst %.4f in the median, averages over bound %.4f", median(ratios), median(means))
	if median(ratios) > 1.1 || median(means) < 1.05 {
		t.Errorf("bound over worst %v in the median, averages over bound %v; want at most 1.1 and at least 1.05", median(ratios), median(means))
	}
}
