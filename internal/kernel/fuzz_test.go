package kernel

import (
	"math/rand/v2"
	"testing"
)

func FuzzGemm(f *testing.F) {
	f.Add(uint64(1), uint8(7), uint8(33), uint8(12), uint8(1), uint8(1))
	f.Fuzz(func(t *testing.T, seed uint64, m, n, k, panels, gap uint8) {
		for _, s := range sets() {
			checkGemm(t, s, rand.New(rand.NewPCG(seed, 0)), int(m%80), int(n%80), int(k%80), 1+int(panels%4), int(gap%5))
		}
	})
}

func FuzzSpMM(f *testing.F) {
	f.Add(uint64(1), uint8(9), uint8(11), uint8(70), 0.3, uint8(1))
	f.Fuzz(func(t *testing.T, seed uint64, rows, cols, n uint8, density float64, gap uint8) {
		for _, s := range sets() {
			checkSpMM(t, s, rand.New(rand.NewPCG(seed, 0)), 1+int(rows%50), 1+int(cols%50), 1+int(n%200), density, int(gap%5))
		}
	})
}

func FuzzElementwise(f *testing.F) {
	f.Add(uint64(1), uint8(31))
	f.Fuzz(func(t *testing.T, seed uint64, n uint8) {
		for _, s := range sets() {
			checkElementwise(t, s, rand.New(rand.NewPCG(seed, 0)), int(n))
		}
	})
}

// Whatever the numbers, reductions and elementary functions stay inside their
// operands and within their stated errors.
func FuzzReductions(f *testing.F) {
	f.Add(uint64(1), uint8(7), uint8(19), 1.0)
	f.Fuzz(func(t *testing.T, seed uint64, rows, n uint8, spread float64) {
		if !(spread >= 0 && spread < 1e6) {
			return
		}
		for _, s := range sets() {
			rng := rand.New(rand.NewPCG(seed, 0))
			checkColumnSums(t, s, rng, 1+int(rows), 1+int(n))
			checkDot(t, s, rng, int(n))
			checkSoftmax(t, s, rng, 1+int(n), float32(spread))
			checkTanh(t, s, rng, int(n), float32(spread))
		}
	})
}
