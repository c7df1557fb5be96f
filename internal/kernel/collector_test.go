package kernel

import (
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"sync"
	"testing"
	"time"
)

// Products leave no pointer beyond their matrices where the garbage collector looks
// for one: it would stop the program. Goroutines multiply matrices that end where
// their memory does, with freed memory behind it, while the collector runs without
// pause and stacks move.
func TestProductsWhileTheCollectorRuns(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(1))
	for _, s := range sets() {
		t.Run(s.Name, func(t *testing.T) {
			end := time.Now().Add(time.Duration(fewer(300)) * time.Millisecond)
			var all sync.WaitGroup
			for g := range 4 * runtime.GOMAXPROCS(0) {
				all.Go(func() {
					rng := rand.New(rand.NewPCG(23, uint64(g)))
					for time.Now().Before(end) {
						multiplyDeep(s, rng, rng.IntN(8))
					}
				})
			}
			for time.Now().Before(end) {
				runtime.GC()
			}
			all.Wait()
		})
	}
}

// multiplyDeep multiplies below some frames of the stack, which so grows and shrinks.
func multiplyDeep(s *Set, rng *rand.Rand, depth int) {
	if depth == 0 {
		multiplyToTheEnd(s, rng)
		return
	}
	var frame [512]byte
	frame[rng.IntN(len(frame))]++
	multiplyDeep(s, rng, depth-1)
	runtime.KeepAlive(&frame)
}

// multiplyToTheEnd runs every form of product on matrices that fill their memory:
// a few values, whole pages, or more. The last ones take a while in the assembly,
// where nobody can be stopped: so the collector, which tries again and again, comes
// just after its end now and then.
func multiplyToTheEnd(s *Set, rng *rand.Rand) {
	m, n, k := 1+rng.IntN(40), 1+rng.IntN(70), 1+rng.IntN(40)
	switch rng.IntN(8) {
	case 0:
		m, n, k = 64, 32<<rng.IntN(2), 32<<rng.IntN(2)
	case 1, 2, 3, 4, 5:
		m, n, k = 500+12*rng.IntN(100), 32, 33
	}
	a, b, c := make([]float32, m*k), make([]float32, k*n), make([]float32, m*n)
	g := Product{C: c, LDC: n, A: a, ARow: k, ACol: 1, B: b, LDB: n, M: m, N: n, K: k, Panels: 1}
	for range 20 {
		s.Gemm(g)
	}
	g.Start, g.StartLD = make([]float32, m*n), n
	s.Gemm(g)
	g.ARow, g.ACol = 1, m
	s.Gemm(g)
	s.GemmBT(c, n, a, k, b, k, m, n, k, true)
	s.ColumnSums(make([]float32, n), c, n, m, n)
}
