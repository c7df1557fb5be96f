//go:build !purego

package kernel

const (
	flatRows = 16 // rows of A at a time
	flatCols = 5  // most columns
	flatStep = 4  // columns of A at a time
)

// flat says whether g is C = start + A B for so few columns that registers are filled
// with rows of C: a readout of many nodes.
func (g *Product) flat() bool {
	return g.ACol == 1 && g.N <= flatCols && g.Panels == 1 && g.M >= flatRows && g.K >= flatRows && g.K%flatStep == 0
}

// mostFlat is the largest number of rows whose Cᵀ is laid out at a time.
const mostFlat = 4 * flatRows

// gemmFlat computes the first rows of a flat product, all but fewer than 16, through
// Cᵀ, which is C if that is one column. It says whether that was all, and leaves the
// rest in g.
func (g *Product) gemmFlat(wide bool) bool {
	if g.N == 1 && g.LDC == 1 {
		rows := g.M / flatRows * flatRows
		if g.Start != nil && g.StartLD != 0 {
			for i := range rows {
				g.C[i] = g.Start[i*g.StartLD]
			}
		}
		g.flatRows(wide, g.C, rows)
		return g.M == 0
	}
	var ct [flatCols * mostFlat]float32
	for g.M >= flatRows {
		part := *g
		part.M = min(g.M/flatRows*flatRows, mostFlat)
		if g.Start != nil && g.StartLD != 0 {
			part.across(ct[:])
		}
		g.flatRows(wide, ct[:], part.M)
		part.back(ct[:])
	}
	return g.M == 0
}

// noughts is a row to start from.
var noughts [flatCols]float32

// flatRows computes Cᵀ of the first rows in ct, where their sums start unless one row
// is the start of all, and takes these rows away from g.
func (g *Product) flatRows(wide bool, ct []float32, rows int) {
	var row *float32
	switch {
	case g.Start == nil:
		row = &noughts[0]
	case g.StartLD == 0:
		row = &g.Start[0]
	}
	flatBlocks(wide, g.N, &ct[0], rows*size, row, &g.A[0], g.ARow*size, &g.B[0], g.LDB*size, g.K/flatStep, rows/flatRows)
	if g.M -= rows; g.M == 0 {
		return
	}
	g.A, g.C = g.A[rows*g.ARow:], g.C[rows*g.LDC:]
	if g.Start != nil {
		g.Start = g.Start[rows*g.StartLD:]
	}
}

// flatBlocks computes blocks of 16 rows.
func flatBlocks(wide bool, cols int, ct *float32, ldct int, row, a *float32, lda int, b *float32, ldb, quarters, blocks int) {
	if wide {
		cols += flatCols
	}
	switch cols {
	case 1:
		flat1AVX2(ct, ldct, row, a, lda, b, ldb, quarters, blocks)
	case 2:
		flat2AVX2(ct, ldct, row, a, lda, b, ldb, quarters, blocks)
	case 3:
		flat3AVX2(ct, ldct, row, a, lda, b, ldb, quarters, blocks)
	case 4:
		flat4AVX2(ct, ldct, row, a, lda, b, ldb, quarters, blocks)
	case 5:
		flat5AVX2(ct, ldct, row, a, lda, b, ldb, quarters, blocks)
	case flatCols + 1:
		flat1AVX512(ct, ldct, row, a, lda, b, ldb, quarters, blocks)
	case flatCols + 2:
		flat2AVX512(ct, ldct, row, a, lda, b, ldb, quarters, blocks)
	case flatCols + 3:
		flat3AVX512(ct, ldct, row, a, lda, b, ldb, quarters, blocks)
	case flatCols + 4:
		flat4AVX512(ct, ldct, row, a, lda, b, ldb, quarters, blocks)
	case flatCols + 5:
		flat5AVX512(ct, ldct, row, a, lda, b, ldb, quarters, blocks)
	}
}
