package recommend

import (
	"fmt"

	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/scenario/movies"
)

// world is ratings under a setting: the movies, the graph, and who is who. It
// never changes once built; any number of goroutines may use it.
type world struct {
	setting  Setting
	ratings  *movies.Ratings // of the N movies
	position map[int]int32   // of a movie, by its id
	graph    *view

	train, validation, test []int // users

	least, most float64 // scale of the ratings
}

// newWorld divides the users and builds the graph from the ratings of those
// who train.
func newWorld(all *movies.Ratings, s Setting, threads int) (*world, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	n := s.Movies
	if n == 0 {
		n = all.Movies()
	}
	w := &world{setting: s, ratings: all.Select(all.Top(n)), position: map[int]int32{}}
	for i := range w.ratings.Movies() {
		w.position[w.ratings.MovieID(i)] = int32(i)
	}
	w.least, w.most = w.ratings.Range()
	w.divide()
	if len(w.train) == 0 || len(w.validation) == 0 || len(w.test) == 0 {
		return nil, fmt.Errorf("recommend: %d users are too few to train, validate and test; want at least 10", all.Users())
	}
	var err error
	w.graph, err = w.viewOf(w.train, threads)
	return w, err
}

// divide draws who tests and who validates; the others train.
func (w *world) divide() {
	order := random.Stream(w.setting.Seed, "users").Perm(w.ratings.Users())
	tests, checks := int(w.setting.Test*float64(len(order))), int(w.setting.Validation*float64(len(order)))
	w.test, w.validation, w.train = order[:tests], order[tests:tests+checks], order[tests+checks:]
}

// view is how ratings look in the light of some users' ratings.
type view struct {
	shift    *mat.CSR           // S
	features *movies.Everywhere // on S; to clone
	offset   []float64          // b_n by movie; zeros without offsets
	unknown  float64            // m of a user with no other rating: the mean of r - b
}

// viewOf returns the view that the ratings of the given users make.
func (w *world) viewOf(users []int, threads int) (*view, error) {
	g, err := movies.NewGraph(w.ratings, users, w.setting.graph(threads))
	if err != nil {
		return nil, fmt.Errorf("recommend: %w", err)
	}
	s, err := w.setting.Shift.Of(g)
	if err != nil {
		return nil, fmt.Errorf("recommend: %w", err)
	}
	v := &view{shift: s, features: movies.NewEverywhere(s, w.setting.Order), offset: make([]float64, w.ratings.Movies())}
	if w.setting.Offsets {
		w.offsets(v.offset, users)
	}
	sum, count := 0.0, 0
	for _, u := range users {
		movie, rating := w.ratings.User(u)
		for k, n := range movie {
			sum += rating[k] - v.offset[n]
		}
		count += len(movie)
	}
	v.unknown = sum / float64(max(count, 1))
	return v, nil
}

// offsets writes b_n to dst: how much better than the mean of their other
// ratings the given users find movie n, shrunk towards 0 where they are few,
//
//	b_n = Σ_u (r_un - m_u) / (raters + 5)
func (w *world) offsets(dst []float64, users []int) {
	const shrinkage = 5
	raters := make([]float64, len(dst))
	for _, u := range users {
		movie, rating := w.ratings.User(u)
		if len(movie) < 2 {
			continue
		}
		sum := 0.0
		for _, v := range rating {
			sum += v
		}
		for k, n := range movie {
			dst[n] += rating[k] - (sum-rating[k])/float64(len(movie)-1)
			raters[n]++
		}
	}
	for n := range dst {
		dst[n] /= raters[n] + shrinkage
	}
}

// reduced appends r - b of the given ratings to dst.
func (v *view) reduced(dst []float64, movie []int32, rating []float64) []float64 {
	for k, n := range movie {
		dst = append(dst, rating[k]-v.offset[n])
	}
	return dst
}

// clip returns v within the scale of the ratings.
func (w *world) clip(v float64) float64 { return min(w.most, max(w.least, v)) }
