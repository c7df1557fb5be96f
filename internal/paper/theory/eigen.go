package theory

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/lapack/gonum"
	gmat "gonum.org/v1/gonum/mat"

	"github.com/wdgnn/wdgnn/internal/vector"
)

// eigenbasis is S = V Λ Vᵀ of a symmetric matrix.
type eigenbasis struct {
	values  []float64 // λ_i, ascending
	vectors []float64 // Vᵀ, N×N by rows: row i is the eigenvector of λ_i
}

// eigen decomposes a symmetric matrix, n×n by rows, which it overwrites. The
// matrix is reduced to tridiagonal form, A = Q T Qᵀ, and T is diagonalised by
// the QL method with implicit shifts. Eigenvectors are kept as rows, so that a
// plane rotation works on memory that is contiguous; for a thousand nodes that
// is several times faster than rotating columns.
func eigen(a []float64, n int) (eigenbasis, error) {
	if n == 0 {
		return eigenbasis{}, nil
	}
	d, e := make([]float64, n), make([]float64, n)
	var impl gonum.Implementation
	tau, query := make([]float64, max(n-1, 1)), make([]float64, 1)
	impl.Dsytrd(blas.Lower, n, a, n, d, e[:max(n-1, 0)], tau, query, -1)
	impl.Dorgtr(blas.Lower, n, a, n, tau, query[:1], -1)
	work := make([]float64, max(64*n, int(query[0])))
	impl.Dsytrd(blas.Lower, n, a, n, d, e[:max(n-1, 0)], tau, work, len(work))
	impl.Dorgtr(blas.Lower, n, a, n, tau, work, len(work))
	for i := range n { // Q to Qᵀ
		for j := range i {
			a[i*n+j], a[j*n+i] = a[j*n+i], a[i*n+j]
		}
	}
	largest := 0.0
	for i, v := range d {
		largest = max(largest, math.Abs(v)+math.Abs(e[i]))
	}
	for l := range n {
		if err := settle(d, e, a, l, 0x1p-53*largest); err != nil {
			return eigenbasis{}, err
		}
	}
	return sorted(d, a), nil
}

// settle isolates the eigenvalue d[l] of the tridiagonal matrix with diagonal d
// and off-diagonal e, rotating the rows of v alike. What is no more than tiny counts
// as 0: where many eigenvalues are 0, all that is left of their block is rounding,
// which no rotation makes smaller than itself.
func settle(d, e, v []float64, l int, tiny float64) error {
	n := len(d)
	for sweep := 0; ; sweep++ {
		m := l
		for m < n-1 && math.Abs(e[m]) > max(0x1p-53*(math.Abs(d[m])+math.Abs(d[m+1])), tiny) {
			m++
		}
		if m == l {
			return nil
		}
		if sweep == 60 {
			return fmt.Errorf("theory: the eigenvalues of a %d×%d matrix do not settle; does it hold numbers that are not finite?", n, n)
		}
		g := (d[l+1] - d[l]) / (2 * e[l])
		g = d[m] - d[l] + e[l]/(g+math.Copysign(math.Hypot(g, 1), g)) // d[m] minus Wilkinson's shift
		s, c, p := 1.0, 1.0, 0.0
		i := m - 1
		for ; i >= l; i-- {
			f, b := s*e[i], c*e[i]
			r := math.Hypot(f, g)
			e[i+1] = r
			if r == 0 { // the matrix fell apart on the way
				d[i+1] -= p
				e[m] = 0
				break
			}
			s, c = f/r, g/r
			g = d[i+1] - p
			r = (d[i]-g)*s + 2*c*b
			p = s * r
			d[i+1] = g + p
			g = c*r - b
			rotate(v[i*n:(i+1)*n], v[(i+1)*n:(i+2)*n], c, s)
		}
		if i >= l {
			continue
		}
		d[l] -= p
		e[l], e[m] = g, 0
	}
}

// rotate turns the pair of rows by the angle with the given cosine and sine.
func rotate(low, high []float64, c, s float64) {
	high = high[:len(low)]
	for k, a := range low {
		b := high[k]
		high[k] = s*a + c*b
		low[k] = c*a - s*b
	}
}

// sorted orders eigenvalues and the rows of v ascending.
func sorted(d, v []float64) eigenbasis {
	n := len(d)
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case d[a] < d[b]:
			return -1
		case d[a] > d[b]:
			return 1
		}
		return 0
	})
	b := eigenbasis{make([]float64, n), make([]float64, n*n)}
	for to, from := range order {
		b.values[to] = d[from]
		copy(b.vectors[to*n:(to+1)*n], v[from*n:(from+1)*n])
	}
	return b
}

// eigenvalues returns those of a symmetric matrix in ascending order.
func eigenvalues(a []float64, n int) ([]float64, error) {
	if n == 0 {
		return nil, nil
	}
	var e gmat.EigenSym
	if !e.Factorize(gmat.NewSymDense(n, a), false) {
		return nil, fmt.Errorf("theory: no eigenvalues of a %d×%d matrix; it holds numbers that are not finite", n, n)
	}
	return e.Values(nil), nil
}

// spectralNorm returns the largest singular value of a rows×cols matrix.
func spectralNorm(a []float64, rows, cols int) float64 {
	if rows > cols {
		t := make([]float64, len(a))
		for i := range rows {
			for j := range cols {
				t[j*rows+i] = a[i*cols+j]
			}
		}
		a, rows, cols = t, cols, rows
	}
	if rows == 1 {
		return vector.Norm(a)
	}
	gram := make([]float64, rows*rows)
	for i := range rows {
		for j := range i + 1 {
			gram[i*rows+j] = vector.Dot(a[i*cols:(i+1)*cols], a[j*cols:(j+1)*cols])
			gram[j*rows+i] = gram[i*rows+j]
		}
	}
	values, err := eigenvalues(gram, rows)
	if err != nil {
		return math.Inf(1)
	}
	return math.Sqrt(max(values[rows-1], 0))
}
