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
	Gemm:       gemmFast,
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

func first(s []float32) *float32 { return unsafe.SliceData(s) }

const (
	size     = 4  // bytes in a float32
	rowTile  = 6  // rows of C in registers
	colTile  = 16 // columns of C in registers
	colsThin = 8  // columns of C in registers in the masked kernels

	// A block of A, rowBlock×innerBlock values, stays in the cache while every
	// column tile of B passes by. Sums continue from block to block through C,
	// in order.
	rowBlock         = 8 * rowTile
	innerBlock       = 256
	innerBlockAcross = 128 // where A is read across its rows
)

func gemmFast(g Product) {
	if g.ACol != 1 && g.N <= colsThin && g.M > g.N && g.Panels == 1 && g.M*g.N <= transposed {
		gemmTransposed(g, false)
		return
	}
	inner := g.K
	switch {
	case g.Panels > 1: // B_t must stay whole
	case g.ACol == 1:
		inner = min(g.K, innerBlock)
	default:
		inner = min(g.K, innerBlockAcross)
	}
	for p := 0; p < g.K; p += inner {
		block := g
		block.A, block.B, block.K = g.A[p*g.ACol:], g.B[p*g.LDB:], min(g.K-p, inner)
		if p > 0 {
			block.Start, block.StartLD = g.C, g.LDC
		}
		for i := 0; i < g.M; i += rowBlock {
			block.M = min(g.M-i, rowBlock)
			gemmBlock(block, i)
		}
	}
}

// gemmBlock computes g.M rows of C from row i on: tiles of 6, and at the end
// tiles of 3 to 5, because fewer rows cannot keep both FMA units busy.
func gemmBlock(g Product, i int) {
	tiles, rest := g.M/rowTile, g.M%rowTile
	if 0 < rest && rest < 4 && tiles > 0 {
		tiles, rest = tiles-1, rest+rowTile // 7, 8 or 9 rows: two tiles of 3 to 5
	}
	gemmRows(g, i, rowTile, tiles)
	i += tiles * rowTile
	if rest > rowTile {
		gemmRows(g, i, rest/2, 1)
		i, rest = i+rest/2, rest-rest/2
	}
	gemmRows(g, i, rest, 1)
}

// gemmRows computes tiles of rows rows of C from row i on.
func gemmRows(g Product, i, rows, tiles int) {
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

// start returns where the sum of element (i,j) starts, or nil for zeros.
func (g *Product) start(i, j int) *float32 {
	if g.Start == nil {
		return nil
	}
	return &g.Start[i*g.StartLD+j]
}

// transposed is the largest number of elements of a C that gemmTransposed
// takes.
const transposed = 1024

// gemmTransposed computes C = start + Aᵀ B for a C of few columns by way of
// Cᵀ = startᵀ + Bᵀ A, which fills whole registers.
func gemmTransposed(g Product, wide bool) {
	var ct [transposed]float32
	t := Product{
		C: ct[:g.N*g.M], LDC: g.M,
		A: g.B, ARow: 1, ACol: g.LDB,
		B: g.A, LDB: g.ACol,
		M: g.N, N: g.M, K: g.K, Panels: 1,
	}
	if g.Start != nil {
		for i := range g.M {
			for j := range g.N {
				ct[j*g.M+i] = g.Start[i*g.StartLD+j]
			}
		}
		t.Start, t.StartLD = t.C, t.LDC
	}
	if wide {
		gemmWide(t)
	} else {
		gemmFast(t)
	}
	for i := range g.M {
		for j := range g.N {
			g.C[i*g.LDC+j] = ct[j*g.M+i]
		}
	}
}

// packed is the side of the block of Bᵀ that gemmBTFast lays out row by row.
const packed = 64

func gemmBTFast(c []float32, ldc int, a []float32, lda int, b []float32, ldb, m, n, k int, accumulate bool) {
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
			gemmFast(g)
		}
	}
}

// pack writes cols rows of b, inner values each, as columns of bt.
func pack(bt *[packed * packed]float32, b []float32, ldb, cols, inner int) {
	for j := range cols {
		for p, v := range b[j*ldb : j*ldb+inner] {
			bt[p*packed+j] = v
		}
	}
}

func columnSumsFast(y, x []float32, ldx, rows, n int) {
	j := 0
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

// nearBytes is the size of X up to which its rows are read without prefetch.
const nearBytes = 1 << 20

func spmmFast(y []float32, ldy int, rowPtr []int, col []int32, val []float32, x []float32, ldx, lo, hi, n int) {
	if lo >= hi {
		return
	}
	if len(col) == 0 {
		for i := lo; i < hi; i++ {
			clear(y[i*ldy : i*ldy+n])
		}
		return
	}
	far := len(x)*size > nearBytes
	cp, vp, rows, last := unsafe.SliceData(col), unsafe.SliceData(val), hi-lo, len(col)-1
	if n == 1 && !far {
		spmv(&y[lo*ldy], ldy*size, &rowPtr[lo], cp, vp, &x[0], ldx*size, rows)
		return
	}
	for j := 0; j < n; {
		yp, xp, rp := &y[lo*ldy+j], &x[j], &rowPtr[lo]
		wide := 8
		kernel := spmm64
		switch {
		case n-j >= 64:
			if wide = 64; far {
				kernel = spmm64far
			}
		case n-j >= 32:
			if wide, kernel = 32, spmm32; far {
				kernel = spmm32far
			}
		case n-j >= 16:
			if wide, kernel = 16, spmm16; far {
				kernel = spmm16far
			}
		default:
			thin := spmm8
			if far {
				thin = spmm8far
			}
			thin(yp, ldy*size, rp, cp, vp, xp, ldx*size, rows, last, min(n-j, wide))
			j += wide
			continue
		}
		kernel(yp, ldy*size, rp, cp, vp, xp, ldx*size, rows, last)
		j += wide
	}
}
