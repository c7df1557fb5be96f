package kernel

import (
	"math"
	"math/rand/v2"
	"testing"
)

// fnv is a hash of float32 values. All that are not a number count as one:
// their bits are not promised.
type fnv uint64

func (h *fnv) add(values ...float32) {
	for _, v := range values {
		bits := uint64(math.Float32bits(v))
		if v != v {
			bits = 0x7fc00000
		}
		*h = (*h ^ fnv(bits)) * 1099511628211
	}
}

// One family, one hash: sets of one family give the same bits for the same
// operands, whatever the processor. CI runs this test on amd64 and on arm64.
func TestFamilyBits(t *testing.T) {
	want := map[string]uint64{Fused: 0x52228474ef43445f, Portable: 0x673ed437b4a2ad59}
	eachSet(t, func(t *testing.T, s *Set) {
		if got := bitsOf(s); got != want[s.Family] {
			t.Errorf("hash of the results is %#x, want %#x, that of the family %s", got, want[s.Family], s.Family)
		}
	})
}

// bitsOf runs every loop of a set on operands of many sizes, with numbers of
// all magnitudes, and returns the hash of the results.
func bitsOf(s *Set) uint64 {
	rng := rand.New(rand.NewPCG(17, 18))
	hash := fnv(14695981039346656037)
	for m := 1; m <= 14; m++ {
		for _, n := range []int{1, 2, 3, 4, 5, 7, 8, 11, 16, 17, 33, 70} {
			hashProducts(s, rng, &hash, m, n, 1+rng.IntN(20))
		}
	}
	hashProducts(s, rng, &hash, 9, 7, 600)
	hashProducts(s, rng, &hash, 60, 5, 130)
	for n := 1; n < 80; n++ {
		hashElementwise(s, rng, &hash, n)
		hashReductions(s, rng, &hash, n)
	}
	hashElementwise(s, rng, &hash, 5000)
	hashReductions(s, rng, &hash, 5000)
	return uint64(hash)
}

// magnitudes draws n numbers with exponents up to ±spread.
func magnitudes(rng *rand.Rand, n int, spread float64) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(math.Ldexp(rng.Float64()*4-2, int(spread*(2*rng.Float64()-1))))
	}
	return x
}

func hashProducts(s *Set, rng *rand.Rand, hash *fnv, m, n, k int) {
	a, b, c := magnitudes(rng, m*k, 3), magnitudes(rng, 2*n*k, 3), magnitudes(rng, m*n, 3)
	s.Gemm(Product{C: c, Start: c, A: a, B: b, LDC: n, StartLD: n, LDB: n, ARow: k, ACol: 1, M: m, N: n, K: k, Panels: 1})
	hash.add(c...)
	s.Gemm(Product{C: c, A: a, B: b, LDC: n, LDB: n, ARow: 1, ACol: m, M: m, N: n, K: k, Panels: 1})
	hash.add(c...)
	s.Gemm(Product{C: c, Start: b, A: a, B: b, LDC: n, LDB: n, ARow: k, ACol: 1, M: m, N: n, K: k, Panels: 2})
	hash.add(c...)
	s.GemmBT(c, n, a, k, b, k, m, n, k, true)
	hash.add(c...)
	sums := magnitudes(rng, n, 3)
	s.ColumnSums(sums, c, n, m, n)
	hash.add(sums...)
	rowPtr, col, val := randomCSR(rng, m, m, 0.4)
	y := make([]float32, m*n)
	s.SpMM(y, n, rowPtr, col, val, c, n, 0, m, n)
	hash.add(y...)
}

func hashElementwise(s *Set, rng *rand.Rand, hash *fnv, n int) {
	u, v, w := magnitudes(rng, n, 80), magnitudes(rng, n, 80), magnitudes(rng, n, 80)
	for i, x := range []float32{0, float32(math.Copysign(0, -1)), float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()), 1e-40} {
		if n > 40 {
			u[rng.IntN(n)], v[rng.IntN(n)], w[rng.IntN(n)] = x, x, x
		}
		if i == n%7 {
			u[0] = x
		}
	}
	y := append([]float32(nil), w...)
	note := func() {
		hash.add(y...)
		copy(y, w)
	}
	s.Axpy(y, u[n/2], v)
	note()
	s.Scale(y, v[n/2])
	note()
	s.Blend(y, 0.3, u, 0.7, v, 0.1)
	note()
	s.LeakyReLU(y, u, 0.1)
	note()
	s.LeakyReLU(y, u, 0)
	note()
	s.LeakyReLUBack(y, u, v, 0.1, 0.7)
	note()
	s.TanhBack(y, u, v, 1.3)
	note()
	s.Tanh(y, magnitudes(rng, n, 10))
	note()
	s.Tanh(y, u)
	note()
	m, means := magnitudes(rng, n, 3), make([]float32, n)
	s.Adam(y, magnitudes(rng, n, 60), m, means, AdamStep{0.9, 0.1, 0.999, 0.001, 0.01, 10, 1e-8})
	s.Adam(y, u, m, means, AdamStep{0.9, 0.1, 0.999, 0.001, 0.01, 5, 1e-8})
	note()
	hash.add(m...)
	hash.add(means...)
}

func hashReductions(s *Set, rng *rand.Rand, hash *fnv, n int) {
	for _, spread := range []float64{1, 8, 90} {
		x, y := magnitudes(rng, n, spread), magnitudes(rng, n, spread)
		hash.add(s.Dot(x, y))
		p := make([]float32, n)
		largest, sum := s.Softmax(p, x)
		hash.add(largest, sum)
		hash.add(p...)
	}
	tiny := magnitudes(rng, n, 0)
	for i := range tiny {
		tiny[i] *= 0x1p-80 // products round to zeros of either sign
	}
	hash.add(s.Dot(tiny, magnitudes(rng, n, 0)), s.Dot(tiny, tiny[:n]))
	low := []float32{float32(math.Inf(-1)), -200, 0, float32(math.Copysign(0, -1))}
	_, sum := s.Softmax(low, low)
	hash.add(sum)
	hash.add(low...)
}
