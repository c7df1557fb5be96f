package kernel

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

func benchmark(b *testing.B, bytes, flops int, run func(s *Set)) {
	for _, s := range sets() {
		b.Run(s.Name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(bytes))
			for b.Loop() {
				run(s)
			}
			if flops > 0 {
				b.ReportMetric(float64(flops)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
			}
		})
	}
}

func BenchmarkGemm(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, d := range []struct{ m, k, n int }{
		{2500, 192, 32},
		{250, 192, 32},
		{2500, 32, 32},
		{1000, 24, 32},
		{2500, 6, 32},
		{2500, 32, 5},
		{30, 50, 1600},
		{50, 32, 32},
		{50, 192, 32},
		{500, 6, 64},
		{500, 64, 1},
		{50, 24, 32},
		{1, 32, 32},
	} {
		a, bb, c := aligned(rng, d.m*d.k), aligned(rng, d.k*d.n), aligned(rng, d.m*d.n)
		name := fmt.Sprintf("%dx%dx%d", d.m, d.k, d.n)
		flops := 2 * d.m * d.k * d.n
		b.Run("AB/"+name, func(b *testing.B) {
			benchmark(b, 0, flops, func(s *Set) {
				s.Gemm(Product{C: c, LDC: d.n, A: a, ARow: d.k, ACol: 1, B: bb, LDB: d.n, M: d.m, N: d.n, K: d.k, Panels: 1})
			})
		})
		b.Run("ATB/"+name, func(b *testing.B) { // (m×k)ᵀ times m×n, the gradient of a tap
			benchmark(b, 0, flops, func(s *Set) {
				s.Gemm(Product{C: bb, LDC: d.n, A: a, ARow: 1, ACol: d.k, B: c, LDB: d.n, M: d.k, N: d.n, K: d.m, Panels: 1})
			})
		})
		b.Run("ABT/"+name, func(b *testing.B) { // m×n times (k×n)ᵀ, the gradient of an input
			benchmark(b, 0, flops, func(s *Set) { s.GemmBT(a, d.k, c, d.n, bb, d.n, d.m, d.k, d.n, false) })
		})
	}
}

func BenchmarkSpMM(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, d := range []struct {
		nodes, cols int
		density     float64
	}{{50, 1600, 0.3}, {50, 50, 0.3}, {50, 32, 0.3}, {50, 6, 0.12}, {50, 1, 0.3}, {400, 5, 0.025}, {10000, 32, 0.001}} {
		rowPtr, col, val := randomCSR(rng, d.nodes, d.nodes, d.density)
		x, y := aligned(rng, d.nodes*d.cols), aligned(rng, d.nodes*d.cols)
		b.Run(fmt.Sprintf("%dx%d", d.nodes, d.cols), func(b *testing.B) {
			benchmark(b, 4*d.cols*len(col), 2*len(col)*d.cols, func(s *Set) {
				s.SpMM(y, d.cols, rowPtr, col, val, x, d.cols, 0, d.nodes, d.cols)
			})
		})
	}
}

func BenchmarkElementwise(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	const n = 8192
	x, y, z, w := aligned(rng, n), aligned(rng, n), aligned(rng, n), make([]float32, n)
	for name, run := range map[string]func(s *Set){
		"Axpy":          func(s *Set) { s.Axpy(y, 1e-9, x) },
		"Scale":         func(s *Set) { s.Scale(y, 1) },
		"Dot":           func(s *Set) { s.Dot(x, y) },
		"ColumnSums":    func(s *Set) { s.ColumnSums(y[:32], x, 32, n/32, 32) },
		"Blend":         func(s *Set) { s.Blend(z, 1, x, 2, y, 3) },
		"LeakyReLU":     func(s *Set) { s.LeakyReLU(z, x, 0) },
		"LeakyReLUBack": func(s *Set) { s.LeakyReLUBack(z, x, y, 0, 1) },
		"Tanh":          func(s *Set) { s.Tanh(z, x) },
		"TanhBack":      func(s *Set) { s.TanhBack(z, x, y, 1) },
		"Softmax":       func(s *Set) { s.Softmax(z, x) },
		"Adam":          func(s *Set) { s.Adam(y, x, z, w, AdamStep{0.9, 0.1, 0.999, 0.001, 1e-9, 1, 1e-8}) },
	} {
		b.Run(name, func(b *testing.B) { benchmark(b, 4*n, 0, run) })
	}
}

// aligned returns random values that begin where a cache line does, as those of
// large matrices do.
func aligned(rng *rand.Rand, n int) []float32 {
	x := make([]float32, max(n, 8192))[:n]
	for i := range x {
		x[i] = float32(rng.NormFloat64())
	}
	return x
}
