//go:build amd64 && !purego

package kernel

import (
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"
)

// Shifts that write past the cache give the bits of the others, and touch no row that
// they were not asked for.
func TestSpMMStreams(t *testing.T) {
	for name, l := range map[string]*shifts{"avx2": &narrowShifts, "avx512": &wideShifts} {
		if l == &wideShifts && offerAVX512().set == nil {
			t.Logf("SKIPPED %s: %s", name, offerAVX512().why)
			continue
		}
		rng := rand.New(rand.NewPCG(7, 8))
		const rows, cols = 13, 20
		for _, n := range []int{16, 32, 48, 64, 96, 112, 128, 208, 256} {
			rowPtr, col, val := randomCSR(rng, rows, cols, 0.3)
			ld := n + 16*rng.IntN(2)
			x, got := aligned(rng, cols*ld), aligned(rng, rows*ld)
			want := slices.Clone(got)
			l.run(near, want, ld, rowPtr, col, val, x, ld, 2, rows-1, n)
			l.run(stream, got, ld, rowPtr, col, val, x, ld, 2, rows-1, n)
			if !slices.Equal(got, want) {
				t.Errorf("%s, %d columns: got other sums than without streaming", name, n)
			}
		}
	}
}

// A shift streams if Y is large and its rows are whole lines of the cache.
func TestPlaceOf(t *testing.T) {
	const n = 32
	large, small := make([]float32, streamBytes/size+16), make([]float32, nearBytes/size)
	for uintptr(unsafe.Pointer(&large[0]))%cacheLine != 0 {
		large = large[1:]
	}
	for _, c := range []struct {
		name   string
		y      []float32
		ldy, n int
		x      []float32
		want   place
	}{
		{"both large", large, n, n, large, stream},
		{"a small X", large, n, n, small, near},
		{"a small Y", small, n, n, large, far},
		{"a Y between lines", large[8:], n, n, large, far},
		{"rows between lines", large, n + 8, n, large, far},
		{"rows that end within a line", large, n, n - 8, large, far},
	} {
		if got := placeOf(c.y, c.ldy, c.x, c.n); got != c.want {
			t.Errorf("%s: got place %d, want %d", c.name, got, c.want)
		}
	}
}
