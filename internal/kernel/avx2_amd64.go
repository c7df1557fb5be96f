//go:build !purego

package kernel

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// offerAVX2 is for processors with AVX2 and FMA, unless GODEBUG says
// cpu.avx2=off.
func offerAVX2() offer {
	o := offer{name: "avx2", set: &avx2}
	if !cpu.X86.HasAVX2 || !cpu.X86.HasFMA {
		o.set, o.why = nil, "this processor lacks AVX2 or FMA, or GODEBUG says so"
	}
	return o
}

var avx2 = Set{
	Name:       "avx2",
	Family:     Fused,
	Gemm:       gemmAVX2,
	GemmBT:     gemmBTFast,
	ColumnSums: columnSumsFast,
	SpMM:       spmmFast,
	Axpy: func(y []float32, a float32, x []float32) {
		axpyAVX2(first(y), a, first(x), len(y))
	},
	Scale: func(x []float32, a float32) {
		scaleAVX2(first(x), a, len(x))
	},
	Dot: func(x, y []float32) float32 {
		return dotAVX2(first(x), first(y), len(x))
	},
	Blend: func(y []float32, a float32, u []float32, b float32, v []float32, c float32) {
		blendAVX2(first(y), a, first(u), b, first(v), c, len(y))
	},
	LeakyReLU: func(y, x []float32, slope float32) {
		leakyReLUAVX2(first(y), first(x), slope, len(y))
	},
	LeakyReLUBack: func(dx, dy, y []float32, slope, scale float32) {
		leakyReLUBackAVX2(first(dx), first(dy), first(y), slope, scale, len(dx))
	},
	Tanh: func(y, x []float32) {
		tanhAVX2(first(y), first(x), len(y))
	},
	TanhBack: func(dx, dy, y []float32, scale float32) {
		tanhBackAVX2(first(dx), first(dy), first(y), scale, len(dx))
	},
	Softmax: func(p, x []float32) (max, sum float32) {
		return softmaxAVX2(first(p), first(x), len(p))
	},
	Adam: func(p, g, m, v []float32, s AdamStep) {
		adamAVX2(first(p), first(g), first(m), first(v), len(p),
			s.Beta1, s.Rest1, s.Beta2, s.Rest2, s.Rate, s.Unbias, s.Epsilon)
	},
}

// gemmAVX2 is fast with products of their own for few columns.
func gemmAVX2(g Product) {
	if g.flat() && g.gemmFlat(false) {
		return
	}
	g.fast()
}

// innerBlockAcross is innerBlock where A is read across its rows.
const innerBlockAcross = 128

// gemmRows computes tiles of rows rows of C from row i on.
func gemmRows(g *Product, i, rows, tiles int) {
	if rows == 0 || tiles == 0 {
		return
	}
	a, ldc, lds, aRow, aCol, aPanel, ldb := &g.A[i*g.ARow], g.LDC*size, g.StartLD*size, g.ARow*size, g.ACol*size, g.APanel*size, g.LDB*size
	j := 0
	for cols := 0; j+colTile <= g.N; j += cols {
		c, b, start := &g.C[i*g.LDC+j], &g.B[j], g.start(i, j)
		cols = colTile
		switch {
		case rows == 1 && j+4*colTile <= g.N:
			cols = 4 * colTile
			gemm1x64(c, ldc, start, lds, a, aRow, aCol, aPanel, b, ldb, g.K, g.Panels, tiles)
		case rows == 1 && j+2*colTile <= g.N:
			cols = 2 * colTile
			gemm1x32(c, ldc, start, lds, a, aRow, aCol, aPanel, b, ldb, g.K, g.Panels, tiles)
		case rows == 1:
			gemm1x16(c, ldc, start, lds, a, aRow, aCol, aPanel, b, ldb, g.K, g.Panels, tiles)
		case rows == 2 && j+2*colTile <= g.N:
			cols = 2 * colTile
			gemm2x32(c, ldc, start, lds, a, aRow, aCol, aPanel, b, ldb, g.K, g.Panels, tiles)
		case rows == 2:
			gemm2x16(c, ldc, start, lds, a, aRow, aCol, aPanel, b, ldb, g.K, g.Panels, tiles)
		case rows == 3 && j+2*colTile <= g.N:
			cols = 2 * colTile
			gemm3x32(c, ldc, start, lds, a, aRow, aCol, aPanel, b, ldb, g.K, g.Panels, tiles)
		case rows == 3:
			gemm3x16(c, ldc, start, lds, a, aRow, aCol, aPanel, b, ldb, g.K, g.Panels, tiles)
		case rows == 4:
			gemm4x16(c, ldc, start, lds, a, aRow, aCol, aPanel, b, ldb, g.K, g.Panels, tiles)
		case rows == 5:
			gemm5x16(c, ldc, start, lds, a, aRow, aCol, aPanel, b, ldb, g.K, g.Panels, tiles)
		case g.ACol == 1:
			gemm6x16fetch(c, ldc, start, lds, a, aRow, aCol, aPanel, b, ldb, g.K, g.Panels, tiles)
		default:
			gemm6x16(c, ldc, start, lds, a, aRow, aCol, aPanel, b, ldb, g.K, g.Panels, tiles)
		}
	}
	for ; j < g.N; j += colsThin {
		c, b, start, cols := &g.C[i*g.LDC+j], &g.B[j], g.start(i, j), min(g.N-j, colsThin)
		switch rows {
		case 1:
			gemm1x8(c, ldc, start, lds, a, aRow, aCol, aPanel, b, ldb, g.K, g.Panels, tiles, cols)
		case 2:
			gemm2x8(c, ldc, start, lds, a, aRow, aCol, aPanel, b, ldb, g.K, g.Panels, tiles, cols)
		case 3:
			gemm3x8(c, ldc, start, lds, a, aRow, aCol, aPanel, b, ldb, g.K, g.Panels, tiles, cols)
		case 4:
			gemm4x8(c, ldc, start, lds, a, aRow, aCol, aPanel, b, ldb, g.K, g.Panels, tiles, cols)
		case 5:
			gemm5x8(c, ldc, start, lds, a, aRow, aCol, aPanel, b, ldb, g.K, g.Panels, tiles, cols)
		case rowTile:
			gemm6x8(c, ldc, start, lds, a, aRow, aCol, aPanel, b, ldb, g.K, g.Panels, tiles, cols)
		}
	}
}

func columnSumsFast(y, x []float32, ldx, rows, n int) {
	j := 0
	for ; j+64 <= n; j += 64 {
		columnSums64(&y[j], &x[j], ldx*size, rows)
	}
	for ; j+32 <= n; j += 32 {
		columnSums32(&y[j], &x[j], ldx*size, rows)
	}
	for ; j+16 <= n; j += 16 {
		columnSums16(&y[j], &x[j], ldx*size, rows)
	}
	for ; j < n; j += 8 {
		columnSums8(&y[j], &x[j], ldx*size, rows, min(n-j, 8))
	}
}

const (
	// nearBytes is the size of X up to which its rows are read without prefetch.
	nearBytes = 1 << 20

	// streamBytes is the size of Y from which on it is written past the cache, which
	// would not hold it until somebody reads it.
	streamBytes = 64 << 20

	cacheLine = 64
)

// place says where the operands of a shift lie.
type place int

const (
	near   place = iota // X is in the cache
	far                 // it is not
	stream              // nor will Y be, whose rows are whole lines of it
)

// placeOf returns where X and Y lie, Y of n columns.
func placeOf(y []float32, ldy int, x []float32, n int) place {
	switch {
	case len(x)*size <= nearBytes:
		return near
	case len(y)*size < streamBytes || uintptr(unsafe.Pointer(first(y)))%cacheLine != 0 || ldy*size%cacheLine != 0 || n*size%cacheLine != 0:
		return far
	}
	return stream
}

func spmmFast(y []float32, ldy int, rowPtr []int, col []int32, val []float32, x []float32, ldx, lo, hi, n int) {
	narrowShifts.run(placeOf(y, ldy, x, n), y, ldy, rowPtr, col, val, x, ldx, lo, hi, n)
}

// spmmRows shifts whole registers of columns, spmmPart fills the last of them with
// cols columns. Strides are in bytes.
type (
	spmmRows = func(y *float32, ldy int, rowPtr *int, col *int32, val *float32, x *float32, ldx, rows, last int)
	spmmPart = func(y *float32, ldy int, rowPtr *int, col *int32, val *float32, x *float32, ldx, rows, last, cols int)
)

// shifts are the loops of SpMM, by place; those that fill a register in part do not
// stream.
type shifts struct {
	lanes            int // columns in a register
	eight, four, two [stream + 1]spmmRows
	part             [4][far + 1]spmmPart
}

// narrowShifts has registers of eight columns.
var narrowShifts = shifts{
	lanes: 8,
	eight: [...]spmmRows{spmm64, spmm64far, spmm64stream},
	four:  [...]spmmRows{spmm32, spmm32far, spmm32stream},
	two:   [...]spmmRows{spmm16, spmm16far, spmm16stream},
	part: [4][far + 1]spmmPart{
		{spmm8part, spmm8partfar},
		{spmm16part, spmm16partfar},
		{spmm24part, spmm24partfar},
		{spmm32part, spmm32partfar},
	},
}

// run shifts rows lo to hi: as many registers of columns at a time as there are loops
// for, and what is left in one pass, whose last register is filled in part.
func (l *shifts) run(p place, y []float32, ldy int, rowPtr []int, col []int32, val []float32, x []float32, ldx, lo, hi, n int) {
	if lo >= hi {
		return
	}
	if len(col) == 0 {
		for i := lo; i < hi; i++ {
			clear(y[i*ldy : i*ldy+n])
		}
		return
	}
	cp, vp, rows, last := unsafe.SliceData(col), unsafe.SliceData(val), hi-lo, len(col)-1
	if n == 1 && p == near {
		spmv(&y[lo*ldy], ldy*size, &rowPtr[lo], cp, vp, &x[0], ldx*size, rows)
		return
	}
	for j := 0; j < n; {
		yp, xp, rp, left := &y[lo*ldy+j], &x[j], &rowPtr[lo], n-j
		registers, kernel := 8, l.eight[p]
		switch {
		case left >= 8*l.lanes:
		case left >= 4*l.lanes:
			registers, kernel = 4, l.four[p]
		case left == 2*l.lanes:
			registers, kernel = 2, l.two[p]
		default:
			registers = (left + l.lanes - 1) / l.lanes
			l.part[registers-1][min(p, far)](yp, ldy*size, rp, cp, vp, xp, ldx*size, rows, last, left-(registers-1)*l.lanes)
			return
		}
		kernel(yp, ldy*size, rp, cp, vp, xp, ldx*size, rows, last)
		j += registers * l.lanes
	}
}
