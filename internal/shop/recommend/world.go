package recommend

import (
	"fmt"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/shop/movies"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/random"
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
	unit        float64 // of them, by which the network reads them; see Setting
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
	w := &world{setting: s, ratings: all.Select(all.Top(n)), position: map[int]int32{}, unit: s.unit()}
	for i := range w.ratings.Movies() {
		w.position[w.ratings.MovieID(i)] = int32(i)
	}
	if err := w.scale(); err != nil {
		return nil, err
	}
	w.divide()
	if len(w.train) == 0 || len(w.validation) == 0 || len(w.test) == 0 {
		return nil, fmt.Errorf("recommend: %d users are too few to train, validate and test; want at least 10", all.Users())
	}
	var err error
	w.graph, err = w.viewOf(w.train, threads)
	return w, err
}

// scale sets the ends of the scale, between which all ratings must be.
func (w *world) scale() error {
	least, most := w.ratings.Range()
	if w.least, w.most = w.setting.Least, w.setting.Most; w.least == 0 && w.most == 0 {
		w.least, w.most = least, most
	}
	if least < w.least || most > w.most {
		return fmt.Errorf("recommend: the ratings go from %v to %v, beyond the scale from %v to %v", least, most, w.least, w.most)
	}
	return nil
}

// divide draws who tests and who validates; the others train.
func (w *world) divide() {
	order := random.Stream(w.setting.Seed, "users").Perm(w.ratings.Users())
	tests, checks := int(w.setting.Test*float64(len(order))), int(w.setting.Validation*float64(len(order)))
	w.test, w.validation, w.train = order[:tests], order[tests:tests+checks], order[tests+checks:]
}

// view is how ratings look in the light of some users' ratings.
type view struct {
	graph    *graph.Graph
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
	v := &view{graph: g, shift: s, features: movies.NewEverywhere(s, w.setting.Order), offset: make([]float64, w.ratings.Movies())}
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

// offsetShrinkage is how many raters who find nothing an offset has beside its own.
const offsetShrinkage = 5

// offsets writes b_n to dst: how much better than the mean of their other
// ratings the given users find movie n, shrunk towards 0 where they are few,
//
//	b_n = Σ_u (r_un - m_u) / (raters + 5)
func (w *world) offsets(dst []float64, users []int) {
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
		dst[n] /= raters[n] + offsetShrinkage
	}
}

// reduced appends r - b of the given ratings to dst.
func (v *view) reduced(dst []float64, movie []int32, rating []float64) []float64 {
	for k, n := range movie {
		dst = append(dst, rating[k]-v.offset[n])
	}
	return dst
}

// served returns the rating that an output of the network stands for, within the
// scale; mean is m + b.
func (w *world) served(mean float64, y float32) float64 { return w.clip(w.raised(mean, y)) }

// raised returns it before it is clipped.
func (w *world) raised(mean float64, y float32) float64 { return mean + float64(w.unit*float64(y)) }

// target returns the output that would have been right.
func (w *world) target(rating, mean float64) float32 { return float32((rating - mean) / w.unit) }

// clip returns v within the scale of the ratings.
func (w *world) clip(v float64) float64 { return min(w.most, max(w.least, v)) }
