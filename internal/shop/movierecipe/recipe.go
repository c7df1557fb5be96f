package movierecipe

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/recipe"
	"github.com/wdgnn/wdgnn/internal/shop/dataset"
	"github.com/wdgnn/wdgnn/internal/shop/movies"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/random"
)

// Movies are the settings of Section 6.3. Everything that changes a
// number is here, so that its fingerprint tells results apart.
//
// Deviation: the paper names neither the loss nor how parameters are chosen.
// Models are trained on the smooth L1 loss, and those parameters are kept that
// have the least error on the validation users, who are asked every few steps.
type Movies struct {
	Seed    uint64 `json:"seed"`
	Ratings string `json:"ratings"` // fingerprint of the data set
	Top     int    `json:"movies"`  // movies, those with most ratings

	Order    int `json:"order"`    // K of both parts
	Features int `json:"features"` // G

	Epochs        int     `json:"epochs"`
	BatchSize     int     `json:"batch_size"`
	StepSize      float64 `json:"step_size"`      // of Adam
	ValidateEvery int     `json:"validate_every"` // steps

	// Gamma is the step size of online learning on e², whose gradient is 2e.
	// Taps and the wide part's bias learn.
	//
	// Deviation: the paper states neither γ nor whether the bias learns, which
	// its filters do not have.
	Gamma float64 `json:"gamma"`

	// GammaLarge is another step size for distributed learning, in which the
	// step of the one node that hears a rating is shared out among all.
	GammaLarge float64 `json:"gamma_large"`

	Split movies.SplitConfig `json:"split"`
}

// Reading is one reading of the experiment.
type Reading struct {
	ID       string             `json:"id"`
	Graph    movies.GraphConfig `json:"graph"`
	Shift    graph.Shift        `json:"shift"`
	Signal   movies.Signal      `json:"signal"`
	Protocol movies.Protocol    `json:"protocol"`
}

// SimilarBy returns the paper's graph of movies under a measure of similarity.
func SimilarBy(measure movies.Similarity) movies.GraphConfig {
	c := movies.DefaultGraph()
	c.Similarity.Measure = measure
	return c
}

// DefaultMovies returns the paper's settings for some ratings.
func DefaultMovies(seed uint64, r *movies.Ratings) Movies {
	return Movies{
		Seed: seed, Ratings: dataset.Fingerprint(r), Top: 400, Order: 5, Features: 64,
		Epochs: 30, BatchSize: 5, StepSize: 5e-3, ValidateEvery: 5, Gamma: 5e-3, GammaLarge: 2e-2,
		Split: movies.DefaultSplit(),
	}
}

// Architecture returns the network of Section 6.3: 64 features, filters of
// order 5, one layer, one number per movie.
func (s *Movies) Architecture(k recipe.Kind) gnn.Config {
	c := gnn.Config{In: 1, Features: s.Features, Outputs: 1}
	if k != recipe.GNN {
		c.Wide = &gnn.WideConfig{Order: s.Order}
	}
	if k != recipe.Filter {
		c.Deep = []gnn.LayerConfig{{Order: s.Order, Features: s.Features}}
	}
	return c
}

// Library is the data of a run: the most rated movies and the places of some
// among them. It is read-only.
type Library struct {
	*movies.Ratings
	Target int   // the movie that models are trained on
	Others []int // those that they are asked for as well
}

// OpenRatings reads the data set in dir, as wdgnn data get leaves it. If there is
// none, the error says how to get the set of the given name.
func OpenRatings(dir, set string) (*movies.Ratings, error) {
	all, err := dataset.Load(dir)
	var problem *dataset.Problem
	if errors.Is(err, fs.ErrNotExist) || errors.As(err, &problem) {
		where := dir
		if here, err := os.Getwd(); err == nil && !filepath.IsAbs(dir) {
			where = filepath.Join(here, dir)
		}
		return nil, &dataset.Problem{
			Err: fmt.Errorf("no ratings in %s: %w", where, err),
			Try: fmt.Sprintf("wdgnn data get %s --out %s", set, dir),
		}
	}
	return all, err
}

// NewLibrary returns the most rated movies of a table. The target and the others
// are given by title; data sets spell a title differently, so each may have
// several.
func NewLibrary(all *movies.Ratings, top int, target []string, others ...[]string) (*Library, error) {
	l := &Library{Ratings: all.Select(all.Top(top))}
	var err error
	if l.Target, err = l.find(target); err != nil {
		return nil, err
	}
	for _, titles := range others {
		at, err := l.find(titles)
		if err != nil {
			return nil, err
		}
		l.Others = append(l.Others, at)
	}
	return l, nil
}

// find returns the place of the movie with one of the titles, the last that
// there is.
func (l *Library) find(titles []string) (at int, err error) {
	found := false
	for _, title := range titles {
		if n, ok := l.FindTitle(title); ok {
			at, found = n, true
		}
	}
	if !found {
		return 0, fmt.Errorf("%s is not among the %d most rated movies; this experiment needs MovieLens with its titles",
			strings.Join(titles, " or "), l.Movies())
	}
	return at, nil
}

// MovieWorld is one split of the users, as one reading sees it.
type MovieWorld struct {
	*Movies
	Reading
	Number int // of the split

	Library  *Library
	Users    *movies.Split // who trains, who tests
	Similar  *graph.Graph  // of movies
	Operator *mat.CSR      // S of that graph
	Unknown  float64       // stands for the mean of a user without ratings
}

// NewMovieWorld divides the users and makes the graph. One split has the same
// users in all readings that share a protocol.
func NewMovieWorld(s *Movies, m Reading, l *Library, number int) (*MovieWorld, error) {
	w := &MovieWorld{Movies: s, Reading: m, Number: number, Library: l}
	c := s.Split
	c.Protocol = m.Protocol
	var err error
	if w.Users, err = movies.NewSplit(l.Ratings, l.Target, l.Others, c, random.Stream(s.Seed, "movies split", number)); err != nil {
		return nil, err
	}
	if w.Similar, err = movies.NewGraph(l.Ratings, w.Users.Graph, m.Graph); err != nil {
		return nil, err
	}
	if w.Operator, err = m.Shift.Of(w.Similar); err != nil {
		return nil, err
	}
	w.Unknown = l.Mean(w.Users.Graph)
	return w, nil
}

// MovieRows is what a model sees of some users who rated a movie, and what it
// should say.
type MovieRows struct {
	Movie  int
	Users  []int
	Z      mat.Dense // [Sᵏx]_n, users×(K+1)
	Means  []float64 // of the users if signals are centred, else 0
	Rating mat.Dense // less the user's mean if signals are centred, users×1
}

// One returns row i.
func (r MovieRows) One(i int) MovieRows {
	return MovieRows{
		Movie: r.Movie, Users: r.Users[i : i+1], Means: r.Means[i : i+1],
		Z: r.Z.View(i, 0, 1, r.Z.Cols), Rating: r.Rating.View(i, 0, 1, 1),
	}
}

// rows returns what a model sees of the users when it is asked for a movie.
func (w *MovieWorld) rows(p *movies.Powers, users []int) (MovieRows, error) {
	s, err := p.Samples(w.Library.Ratings, users, w.Signal, w.Unknown)
	if err != nil {
		return MovieRows{}, err
	}
	r := MovieRows{
		Movie: p.Target(), Users: users, Means: s.Means,
		Z: mat.NewDense(len(users), p.Order()+1, nil), Rating: mat.NewDense(len(users), 1, nil),
	}
	for i, v := range s.Features {
		r.Z.Data[i] = float32(v)
	}
	for i := range users {
		r.Rating.Data[i] = float32(s.Ratings[i] - s.Means[i])
	}
	return r, nil
}
