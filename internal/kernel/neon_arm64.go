//go:build !purego

package kernel

import "unsafe"

// neon has assembly where most of the time goes, and fused Go elsewhere.
var neon = Set{
	Name:       "neon",
	Family:     Fused,
	Gemm:       gemmNEON,
	GemmBT:     gemmBTNEON,
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

func first(s []float32) *float32 { return unsafe.SliceData(s) }

const (
	size     = 4  // bytes in a float32
	rowTile  = 6  // rows of C in registers
	colTile  = 16 // columns of C in registers
	colsThin = 8  // columns from which on no register is partly empty

	// A block of A, rowBlock×innerBlock values, stays in the cache while every
	// column tile of B passes by. Sums continue from block to block through C,
	// in order.
	rowBlock   = 8 * rowTile
	innerBlock = 256
)

func gemmNEON(g Product) {
	if g.ACol != 1 && g.N <= colsThin && g.M > g.N && g.Panels == 1 && g.M*g.N <= transposed {
		gemmTransposed(g)
		return
	}
	inner := g.K
	if g.Panels == 1 { // otherwise B_t must stay whole
		inner = min(g.K, innerBlock)
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
// one or two of fewer, which are as equal as can be.
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
func gemmTransposed(g Product) {
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
	gemmNEON(t)
	for i := range g.M {
		for j := range g.N {
			g.C[i*g.LDC+j] = ct[j*g.M+i]
		}
	}
}

// packed is the side of the block of Bᵀ that gemmBTNEON lays out row by row.
const packed = 64

func gemmBTNEON(c []float32, ldc int, a []float32, lda int, b []float32, ldb, m, n, k int, accumulate bool) {
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
			g := Product{C: c[j:], LDC: ldc, A: a[p:], ARow: lda, ACol: 1, B: bt[:], LDB: packed, M: m, N: cols, K: inner, Panels: 1}
			if accumulate || p > 0 {
				g.Start, g.StartLD = g.C, ldc
			}
			gemmNEON(g)
		}
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
