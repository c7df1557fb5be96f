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

// gemmFlat computes the first rows of a flat product, all but fewer than 16, through
// Cᵀ. It says whether that was all, and leaves the rest in g.
func (g *Product) gemmFlat(wide bool) bool {
	var ct [transposed]float32
	most := transposed / g.N / flatRows * flatRows
	for g.M >= flatRows {
		part := *g
		part.M = min(g.M/flatRows*flatRows, most)
		if g.Start == nil {
			clear(ct[:part.M*g.N])
		}
		part.across(ct[:])
		flatBlocks(wide, g.N, &ct[0], part.M*size, &g.A[0], g.ARow*size, &g.B[0], g.LDB*size, g.K/flatStep, part.M/flatRows)
		part.back(ct[:])
		if g.M -= part.M; g.M == 0 {
			return true
		}
		g.A, g.C = g.A[part.M*g.ARow:], g.C[part.M*g.LDC:]
		if g.Start != nil {
			g.Start = g.Start[part.M*g.StartLD:]
		}
	}
	return false
}

// flatBlocks computes blocks of 16 rows.
func flatBlocks(wide bool, cols int, ct *float32, ldct int, a *float32, lda int, b *float32, ldb, quarters, blocks int) {
	if wide {
		cols += flatCols
	}
	switch cols {
	case 1:
		flat1AVX2(ct, ldct, a, lda, b, ldb, quarters, blocks)
	case 2:
		flat2AVX2(ct, ldct, a, lda, b, ldb, quarters, blocks)
	case 3:
		flat3AVX2(ct, ldct, a, lda, b, ldb, quarters, blocks)
	case 4:
		flat4AVX2(ct, ldct, a, lda, b, ldb, quarters, blocks)
	case 5:
		flat5AVX2(ct, ldct, a, lda, b, ldb, quarters, blocks)
	case flatCols + 1:
		flat1AVX512(ct, ldct, a, lda, b, ldb, quarters, blocks)
	case flatCols + 2:
		flat2AVX512(ct, ldct, a, lda, b, ldb, quarters, blocks)
	case flatCols + 3:
		flat3AVX512(ct, ldct, a, lda, b, ldb, quarters, blocks)
	case flatCols + 4:
		flat4AVX512(ct, ldct, a, lda, b, ldb, quarters, blocks)
	case flatCols + 5:
		flat5AVX512(ct, ldct, a, lda, b, ldb, quarters, blocks)
	}
}
