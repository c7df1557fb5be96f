//go:build (amd64 || arm64) && !purego

package kernel

import "unsafe"

func first(s []float32) *float32 { return unsafe.SliceData(s) }

const (
	size     = 4  // bytes in a float32
	rowTile  = 6  // rows of C in registers
	colTile  = 16 // columns of C in registers
	colsThin = 8  // columns of C in the narrowest registers

	// A block of A, rowBlock×innerBlock values, stays in the cache while every
	// column tile of B passes by. Sums continue from block to block through C,
	// in order.
	rowBlock   = 8 * rowTile
	innerBlock = 256
)

// fast cuts a product into tiles, which gemmRows of the architecture computes.
func (g *Product) fast() {
	if g.thin() {
		g.transposed()
		return
	}
	if g.spread() {
		g.strips()
		return
	}
	g.direct()
}

// direct is fast of a product that is computed as it is.
func (g *Product) direct() {
	inner := g.inner()
	if inner == g.K {
		g.blocks()
		return
	}
	for p := 0; p < g.K; p += inner {
		block := *g
		block.A, block.B, block.K = g.A[p*g.ACol:], g.B[p*g.LDB:], min(g.K-p, inner)
		if p > 0 {
			block.Start, block.StartLD = g.C, g.LDC
		}
		block.blocks()
	}
}

// blocks computes C in blocks of rows.
func (g *Product) blocks() {
	for i := 0; i < g.M; i += rowBlock {
		gemmBlock(g, i, min(g.M-i, rowBlock))
	}
}

// inner returns how much of the inner index a block has.
func (g *Product) inner() int {
	switch {
	case g.Panels > 1: // B_t must stay whole
		return g.K
	case g.ACol == 1:
		return min(g.K, innerBlock)
	}
	return min(g.K, innerBlockAcross)
}

// gemmBlock computes m rows of C from row i on: tiles of 6, and at the end
// tiles of 3 to 5, because fewer rows cannot keep the units busy.
func gemmBlock(g *Product, i, m int) {
	tiles, rest := m/rowTile, m%rowTile
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

// start returns where the sum of element (i,j) starts, or nil for zeros.
func (g *Product) start(i, j int) *float32 {
	if g.Start == nil {
		return nil
	}
	return &g.Start[i*g.StartLD+j]
}

// mostTransposed is the largest number of elements of a C that is computed across.
const mostTransposed = 1024

// thin says whether g is C = start + Aᵀ B for a C of so few columns that
// Cᵀ = startᵀ + Bᵀ A, which fills whole registers, is computed instead.
func (g *Product) thin() bool {
	return g.ACol != 1 && g.N <= colsThin && g.M > g.N && g.Panels == 1 && g.M*g.N <= mostTransposed
}

// transposed is fast of a thin product.
func (g *Product) transposed() {
	var ct [mostTransposed]float32
	t := g.across(ct[:])
	t.direct()
	g.back(ct[:])
}

// across returns the product of Cᵀ, which is in ct.
func (g *Product) across(ct []float32) Product {
	t := Product{
		C: ct[:g.N*g.M], LDC: g.M,
		A: g.B, ARow: 1, ACol: g.LDB,
		B: g.A, LDB: g.ACol,
		M: g.N, N: g.M, K: g.K, Panels: 1,
	}
	if g.Start != nil {
		for j := range g.N {
			at := j
			for i := range ct[j*g.M : (j+1)*g.M] {
				ct[j*g.M+i] = g.Start[at]
				at += g.StartLD
			}
		}
		t.Start, t.StartLD = t.C, t.LDC
	}
	return t
}

// back writes what was computed across to C.
func (g *Product) back(ct []float32) {
	for j := range g.N {
		at := j
		for _, v := range ct[j*g.M : (j+1)*g.M] {
			g.C[at] = v
			at += g.LDC
		}
	}
}

// strip is how many columns of a spread B are laid out side by side.
const strip = 32

// spread says whether the rows of B are so far apart that few of them fit a cache
// together, where addresses that differ by a power of two share a place, and whether
// there is enough to do to lay them out anew.
func (g *Product) spread() bool {
	return g.LDB >= 256 && g.N > strip && g.M >= rowBlock && g.K >= innerBlock/2 && g.Panels == 1
}

// strips is fast of a product whose B is spread.
func (g *Product) strips() {
	var b [innerBlock * strip]float32
	for p := 0; p < g.K; p += innerBlock {
		for j := 0; j < g.N; j += strip {
			part := g.strip(b[:], p, j)
			part.direct()
		}
	}
}

// strip returns the product with the rows of B from p on and the columns from j on,
// which it lays out in b.
func (g *Product) strip(b []float32, p, j int) Product {
	part := *g
	part.K, part.N = min(g.K-p, innerBlock), min(g.N-j, strip)
	for q := range part.K {
		copy(b[q*strip:q*strip+part.N], g.B[(p+q)*g.LDB+j:])
	}
	part.A, part.B, part.LDB, part.C = g.A[p*g.ACol:], b, strip, g.C[j:]
	switch {
	case p > 0:
		part.Start, part.StartLD = part.C, g.LDC
	case g.Start != nil:
		part.Start = g.Start[j:]
	}
	return part
}

// outer is the product of one column A and one row Bᵀ.
func outer(c []float32, ldc int, a []float32, lda int, b []float32, m, n int, accumulate bool) Product {
	g := Product{C: c, LDC: ldc, A: a, ARow: lda, ACol: 1, B: b, LDB: n, M: m, N: n, K: 1, Panels: 1}
	if accumulate {
		g.Start, g.StartLD = c, ldc
	}
	return g
}

// packed is the side of the block of Bᵀ that gemmBTFast lays out row by row.
const packed = 64

func gemmBTFast(c []float32, ldc int, a []float32, lda int, b []float32, ldb, m, n, k int, accumulate bool) {
	if k == 1 && ldb == 1 { // Bᵀ is B
		g := outer(c, ldc, a, lda, b, m, n, accumulate)
		g.fast()
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
			g.fast()
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
