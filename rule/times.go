package rule

import "github.com/wdgnn/wdgnn/mat"

// Products of small matrices by rows. Every element takes its terms one by one
// in ascending order, each rounded, so bits are those of the plain triple loop.
// Matrices here are tall and have few columns: loops run down the rows, two
// columns at a time.

// addTimes adds X M to dst.
//
//	dst: n×c   X: n×w   M: w×c
func addTimes[T float32 | float64](dst []float64, x []T, m []float64, w, c int) {
	if w == 2 && c == 2 {
		addTimesTwo(dst, x, m)
		return
	}
	for k := range w {
		row := m[k*c : (k+1)*c]
		for ; len(row) >= 2; row = row[2:] {
			m0, m1 := row[0], row[1]
			for i, e := c-len(row), k; e < len(x); i, e = i+c, e+w {
				v, to := float64(x[e]), dst[i:i+2]
				to[0] += float64(v * m0)
				to[1] += float64(v * m1)
			}
		}
		if len(row) == 1 {
			for i, e := c-1, k; e < len(x); i, e = i+c, e+w {
				dst[i] += float64(float64(x[e]) * row[0])
			}
		}
	}
}

// addTimesTwo is addTimes for two columns of either: robots have two outputs.
func addTimesTwo[T float32 | float64](dst []float64, x []T, m []float64) {
	m00, m01, m10, m11 := m[0], m[1], m[2], m[3]
	x = x[:len(dst)]
	for i := 1; i < len(dst); i += 2 {
		v0, v1 := float64(x[i-1]), float64(x[i])
		dst[i-1] = dst[i-1] + float64(v0*m00) + float64(v1*m10)
		dst[i] = dst[i] + float64(v0*m01) + float64(v1*m11)
	}
}

// addRowTimes adds z M to sum.
//
//	sum: c   z: n   M: n×c
func addRowTimes[T, U float32 | float64](sum []float64, z []T, m []U) {
	c, j := len(sum), 0
	for ; j+2 <= c; j += 2 {
		s0, s1, i := sum[j], sum[j+1], j
		for _, v := range z {
			from := m[i : i+2]
			s0 += float64(float64(v) * float64(from[0]))
			s1 += float64(float64(v) * float64(from[1]))
			i += c
		}
		sum[j], sum[j+1] = s0, s1
	}
	if j < c {
		s := sum[j]
		for _, v := range z {
			s += float64(float64(v) * float64(m[j]))
			j += c
		}
		sum[c-1] = s
	}
}

// wellWithin says that the length of x is below limit, by far: whatever the order
// in which its squares are summed up. It is false if a value is not finite.
func wellWithin(x []float32, limit float64) bool {
	return float64(mat.SumSquares(x)) < limit*limit/2
}

// wellWithin64 is wellWithin of float64 values.
func wellWithin64(x []float64, limit float64) bool {
	var a, b, c, d float64
	for ; len(x) >= 4; x = x[4:] {
		a += float64(x[0] * x[0])
		b += float64(x[1] * x[1])
		c += float64(x[2] * x[2])
		d += float64(x[3] * x[3])
	}
	for _, v := range x {
		a += float64(v * v)
	}
	return a+b+c+d < limit*limit/2
}
