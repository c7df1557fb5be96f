//go:build linux

package kernel

import (
	"math/rand/v2"
	"os"
	"syscall"
	"testing"
	"unsafe"
)

// fence is memory with pages before and behind it that nobody may touch: a loop
// that reads there, even what it then masks away, ends the program.
type fence struct {
	pages []byte
	room  int // in values
}

// newFence has room for that many values, or a few more.
func newFence(t *testing.T, values int) *fence {
	t.Helper()
	page := os.Getpagesize()
	room := (4*values + page - 1) / page * page
	pages, err := syscall.Mmap(-1, 0, room+2*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Skipf("SKIPPED %s: %v", t.Name(), err)
	}
	for _, at := range []int{0, page + room} {
		if err := syscall.Mprotect(pages[at:at+page], syscall.PROT_NONE); err != nil {
			t.Skipf("SKIPPED %s: %v", t.Name(), err)
		}
	}
	t.Cleanup(func() { _ = syscall.Munmap(pages) })
	return &fence{pages[page : page+room], room / 4}
}

// line returns n values, which end where the memory does, or begin there.
func (f *fence) line(rng *rand.Rand, n int, atEnd bool) []float32 {
	all := unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(f.pages))), f.room)
	x := all[:n:n]
	if atEnd {
		x = all[f.room-n:]
	}
	for i := range x {
		x[i] = rng.Float32() - 0.5
	}
	return x
}

// No loop of any set reads or writes outside its operands, wherever these end: sizes,
// strides and the first row of a shift are random.
func TestLoopsStayWithinMemory(t *testing.T) {
	const most = 1 << 17
	var fences [4]*fence
	for i := range fences {
		fences[i] = newFence(t, most)
	}
	cols := newFence(t, most)
	for _, s := range sets() {
		t.Run(s.Name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(21, 22))
			for range fewer(800) {
				end := rng.IntN(3) > 0
				take := func(f, n int) []float32 { return fences[f].line(rng, n, end) }
				productsWithin(s, rng, take)
				shiftWithin(s, rng, take, cols, end)
			}
			for n := range 300 {
				for _, end := range []bool{false, true} {
					loopsWithin(s, n, func(f, n int) []float32 { return fences[f].line(rng, n, end) })
				}
			}
		})
	}
}

// productsWithin runs products in all their forms.
func productsWithin(s *Set, rng *rand.Rand, take func(f, n int) []float32) {
	m, n, k := 1+rng.IntN(40), 1+rng.IntN(150), 1+rng.IntN(80)
	if rng.IntN(4) == 0 {
		n = 1 + rng.IntN(9)
	}
	lda, ldb, ldc := k+rng.IntN(4), n+rng.IntN(4), n+rng.IntN(4)
	c := take(0, (m-1)*ldc+n)
	s.Gemm(Product{
		C: c, LDC: ldc, A: take(1, (m-1)*lda+k), ARow: lda, ACol: 1, B: take(2, (k-1)*ldb+n), LDB: ldb,
		M: m, N: n, K: k, Panels: 1,
	})
	s.Gemm(Product{
		C: c, LDC: ldc, Start: take(3, n), A: take(1, (3*m-1)*lda+k), ARow: lda, ACol: 1, APanel: m * lda, B: take(2, (3*k-1)*ldb+n), LDB: ldb,
		M: m, N: n, K: k, Panels: 3,
	})
	across := m + rng.IntN(4)
	s.Gemm(Product{
		C: c, LDC: ldc, Start: c, StartLD: ldc, A: take(1, (k-1)*across+m), ARow: 1, ACol: across, B: take(2, (k-1)*ldb+n), LDB: ldb,
		M: m, N: n, K: k, Panels: 1,
	})
	s.GemmBT(c, ldc, take(1, (m-1)*lda+k), lda, take(2, (n-1)*lda+k), lda, m, n, k, rng.IntN(2) == 0)
	s.ColumnSums(take(0, n), take(1, (k-1)*ldb+n), ldb, k, n)
}

// shiftWithin runs a shift.
func shiftWithin(s *Set, rng *rand.Rand, take func(f, n int) []float32, cols *fence, end bool) {
	m, k, n := 1+rng.IntN(40), 1+rng.IntN(60), 1+rng.IntN(150)
	if rng.IntN(3) == 0 {
		n = 1 + rng.IntN(9)
	}
	rowPtr, col, val := randomCSR(rng, m, k, rng.Float64()/2)
	place := cols.line(rng, len(col), end)
	own := unsafe.Slice((*int32)(unsafe.Pointer(unsafe.SliceData(place))), len(col))
	copy(own, col)
	v := take(1, len(val))
	copy(v, val)
	ldy, ldx := n+rng.IntN(4), n+rng.IntN(4)
	lo := rng.IntN(m)
	s.SpMM(take(0, (m-1)*ldy+n), ldy, rowPtr, own, v, take(2, (k-1)*ldx+n), ldx, lo, m, n)
}

// loopsWithin runs elementwise loops and sums of n values.
func loopsWithin(s *Set, n int, take func(f, n int) []float32) {
	p, a, b, c := take(0, n), take(1, n), take(2, n), take(3, n)
	s.Axpy(p, 0.5, a)
	s.Scale(p, 0.5)
	s.Dot(a, b)
	s.Blend(p, 0.5, a, 0.5, b, 0.5)
	s.LeakyReLU(p, a, 0.1)
	s.LeakyReLUBack(p, a, b, 0.1, 2)
	s.Tanh(p, a)
	s.TanhBack(p, a, b, 2)
	if n > 0 {
		s.Softmax(p, a)
	}
	s.Adam(p, a, b, c, AdamStep{Beta1: 0.9, Rest1: 0.1, Beta2: 0.9, Rest2: 0.1, Rate: 0.1, Unbias: 1, Epsilon: 1e-8})
}
