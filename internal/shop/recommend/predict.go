package recommend

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/wdgnn/wdgnn/internal/shop/movies"
)

// Prediction is a rating that a user is expected to give.
type Prediction struct {
	Movie  int      `json:"movie"`
	Title  string   `json:"title,omitempty"`
	Rating float64  `json:"rating"`
	Rated  *float64 `json:"rated,omitempty"` // what the user said; the prediction does not read it

	Because *Because `json:"because,omitempty"` // if it was asked for
}

// Predictions are made by one version of the parameters.
type Predictions struct {
	User    int          `json:"user"`
	Version uint64       `json:"version"`
	Serving string       `json:"serving"` // "online", or "frozen" after the guard fell back
	List    []Prediction `json:"predictions"`

	of *profile // that they were made from
	by *version
}

// Predict predicts what the user thinks of the given movies, in their order. A
// movie that the user rated is predicted from the other ratings.
func (s *Service) Predict(user int, ids []int) (*Predictions, error) {
	p, out, v, err := s.begin(user)
	if err != nil {
		return nil, err
	}
	f := s.look.with(p, v.newcomers)
	for _, id := range ids {
		n, ok := s.world.locate(id, v.newcomers)
		if !ok {
			return nil, s.noMovie(id)
		}
		out.List = append(out.List, s.prediction(p, f, v, n))
	}
	return out, nil
}

// Top predicts the count movies that the user has not rated and should like
// most, best first, of equals those with more ratings first.
func (s *Service) Top(user, count int) (*Predictions, error) {
	p, out, v, err := s.begin(user)
	if err != nil {
		return nil, err
	}
	f := s.look.with(p, v.newcomers)
	best := ranking{most: max(count, 0)}
	rated := p.movie
	for n := range int32(len(f.base)) {
		if len(rated) > 0 && rated[0] == n {
			rated = rated[1:]
			continue
		}
		best.offer(n, s.raw(f, v, n))
	}
	for _, l := range best.list {
		out.List = append(out.List, s.prediction(p, f, v, l.movie))
	}
	return out, nil
}

// ranking keeps the best of what it is offered, best first.
type ranking struct {
	most int
	list []scored
}

type scored struct {
	movie  int32
	rating float64
}

// offer takes a movie in if it is among the best. Of equals the first stays
// before the later ones.
func (r *ranking) offer(movie int32, rating float64) {
	if len(r.list) == r.most && (r.most == 0 || rating <= r.list[r.most-1].rating) {
		return
	}
	at, _ := slices.BinarySearchFunc(r.list, rating, func(s scored, rating float64) int {
		if s.rating >= rating {
			return -1
		}
		return 1
	})
	if len(r.list) == r.most {
		r.list = r.list[:r.most-1]
	}
	r.list = slices.Insert(r.list, at, scored{movie, rating})
}

func (s *Service) begin(user int) (*profile, *Predictions, *version, error) {
	p := s.profile(user) // before the version: it must not know items that the version does not
	v := s.version.Load()
	if p == nil {
		return nil, nil, nil, fmt.Errorf("%w: user %s has not rated anything yet; the first rating makes a user known",
			ErrUser, v.book.ids.shown(user))
	}
	return p, &Predictions{User: user, Version: v.seq, Serving: v.servingName(), List: []Prediction{}, of: p, by: v}, v, nil
}

func (v *version) servingName() string {
	if v.serving {
		return "online"
	}
	return "frozen"
}

// raw returns the prediction before it is clipped.
func (s *Service) raw(f *features, v *version, n int32) float64 {
	if !v.serving {
		return s.world.raised(f.mean[n], f.base[n])
	}
	var y [1]float32
	var scratch [1]float64
	s.basis.Predict(y[:], f.base[n:n+1], f.row(n), v.params, scratch[:])
	return s.world.raised(f.mean[n], y[0])
}

func (s *Service) prediction(p *profile, f *features, v *version, n int32) Prediction {
	out := Prediction{Rating: s.world.clip(s.raw(f, v, n))}
	out.Movie, out.Title = s.world.idOf(n, v.newcomers)
	if r, ok := p.of(n); ok {
		out.Rated = &r
	}
	return out
}

// RatedMovie is a rating that a user gave.
type RatedMovie struct {
	Movie  int     `json:"movie"`
	Title  string  `json:"title,omitempty"`
	Rating float64 `json:"rating"`
}

// Ratings returns what a user rated, by ascending movie id.
func (s *Service) Ratings(user int) ([]RatedMovie, error) {
	p := s.profile(user)
	v := s.version.Load()
	if p == nil {
		return nil, fmt.Errorf("%w: user %s has not rated anything yet", ErrUser, v.book.ids.shown(user))
	}
	list := make([]RatedMovie, len(p.movie))
	for k, n := range p.movie {
		list[k].Rating = p.rating[k]
		list[k].Movie, list[k].Title = s.world.idOf(n, v.newcomers)
	}
	slices.SortFunc(list, func(a, b RatedMovie) int { return cmp.Compare(a.Movie, b.Movie) })
	return list, nil
}

// errNoItem is ErrMovie where what is rated are no movies.
var errNoItem error = alias{"no such item", ErrMovie}

// alias is an error in other words.
type alias struct {
	text string
	is   error
}

func (a alias) Error() string { return a.text }
func (a alias) Unwrap() error { return a.is }

// check reports a rating that cannot be accepted, and finds its movie.
func (s *Service) check(user, movie int, rating float64, c *newcomers) (n int32, err error) {
	if user < 0 || user > movies.MaxID {
		return 0, fmt.Errorf("%w: id %d; want 0 to %d", ErrUser, user, movies.MaxID)
	}
	n, ok := s.world.locate(movie, c)
	if !ok {
		return 0, s.noMovie(movie)
	}
	if !(rating >= s.world.least && rating <= s.world.most) {
		return 0, fmt.Errorf("%w: %v; want %v to %v", ErrRating, rating, s.world.least, s.world.most)
	}
	return n, nil
}

func (s *Service) noMovie(id int) error {
	return s.noItem(s.items.shown(id))
}

func (s *Service) noItem(shown string) error {
	kind, count := ErrMovie, s.world.ratings.Movies()
	if s.shop.Word != "movie" {
		kind = errNoItem
	}
	return fmt.Errorf("%w: %s %s is not among the %d of the model", kind, s.shop.Word, shown, count)
}
