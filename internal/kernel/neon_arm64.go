//go:build !purego

package kernel

import "unsafe"

// neon has assembly where most of the time goes, and fused Go elsewhere.
var neon = Set{
	Name:       "neon",
	Family:     Fused,
	Gemm:       func(g Product) { g.fast() },
	GemmBT:     gemmBTFast,
	ColumnSums: columnSumsFast,
	SpMM:       spmmFast,
	Axpy: func(y []float32, a float32, x []float32) {
		axpyNEON(first(y), a, first(x), len(y))
	},
	Scale:         scale,
	Dot:           dotFast,
	Blend:         blendFused,
	LeakyReLU:     leakyReLU,
	LeakyReLUBack: leakyReLUBack,
	Tanh:          tanhFused,
	TanhBack:      tanhBackFused,
	Softmax:       softmaxFused,
	Adam:          adamFused,
}

// innerBlockAcross is innerBlock where A is read across its rows.
const innerBlockAcross = innerBlock

// gemmRows computes tiles of rows rows of C from row i on.
func gemmRows(g *Product, i, rows, tiles int) {
	if rows == 0 || tiles == 0 {
		return
	}
	a, ldc, lds, aRow, aCol, aPanel, ldb := &g.A[i*g.ARow], g.LDC*size, g.StartLD*size, g.ARow*size, g.ACol*size, g.APanel*size, g.LDB*size
	for j, cols := 0, 0; j < g.N; j += cols {
		c, b, start := &g.C[i*g.LDC+j], &g.B[j], g.start(i, j)
		cols = width(g.N-j, rows)
		switch rows {
		case 1:
			gemm1NEON(c, ldc, start, lds, a, aRow, aCol, aPanel, b, ldb, g.K, g.Panels, tiles, cols)
		case 2:
			gemm2NEON(c, ldc, start, lds, a, aRow, aCol, aPanel, b, ldb, g.K, g.Panels, tiles, cols)
		case 3:
			gemm3NEON(c, ldc, start, lds, a, aRow, aCol, aPanel, b, ldb, g.K, g.Panels, tiles, cols)
		case 4:
			gemm4NEON(c, ldc, start, lds, a, aRow, aCol, aPanel, b, ldb, g.K, g.Panels, tiles, cols)
		case 5:
			gemm5NEON(c, ldc, start, lds, a, aRow, aCol, aPanel, b, ldb, g.K, g.Panels, tiles, cols)
		case rowTile:
			gemm6NEON(c, ldc, start, lds, a, aRow, aCol, aPanel, b, ldb, g.K, g.Panels, tiles, cols)
		}
	}
}

// width is how many of n columns the next pass takes.
func width(n, rows int) int {
	switch {
	case rows == 1 && n >= 2*colTile:
		return 2 * colTile
	case n >= colTile:
		return colTile
	default:
		return min(n, colsThin)
	}
}

func columnSumsFast(y, x []float32, ldx, rows, n int) {
	for j, cols := 0, 0; j < n; j += cols {
		cols = width(n-j, 1)
		columnSumsNEON(&y[j], &x[j], ldx*size, rows, cols)
	}
}

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
	for j, cols := 0, 0; j < n; j += cols {
		if cols = 4 * colTile; n-j < cols {
			cols = width(n-j, 1)
		}
		spmmNEON(&y[lo*ldy+j], ldy*size, &rowPtr[lo], unsafe.SliceData(col), unsafe.SliceData(val), &x[j], ldx*size, hi-lo, cols)
	}
}

// dotFast gives what is left of blocks of eight to the assembly with zeros
// behind it.
func dotFast(x, y []float32) float32 {
	blocks := len(x) / lanes
	if len(x)%lanes == 0 {
		return dotNEON(first(x), first(y), blocks, nil, nil)
	}
	var tx, ty octet
	copy(tx[:], x[blocks*lanes:])
	copy(ty[:], y[blocks*lanes:len(x)])
	return dotNEON(first(x), first(y), blocks, &tx[0], &ty[0])
}
