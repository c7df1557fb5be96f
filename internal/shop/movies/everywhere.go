package movies

import (
	"fmt"

	"github.com/wdgnn/wdgnn/mat"
)

// Everywhere computes the features of a user for every movie as target with
// 2K graph shifts instead of K per target. With r the ratings and o the
// indicator of rated movies, m_n the mean without movie n (0 for raw signals),
//
//	z_k(n) = [Sᵏ r]_n - m_n [Sᵏ o]_n - [Sᵏ]_nn (r_n - m_n)
//
// where the last term, which takes the target out, is there if n is rated.
// An Everywhere is not safe for concurrent use; Clone gives each goroutine
// its own.
type Everywhere struct {
	shift    *mat.CSR
	order    int
	diagonal []float64 // N×(K+1): [Sᵏ]_nn

	guests []*Guest // movies N, N+1, …

	rated         []bool
	values, marks [2][]float64 // Sᵏ r and Sᵏ o, of two successive k
	ratings       []float64    // r_n
}

// NewEverywhere returns a calculator for filters of order K on S. It computes
// the diagonals of the powers of S once, K sparse products per movie.
func NewEverywhere(s *mat.CSR, order int) *Everywhere {
	if s.Rows != s.Cols || order < 0 {
		panic(fmt.Sprintf("movies: NewEverywhere: shift %d×%d, order %d", s.Rows, s.Cols, order))
	}
	e := &Everywhere{shift: s, order: order, diagonal: make([]float64, s.Rows*(order+1))}
	for n := range s.Rows {
		copy(e.diagonal[n*(order+1):], diagonalOf(s, n, order))
	}
	return e.Clone()
}

// diagonalOf returns [Sᵏ]_nn for k = 0 … K.
func diagonalOf(s *mat.CSR, n, order int) []float64 {
	p := NewPowers(s, n, order)
	return p.row[n*(order+1) : (n+1)*(order+1)]
}

// Clone returns a calculator with memory of its own that shares the diagonals.
func (e *Everywhere) Clone() *Everywhere { return e.With(e.guests) }

// With returns a calculator with memory of its own for the N movies of the graph
// and the given guests, which are movies N, N+1, ….
func (e *Everywhere) With(guests []*Guest) *Everywhere {
	n := e.shift.Rows + len(guests)
	c := &Everywhere{
		shift: e.shift, order: e.order, diagonal: e.diagonal, guests: guests,
		rated: make([]bool, n), ratings: make([]float64, n),
	}
	for i := range 2 {
		c.values[i], c.marks[i] = make([]float64, n), make([]float64, n)
	}
	return c
}

// Features writes z_k of every movie n to dst at n·(K+1)+k, N·(K+1) values,
// overwritten, and m_n to means, N values, overwritten. Movies and ratings are
// those of one user, as in [Powers.Features], with whose results these agree
// within rounding.
func (e *Everywhere) Features(dst, means []float64, movie []int32, rating []float64, signal Signal, unknown float64) {
	n, width := len(e.rated), e.order+1
	if len(dst) != n*width || len(means) != n || len(movie) != len(rating) {
		panic(fmt.Sprintf("movies: Everywhere: %d values and %d means for %d movies and order %d", len(dst), len(means), n, e.order))
	}
	e.load(means, movie, rating, signal, unknown)
	for k := range width {
		if k > 0 {
			e.step(e.values[k%2], e.values[(k-1)%2], k)
			if signal != SignalRaw {
				e.step(e.marks[k%2], e.marks[(k-1)%2], k)
			}
		}
		values, marks := e.values[k%2], e.marks[k%2]
		for i := range n {
			z := values[i]
			if signal != SignalRaw {
				z -= float64(means[i] * marks[i])
			}
			if e.rated[i] {
				z -= float64(e.diagonalAt(i, k) * (e.ratings[i] - means[i]))
			}
			dst[i*width+k] = z
		}
	}
}

// load sets r, o and the means m_n.
func (e *Everywhere) load(means []float64, movie []int32, rating []float64, signal Signal, unknown float64) {
	clear(e.values[0])
	clear(e.marks[0])
	clear(e.rated)
	sum := 0.0
	for k, i := range movie {
		e.values[0][i], e.marks[0][i], e.rated[i], e.ratings[i] = rating[k], 1, true, rating[k]
		sum += rating[k]
	}
	for i := range means {
		left, count := sum, len(movie)
		if e.rated[i] {
			left, count = sum-e.ratings[i], count-1
		}
		switch {
		case signal == SignalRaw:
			means[i] = 0
		case count == 0:
			means[i] = unknown
		default:
			means[i] = left / float64(count)
		}
	}
}

// diagonalAt returns what of movie i's rating comes back to it after k steps.
func (e *Everywhere) diagonalAt(i, k int) float64 {
	if n := e.shift.Rows; i >= n {
		return e.guests[i-n].diagonal[k]
	}
	return e.diagonal[i*(e.order+1)+k]
}

// step computes the k-th values y from those before them, k at least 1.
func (e *Everywhere) step(y, x []float64, k int) {
	n := e.shift.Rows
	multiply(y[:n], e.shift, x[:n])
	for i, g := range e.guests {
		y[n+i] = g.hears(x)
		if k == 1 {
			g.speak(y, x[n+i])
		}
	}
}

// multiply computes y = S x.
func multiply(y []float64, s *mat.CSR, x []float64) {
	for i := range y {
		sum := 0.0
		col, val := s.Row(i)
		for e, j := range col {
			sum += float64(float64(val[e]) * x[j])
		}
		y[i] = sum
	}
}
