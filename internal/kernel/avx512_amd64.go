//go:build !purego

package kernel

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// offerAVX512 is for processors that have it, with its extensions DQ, BW and
// VL, unless GODEBUG says cpu.avx512f=off. Where the processor gains nothing by
// it, it is passed over.
func offerAVX512() offer {
	o := offer{name: "avx512", set: &avx512}
	x := &cpu.X86
	if !x.HasAVX512 || !x.HasAVX512F || !x.HasAVX512DQ || !x.HasAVX512BW || !x.HasAVX512VL || !x.HasBMI2 || offerAVX2().set == nil {
		o.set, o.why = nil, "this processor lacks AVX-512, or GODEBUG says so"
		return o
	}
	o.why, o.passed = wideUnits(identity())
	return o
}

// Dot, Softmax and ColumnSums are those of AVX2: the first two group their sums
// by eight lanes, and the third waits for additions, not for their number.
var avx512 = Set{
	Name:       "avx512",
	Family:     Fused,
	Gemm:       gemmWide,
	GemmBT:     gemmBTWide,
	ColumnSums: columnSumsFast,
	SpMM:       spmmWide,
	Axpy: func(y []float32, a float32, x []float32) {
		axpyAVX512(first(y), a, first(x), len(y))
	},
	Scale: func(x []float32, a float32) {
		scaleAVX512(first(x), a, len(x))
	},
	Dot: avx2.Dot,
	Blend: func(y []float32, a float32, u []float32, b float32, v []float32, c float32) {
		blendAVX512(first(y), a, first(u), b, first(v), c, len(y))
	},
	LeakyReLU: func(y, x []float32, slope float32) {
		leakyReLUAVX512(first(y), first(x), slope, len(y))
	},
	LeakyReLUBack: func(dx, dy, y []float32, slope, scale float32) {
		leakyReLUBackAVX512(first(dx), first(dy), first(y), slope, scale, len(dx))
	},
	Tanh: func(y, x []float32) {
		tanhAVX512(first(y), first(x), len(y))
	},
	TanhBack: func(dx, dy, y []float32, scale float32) {
		tanhBackAVX512(first(dx), first(dy), first(y), scale, len(dx))
	},
	Softmax: avx2.Softmax,
	Adam: func(p, g, m, v []float32, s AdamStep) {
		adamAVX512(first(p), first(g), first(m), first(v), len(p),
			s.Beta1, s.Rest1, s.Beta2, s.Rest2, s.Rate, s.Unbias, s.Epsilon)
	},
}

const (
	wideLanes = 16 // float32 values in a register
	wideRows  = 12 // rows of C in registers
	wideBlock = 8 * wideRows
)

// tile is what the assembly of a product is told; strides are in bytes. It counts
// tiles down. Tools/kernelgen knows the order of the fields.
type tile struct {
	c, start, a, b          *float32
	ldc, lds                int
	aRow, aCol, aPanel, ldb int
	k, panels, tiles        int
	cols                    int // columns in the last register
	ahead, stride           int // from a to what is prefetched, and how far that moves at each step

	// Copies of c, start and a that the assembly moves on, in the end beyond their
	// matrices. The garbage collector stops a program that holds such a pointer.
	cNow, startNow, aNow uintptr
}

// gemmWide is fast for tiles of up to 12 rows.
func gemmWide(g Product) { g.wide() }

// wide is gemmWide.
func (g *Product) wide() {
	if g.thin() {
		g.wideTransposed()
		return
	}
	if g.flat() && g.gemmFlat(true) {
		return
	}
	if g.spread() {
		g.wideStrips()
		return
	}
	g.wideDirect()
}

// wideDirect is direct for the wide set.
func (g *Product) wideDirect() {
	inner := g.inner()
	if inner == g.K {
		g.wideBlocks()
		return
	}
	for p := 0; p < g.K; p += inner {
		block := *g
		block.A, block.B, block.K = g.A[p*g.ACol:], g.B[p*g.LDB:], min(g.K-p, inner)
		if p > 0 {
			block.Start, block.StartLD = g.C, g.LDC
		}
		block.wideBlocks()
	}
}

// wideBlocks is blocks for the wide set.
func (g *Product) wideBlocks() {
	rows := g.M
	if g.N > 2*wideLanes { // B passes by more than once
		rows = min(g.M, wideBlock)
	}
	for i := 0; i < g.M; i += rows {
		g.wideRows(i, min(g.M-i, rows))
	}
}

// wideTransposed is wide of a thin product.
func (g *Product) wideTransposed() {
	var ct [mostTransposed]float32
	t := g.across(ct[:])
	t.wideDirect()
	g.back(ct[:])
}

// wideStrips is wide of a product whose B is spread.
func (g *Product) wideStrips() {
	var b [innerBlock * strip]float32
	for p := 0; p < g.K; p += innerBlock {
		for j := 0; j < g.N; j += strip {
			part := g.strip(b[:], p, j)
			part.wideDirect()
		}
	}
}

// wideRows computes m rows of C from row i on, in tiles of nearly the same
// height.
func (g *Product) wideRows(i, m int) {
	tiles := (m + wideRows - 1) / wideRows
	height, taller := m/tiles, m%tiles
	if taller > 0 {
		g.wideTiles(i, height+1, taller)
	}
	if tiles > taller {
		g.wideTiles(i+taller*(height+1), height, tiles-taller)
	}
}

// wideTiles computes tiles of rows rows of C from row i on.
func (g *Product) wideTiles(i, rows, tiles int) {
	t := tile{
		ldc: g.LDC * size, lds: g.StartLD * size, aRow: g.ARow * size, aCol: g.ACol * size, aPanel: g.APanel * size,
		ldb: g.LDB * size, k: g.K, panels: g.Panels,
	}
	if g.ACol == 1 { // the next tile of A
		t.ahead, t.stride = rows*t.aRow, rows*size
	} else { // the next rows of Aᵀ
		t.ahead, t.stride = 8*t.aCol, t.aCol
	}
	for j := 0; j < g.N; {
		t.c, t.start, t.a, t.b, t.tiles = &g.C[i*g.LDC+j], g.start(i, j), &g.A[i*g.ARow], &g.B[j], tiles
		left := g.N - j
		vectors := min((left+wideLanes-1)/wideLanes, 2)
		switch {
		case rows == 1 && left >= 8*wideLanes:
			vectors = 8
		case rows <= wideRows/2 && left >= 4*wideLanes:
			vectors = 4
		}
		t.cols = min(left-(vectors-1)*wideLanes, wideLanes)
		switch {
		case vectors == 1:
			t.oneRegister(rows)
		case vectors > 2:
			t.manyRegisters(rows, vectors)
		case t.cols == wideLanes:
			t.twoRegisters(rows)
		default:
			t.twoRegistersPart(rows)
		}
		j += vectors * wideLanes
	}
}

func (t *tile) pointer() *byte { return (*byte)(unsafe.Pointer(t)) }

// oneRegister multiplies up to 16 columns.
func (t *tile) oneRegister(rows int) {
	switch rows {
	case 1:
		wide1x16(t.pointer())
	case 2:
		wide2x16(t.pointer())
	case 3:
		wide3x16(t.pointer())
	case 4:
		wide4x16(t.pointer())
	case 5:
		wide5x16(t.pointer())
	case 6:
		wide6x16(t.pointer())
	case 7:
		wide7x16(t.pointer())
	case 8:
		wide8x16(t.pointer())
	case 9:
		wide9x16(t.pointer())
	case 10:
		wide10x16(t.pointer())
	case 11:
		wide11x16(t.pointer())
	case 12:
		wide12x16(t.pointer())
	}
}

// twoRegisters multiplies 32 columns.
func (t *tile) twoRegisters(rows int) {
	switch rows {
	case 1:
		wide1x32(t.pointer())
	case 2:
		wide2x32(t.pointer())
	case 3:
		wide3x32(t.pointer())
	case 4:
		wide4x32(t.pointer())
	case 5:
		wide5x32(t.pointer())
	case 6:
		wide6x32(t.pointer())
	case 7:
		wide7x32(t.pointer())
	case 8:
		wide8x32(t.pointer())
	case 9:
		wide9x32(t.pointer())
	case 10:
		wide10x32(t.pointer())
	case 11:
		wide11x32(t.pointer())
	case 12:
		wide12x32(t.pointer())
	}
}

// twoRegistersPart multiplies 17 to 31 columns.
func (t *tile) twoRegistersPart(rows int) {
	switch rows {
	case 1:
		wide1x32part(t.pointer())
	case 2:
		wide2x32part(t.pointer())
	case 3:
		wide3x32part(t.pointer())
	case 4:
		wide4x32part(t.pointer())
	case 5:
		wide5x32part(t.pointer())
	case 6:
		wide6x32part(t.pointer())
	case 7:
		wide7x32part(t.pointer())
	case 8:
		wide8x32part(t.pointer())
	case 9:
		wide9x32part(t.pointer())
	case 10:
		wide10x32part(t.pointer())
	case 11:
		wide11x32part(t.pointer())
	case 12:
		wide12x32part(t.pointer())
	}
}

// manyRegisters multiplies 64 columns, or 128.
func (t *tile) manyRegisters(rows, vectors int) {
	switch {
	case vectors == 8:
		wide1x128(t.pointer())
	case rows == 1:
		wide1x64(t.pointer())
	case rows == 2:
		wide2x64(t.pointer())
	case rows == 3:
		wide3x64(t.pointer())
	case rows == 4:
		wide4x64(t.pointer())
	case rows == 5:
		wide5x64(t.pointer())
	case rows == 6:
		wide6x64(t.pointer())
	}
}

func gemmBTWide(c []float32, ldc int, a []float32, lda int, b []float32, ldb, m, n, k int, accumulate bool) {
	if k == 1 && ldb == 1 { // Bᵀ is B
		g := outer(c, ldc, a, lda, b, m, n, accumulate)
		g.wide()
		return
	}
	var bt [packed * packed]float32
	for j := 0; j < n; j += packed {
		cols := min(n-j, packed)
		for p := 0; p < k; p += packed {
			inner := min(k-p, packed)
			pack(&bt, b[j*ldb+p:], ldb, cols, inner)
			g := Product{C: c[j:], LDC: ldc, A: a[p:], ARow: lda, ACol: 1, B: bt[:], LDB: packed, M: m, N: cols, K: inner, Panels: 1}
			if accumulate || p > 0 {
				g.Start, g.StartLD = g.C, ldc
			}
			g.wide()
		}
	}
}

// spmmWide is spmmFast for more than eight columns.
func spmmWide(y []float32, ldy int, rowPtr []int, col []int32, val []float32, x []float32, ldx, lo, hi, n int) {
	l := &wideShifts
	if n <= colsThin {
		l = &narrowShifts
	}
	l.run(placeOf(y, ldy, x, n), y, ldy, rowPtr, col, val, x, ldx, lo, hi, n)
}

var wideShifts = shifts{
	lanes: wideLanes,
	eight: [...]spmmRows{spmmWide128, spmmWide128far, spmmWide128stream},
	four:  [...]spmmRows{spmmWide64, spmmWide64far, spmmWide64stream},
	two:   [...]spmmRows{spmmWide32, spmmWide32far, spmmWide32stream},
	part: [4][far + 1]spmmPart{
		{spmmWide16part, spmmWide16partfar},
		{spmmWide32part, spmmWide32partfar},
		{spmmWide48part, spmmWide48partfar},
		{spmmWide64part, spmmWide64partfar},
	},
}
