package movies

import (
	"fmt"

	"github.com/wdgnn/wdgnn/mat"
)

// Powers holds the rows e_nᵀ Sᵏ of one target n for k = 0 … K. They are all
// that a model read out at n needs of the graph: with them the numbers
//
//	z_k = [Sᵏ x]_n = (e_nᵀ Sᵏ) x
//
// cost one product per rated movie and k, whatever the size of the graph. It
// never changes once built; any number of goroutines may use it.
type Powers struct {
	target, order int
	row           []float64 // N×(K+1): [Sᵏ]_{n,i} at i·(K+1)+k
}

// NewPowers returns the rows of the given target and order K. With S given by
// rows, row k+1 is Sᵀ times row k. It panics if S is not square or target is
// not one of its nodes.
func NewPowers(s *mat.CSR, target, order int) *Powers {
	if s.Rows != s.Cols || order < 0 {
		panic(fmt.Sprintf("movies: NewPowers: shift %d×%d, order %d", s.Rows, s.Cols, order))
	}
	mustHave("target", target, s.Rows)
	p := &Powers{target: target, order: order, row: make([]float64, s.Rows*(order+1))}
	now, next := make([]float64, s.Rows), make([]float64, s.Rows)
	now[target] = 1 // r_0 = e_n
	for k := range order + 1 {
		for i, v := range now {
			p.row[i*(order+1)+k] = v
		}
		clear(next)
		for i, v := range now { // r_{k+1} = Sᵀ r_k
			if v == 0 {
				continue
			}
			col, val := s.Row(i)
			for e, j := range col {
				next[j] += float64(float64(val[e]) * v)
			}
		}
		now, next = next, now
	}
	return p
}

// Target returns n.
func (p *Powers) Target() int { return p.target }

// Order returns K.
func (p *Powers) Order() int { return p.order }

// Features writes z_0 … z_K of a user to dst, K+1 values, overwritten, and
// returns the mean that a prediction must be raised by, as [Signal.Mean] does.
// Movies and ratings are those of [Ratings.User], or any other list of
// different positions; a rating of the target is not read. z_0 is always 0.
//
//	z_k = Σ_i [Sᵏ]_{n,i} x_i      over the rated movies in the order given
func (p *Powers) Features(dst []float64, movie []int32, rating []float64, signal Signal, unknown float64) (mean float64) {
	width := p.order + 1
	if len(dst) != width || len(movie) != len(rating) {
		panic(fmt.Sprintf("movies: Features: %d values for order %d, %d movies, %d ratings", len(dst), p.order, len(movie), len(rating)))
	}
	mean = signal.Mean(movie, rating, p.target, unknown)
	clear(dst)
	for e, i := range movie {
		if int(i) == p.target {
			continue
		}
		x := rating[e] - mean
		for k, v := range p.row[int(i)*width:][:width] {
			dst[k] += float64(v * x)
		}
	}
	return mean
}

// Samples holds what a model learns from: the features of users who rated the
// target, and their ratings of it.
type Samples struct {
	Users    []int     // positions
	Features []float64 // K+1 per user
	Ratings  []float64 // of the target
	Means    []float64 // what was taken from the ratings: predict Ratings - Means
}

// Samples returns the features of the given users in the given order; it
// shares the slice of users with the result. A user who did not rate the
// target is an error. It panics if r has another number of movies than S.
func (p *Powers) Samples(r *Ratings, users []int, signal Signal, unknown float64) (*Samples, error) {
	width := p.order + 1
	if len(p.row) != r.Movies()*width {
		panic(fmt.Sprintf("movies: Samples: %d movies, but the shift has %d", r.Movies(), len(p.row)/width))
	}
	s := &Samples{
		Users: users, Features: make([]float64, len(users)*width),
		Ratings: make([]float64, len(users)), Means: make([]float64, len(users)),
	}
	for k, u := range users {
		rated := false
		if s.Ratings[k], rated = r.Rating(u, p.target); !rated {
			return nil, fmt.Errorf("movies: user %d did not rate movie %d, the target", r.UserID(u), r.MovieID(p.target))
		}
		movie, rating := r.User(u)
		s.Means[k] = p.Features(s.Features[k*width:(k+1)*width], movie, rating, signal, unknown)
	}
	return s, nil
}
