package graph

import (
	"fmt"

	gonum "gonum.org/v1/gonum/mat"

	"github.com/wdgnn/wdgnn/mat"
)

// Spectrum returns the eigenvalues of a symmetric matrix in ascending order,
// computed in float64. It takes time N³. A matrix that is not symmetric is an
// error that names a place where it differs from its transpose. Spectrum
// panics if a is not square.
func Spectrum(a *mat.CSR) ([]float64, error) {
	mustSquare("Spectrum", a)
	for i := range a.Rows {
		col, val := a.Row(i)
		for e, j := range col {
			if other := a.At(int(j), i); other != val[e] {
				return nil, fmt.Errorf("graph: Spectrum: entry (%d,%d) is %v and (%d,%d) is %v; want a symmetric matrix",
					i, j, val[e], j, i, other)
			}
		}
	}
	return reduce(a).eigenvalues(), nil
}

// SecondSingularValue returns σ₂(W), the second largest singular value. One
// round of mixing by a doubly stochastic W shrinks the disagreement of the
// nodes by σ₂ or more; σ₂ < 1 where mixing reaches consensus. It is 0 for a
// matrix with one row or none. It takes time N³.
//
// SecondSingularValue panics if W is not square.
func SecondSingularValue(w *mat.CSR) float64 {
	mustSquare("SecondSingularValue", w)
	if w.Rows < 2 {
		return 0
	}
	var svd gonum.SVD
	if !svd.Factorize(gonum.NewDense(w.Rows, w.Cols, float64s(w)), gonum.SVDNone) {
		panic("graph: SecondSingularValue: no singular values; the matrix has entries that are not finite")
	}
	return svd.Values(nil)[1]
}

// float64s returns a as Rows·Cols values, row by row.
func float64s(a *mat.CSR) []float64 {
	dense := make([]float64, a.Rows*a.Cols)
	for i := range a.Rows {
		col, val := a.Row(i)
		for e, j := range col {
			dense[i*a.Cols+int(j)] = float64(val[e])
		}
	}
	return dense
}
