package kernel

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Sets of one family give the same bits, in every loop: so a program may choose
// the fastest, and machines with different ones agree.
func TestSetsOfAFamilyAgree(t *testing.T) {
	first := map[string]*Set{} // of a family, the specification before others
	for _, s := range sets() {
		first[s.Family] = s
	}
	for _, o := range list {
		t.Run(o.name, func(t *testing.T) {
			if o.set == nil {
				t.Skipf("SKIPPED %s: %s", t.Name(), o.why)
			}
			if o.set == first[o.set.Family] {
				t.Skipf("SKIPPED %s: %s is what others of its family are compared with", t.Name(), o.name)
			}
			rng := rand.New(rand.NewPCG(17, 18))
			for range fewer(400) {
				compareProducts(t, o.set, first[o.set.Family], rng)
			}
			for n := range 200 {
				compareLoops(t, o.set, first[o.set.Family], rng, n)
			}
		})
	}
}

// compareProducts compares products and shifts of random sizes.
func compareProducts(t *testing.T, s, with *Set, rng *rand.Rand) {
	t.Helper()
	m, n, k := 1+rng.IntN(70), 1+rng.IntN(140), 1+rng.IntN(300)
	a, b, bias := line(rng, m*k).data, line(rng, k*n).data, line(rng, n).data
	both(t, s, with, "Gemm", m*n, func(s *Set, c []float32) {
		s.Gemm(Product{C: c, LDC: n, Start: bias, A: a, ARow: k, ACol: 1, B: b, LDB: n, M: m, N: n, K: k, Panels: 1})
	})
	both(t, s, with, "Gemm of Aᵀ", m*n, func(s *Set, c []float32) {
		s.Gemm(Product{C: c, LDC: n, Start: c, StartLD: n, A: a, ARow: 1, ACol: m, B: b, LDB: n, M: m, N: n, K: k, Panels: 1})
	})
	both(t, s, with, "GemmBT", m*n, func(s *Set, c []float32) { s.GemmBT(c, n, a, k, b, k, m, n, k, true) })
	rowPtr, col, val := randomCSR(rng, m, k, rng.Float64()/4)
	both(t, s, with, "SpMM", m*n, func(s *Set, c []float32) { s.SpMM(c, n, rowPtr, col, val, b, n, 0, m, n) })
	both(t, s, with, "ColumnSums", n, func(s *Set, c []float32) { s.ColumnSums(c, b, n, k, n) })
}

// compareLoops compares elementwise loops and sums of n values.
func compareLoops(t *testing.T, s, with *Set, rng *rand.Rand, n int) {
	t.Helper()
	x, y, z := line(rng, n).data, line(rng, n).data, line(rng, n).data
	for i := range n / 3 {
		odd := []float32{0, float32(math.Copysign(0, -1)), float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), 1e-40, 30, -30}
		x[rng.IntN(n)], y[rng.IntN(n)] = odd[i%8], odd[rng.IntN(8)]
	}
	both(t, s, with, "Axpy", n, func(s *Set, c []float32) { s.Axpy(c, 0.7, x) })
	both(t, s, with, "Scale", n, func(s *Set, c []float32) { s.Scale(c, -0.3) })
	both(t, s, with, "Dot", 1, func(s *Set, c []float32) { c[0] = s.Dot(z, z) })
	both(t, s, with, "Blend", n, func(s *Set, c []float32) { s.Blend(c, 0.7, x, -1.1, y, 0.2) })
	for _, slope := range []float32{0, 0.1} {
		both(t, s, with, "LeakyReLU", n, func(s *Set, c []float32) { s.LeakyReLU(c, x, slope) })
		both(t, s, with, "LeakyReLUBack", n, func(s *Set, c []float32) { s.LeakyReLUBack(c, x, y, slope, 0.4) })
	}
	both(t, s, with, "Tanh", n, func(s *Set, c []float32) { s.Tanh(c, x) })
	both(t, s, with, "TanhBack", n, func(s *Set, c []float32) { s.TanhBack(c, x, y, 0.4) })
	if n > 0 {
		both(t, s, with, "Softmax", n+2, func(s *Set, c []float32) { c[n], c[n+1] = s.Softmax(c[:n], z) })
	}
	both(t, s, with, "Adam", 3*n, func(s *Set, c []float32) {
		p, m, v := c[:n], c[n:2*n], c[2*n:]
		for i := range v {
			v[i] *= v[i] * 1e-38
		}
		s.Adam(p, x, m, v, AdamStep{0.9, 0.1, 0.999, 0.001, 0.01, 10, 1e-8})
	})
}

// both runs a loop with either set on n values that are the same before, and
// compares their bits afterwards. Those of what is not a number are not promised.
func both(t *testing.T, s, with *Set, name string, n int, run func(s *Set, c []float32)) {
	t.Helper()
	got, want := line(rand.New(rand.NewPCG(19, 20)), n), line(rand.New(rand.NewPCG(19, 20)), n)
	run(s, got.data)
	run(with, want.data)
	got.checkGuards(t, name)
	for i, w := range want.data {
		if g := got.data[i]; math.Float32bits(g) != math.Float32bits(w) && !(g != g && w != w) {
			t.Fatalf("%s: value %d of %d: got %v (%#x) from %s, want %v (%#x) as from %s",
				name, i, n, g, math.Float32bits(g), s.Name, w, math.Float32bits(w), with.Name)
		}
	}
}
