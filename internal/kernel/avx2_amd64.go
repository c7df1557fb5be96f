//go:build !purego

package kernel

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// avx2 is nil where the processor lacks AVX2 or FMA, and where GODEBUG says
// cpu.avx2=off.
var avx2 = detect()

func detect() *Set {
	if !cpu.X86.HasAVX2 || !cpu.X86.HasFMA {
		return nil
	}
	return &Set{
		Name:   "avx2",
		Gemm:   gemmFast,
		GemmBT: gemmBTFast,
		SpMM:   spmmFast,
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
		LeakyReLUBack: func(dx, dy, y []float32, slope float32) {
			leakyReLUBackAVX2(first(dx), first(dy), first(y), slope, len(dx))
		},
		Tanh: func(y, x []float32) {
			tanhAVX2(first(y), first(x), len(y))
		},
		TanhBack: func(dx, dy, y []float32) {
			tanhBackAVX2(first(dx), first(dy), first(y), len(dx))
		},
		Softmax: func(p, x []float32) (max, sum float32) {
			return softmaxAVX2(first(p), first(x), len(p))
		},
		Adam: func(p, g, m, v []float32, s AdamStep) {
			adamAVX2(first(p), first(g), first(m), first(v), len(p),
				s.Beta1, s.Rest1, s.Beta2, s.Rest2, s.Rate, s.Unbias, s.Epsilon)
		},
	}
}

func first(s []float32) *float32 { return unsafe.SliceData(s) }

const (
	rowTile  = 6  // rows of C in registers
	colTile  = 16 // columns of C in registers
	colsThin = 8  // columns of C in registers in the masked kernels

	// A block of A, rowBlock×innerBlock values, stays in the cache while every
	// column tile of B passes by. Sums continue from block to block through C,
	// in order.
	rowBlock   = 8 * rowTile
	innerBlock = 256
)

func gemmFast(c []float32, ldc int, a []float32, aRow, aCol int, b []float32, ldb, m, n, k int, accumulate bool) {
	if k == 0 && !accumulate {
		for i := range m {
			clear(c[i*ldc : i*ldc+n])
		}
	}
	for p := 0; p < k; p += innerBlock {
		inner := min(k-p, innerBlock)
		for i := 0; i < m; i += rowBlock {
			gemmBlock(c[i*ldc:], ldc, a[i*aRow+p*aCol:], aRow, aCol, b[p*ldb:], ldb, min(m-i, rowBlock), n, inner, accumulate || p > 0)
		}
	}
}

// gemmBlock multiplies one block of A with all columns of B.
func gemmBlock(c []float32, ldc int, a []float32, aRow, aCol int, b []float32, ldb, m, n, k int, accumulate bool) {
	const size = 4
	tiles, rest := m/rowTile, m%rowTile
	low := tiles * rowTile // first row of the rest
	j := 0
	for ; j+colTile <= n; j += colTile {
		if tiles > 0 {
			gemm6x16(&c[j], ldc*size, &a[0], aRow*size, aCol*size, &b[j], ldb*size, k, tiles, accumulate)
		}
		if rest > 0 {
			rest16(rest, &c[low*ldc+j], ldc*size, &a[low*aRow], aRow*size, aCol*size, &b[j], ldb*size, k, accumulate)
		}
	}
	for ; j < n; j += colsThin {
		cols := min(n-j, colsThin)
		if tiles > 0 {
			gemm6x8(&c[j], ldc*size, &a[0], aRow*size, aCol*size, &b[j], ldb*size, k, tiles, accumulate, cols)
		}
		if rest > 0 {
			rest8(rest, &c[low*ldc+j], ldc*size, &a[low*aRow], aRow*size, aCol*size, &b[j], ldb*size, k, accumulate, cols)
		}
	}
}

// rest16 multiplies the last rows of a matrix, fewer than a tile. A table of
// functions would be shorter but make its arguments escape to the heap.
func rest16(rows int, c *float32, ldc int, a *float32, aRow, aCol int, b *float32, ldb, k int, accumulate bool) {
	switch rows {
	case 1:
		gemm1x16(c, ldc, a, aRow, aCol, b, ldb, k, 1, accumulate)
	case 2:
		gemm2x16(c, ldc, a, aRow, aCol, b, ldb, k, 1, accumulate)
	case 3:
		gemm3x16(c, ldc, a, aRow, aCol, b, ldb, k, 1, accumulate)
	case 4:
		gemm4x16(c, ldc, a, aRow, aCol, b, ldb, k, 1, accumulate)
	case 5:
		gemm5x16(c, ldc, a, aRow, aCol, b, ldb, k, 1, accumulate)
	}
}

// rest8 is rest16 for up to 8 columns.
func rest8(rows int, c *float32, ldc int, a *float32, aRow, aCol int, b *float32, ldb, k int, accumulate bool, cols int) {
	switch rows {
	case 1:
		gemm1x8(c, ldc, a, aRow, aCol, b, ldb, k, 1, accumulate, cols)
	case 2:
		gemm2x8(c, ldc, a, aRow, aCol, b, ldb, k, 1, accumulate, cols)
	case 3:
		gemm3x8(c, ldc, a, aRow, aCol, b, ldb, k, 1, accumulate, cols)
	case 4:
		gemm4x8(c, ldc, a, aRow, aCol, b, ldb, k, 1, accumulate, cols)
	case 5:
		gemm5x8(c, ldc, a, aRow, aCol, b, ldb, k, 1, accumulate, cols)
	}
}

// packed is the side of the block of Bᵀ that gemmBTFast lays out row by row.
const packed = 64

func gemmBTFast(c []float32, ldc int, a []float32, lda int, b []float32, ldb, m, n, k int, accumulate bool) {
	if k == 0 {
		gemmFast(c, ldc, a, lda, 1, b, 0, m, n, 0, accumulate)
		return
	}
	var bt [packed * packed]float32
	for j := 0; j < n; j += packed {
		cols := min(n-j, packed)
		for p := 0; p < k; p += packed {
			inner := min(k-p, packed)
			for jj := range cols {
				for pp, v := range b[(j+jj)*ldb+p : (j+jj)*ldb+p+inner] {
					bt[pp*packed+jj] = v
				}
			}
			gemmFast(c[j:], ldc, a[p:], lda, 1, bt[:], packed, m, cols, inner, accumulate || p > 0)
		}
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
	const size = 4
	far := len(x)*size > nearBytes
	cp, vp, rows, last := unsafe.SliceData(col), unsafe.SliceData(val), hi-lo, len(col)-1
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
