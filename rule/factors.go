package rule

import "math"

// factors is a matrix A, n×m of rank r, as an orthonormal basis of its columns
// and what they are in it:
//
//	A = Q R      Q: n×r, columns orthonormal   R: r×m
//
// Column pivot[k] of R is 0 below row k: but for the order of its columns R is
// upper triangular, and as pivots are the longest columns left, none of the
// elements of a row is larger than the pivot's. The rows of R may differ in size
// as much as the singular values of A do; within a row they do not, so that
// numbers of float32 precision go through R with that precision.
type factors struct {
	n, m, r int
	q       []float64 // Q by columns: column k is q[k*n : (k+1)*n]
	root    []float64 // R by rows
	pivot   []int
}

// factorize returns the factors of a, n×m by rows: Gram and Schmidt's, longest
// column first, every new vector made orthogonal twice. Columns whose rest is
// tolerance times the longest column count as dependent. Every operation rounds,
// so that all machines get the same bits and mean the same by coordinates.
func factorize(a []float64, n, m int, tolerance float64) *factors {
	f := &factors{n: n, m: m}
	rest := make([][]float64, m) // columns, less their part in the basis
	for c := range rest {
		rest[c] = make([]float64, n)
		for i := range n {
			rest[c][i] = a[i*m+c]
		}
	}
	least := 0.0
	for f.r < min(n, m) {
		p, length := longest(rest)
		if f.r == 0 {
			least = tolerance * length
		}
		if length <= least {
			break
		}
		f.extend(rest, p)
	}
	return f
}

// longest returns the longest column of rest, the first of equals, and its
// length.
func longest(rest [][]float64) (column int, length float64) {
	most := 0.0
	for c, v := range rest {
		if s := dot(v, v); s > most { // 0 of columns that are in the basis
			column, most = c, s
		}
	}
	return column, math.Sqrt(most)
}

// extend takes column p into the basis and its direction from all others.
func (f *factors) extend(rest [][]float64, p int) {
	v := rest[p]
	for k := range f.r { // what rounding left
		s := dot(f.column(k), v)
		subtract(v, s, f.column(k))
		f.root[k*f.m+p] += s
	}
	length := math.Sqrt(dot(v, v))
	q := make([]float64, f.n)
	for i, x := range v {
		q[i] = x / length
	}
	row := make([]float64, f.m)
	row[p], rest[p] = length, nil
	for c, v := range rest {
		if v != nil {
			row[c] = dot(q, v)
			subtract(v, row[c], q)
		}
	}
	f.q, f.root, f.pivot = append(f.q, q...), append(f.root, row...), append(f.pivot, p)
	f.r++
}

func (f *factors) column(k int) []float64 { return f.q[k*f.n : (k+1)*f.n] }

// transposed returns Rᵀ, m×r by rows.
func (f *factors) transposed() []float64 {
	t := make([]float64, f.m*f.r)
	for k := range f.r {
		for c := range f.m {
			t[c*f.r+k] = f.root[k*f.m+c]
		}
	}
	return t
}

// inverse returns R⁺, m×r by rows, for which R R⁺ = I.
func (f *factors) inverse() []float64 {
	t := factorize(f.transposed(), f.m, f.r, 0) // Rᵀ = Q T, R⁺ = Q T⁻ᵀ
	inverse := make([]float64, f.m*f.r)
	for b := range t.r {
		x := t.solve(b) // row b of T⁻¹
		for c := range f.m {
			sum := 0.0
			for k, v := range x {
				sum += float64(t.column(k)[c] * v)
			}
			inverse[c*f.r+b] = sum
		}
	}
	return inverse
}

// solve returns row b of R⁻¹ for a square R of full rank: the x with x R = e_b,
// column by column in the order of pivots.
func (f *factors) solve(b int) []float64 {
	x := make([]float64, f.r)
	for k, p := range f.pivot {
		sum := 0.0
		if p == b {
			sum = 1
		}
		for j := range k {
			sum -= float64(x[j] * f.root[j*f.m+p])
		}
		x[k] = sum / f.root[k*f.m+p]
	}
	return x
}

func dot(a, b []float64) float64 {
	sum := 0.0
	for i, v := range a {
		sum += float64(v * b[i])
	}
	return sum
}

// subtract takes s b from a.
func subtract(a []float64, s float64, b []float64) {
	for i, v := range b {
		a[i] -= float64(s * v)
	}
}
