package movierecipe

import (
	"errors"
	"fmt"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/config"
	"github.com/wdgnn/wdgnn/internal/shop/movies"
)

// Keys are those of the recommendation of movies of the paper, Section 6.3: nodes are
// movies, a signal is what one user rated, and the model says how the user rates
// one movie more. It has at most one layer.
type Keys struct {
	// The folder of the ratings, as `wdgnn data get` leaves it.
	Data config.Path `yaml:"data" default:"required" example:"data/ml-100k"`

	// The title of the movie whose ratings are told.
	Target string `yaml:"target" example:"\"Contact (1997)\""`

	// How many movies there are in the graph: those with most ratings.
	Top int `yaml:"top" example:"400"`

	// What makes two movies similar: `libvar`, which the paper's numbers fit,
	// `huang`, the correlation of the paper's reference, or `pearson`, that
	// over the users who rated both.
	Similarity movies.Similarity `yaml:"similarity" example:"pearson"`

	// To how many similar movies a movie is linked.
	Neighbors int `yaml:"neighbors" example:"10"`

	// The shift operator, as of your own data.
	Shift graph.Shift `yaml:"shift" example:"symmetric"`

	// What a signal holds: `raw` ratings, or `centered` ones, less the mean of
	// the user.
	Signal movies.Signal `yaml:"signal" example:"centered"`

	// Who tests: `by-movie`, some raters of the target, as in the paper;
	// `by-user`, users who are new to everything; or, without chance and without
	// validation, `every-tenth` rater.
	Protocol movies.Protocol `yaml:"protocol" example:"by-user"`

	// The share of the raters of the movie to test on.
	Test float64 `yaml:"test" example:"0.1"`

	// The share of the others to validate on.
	Valid float64 `yaml:"valid" example:"0.1"`
}

// Default implements [config.Section].
func (k *Keys) Default() {
	s := movies.DefaultSplit()
	*k = Keys{
		Target: "Star Wars (1977)", Top: 400, Neighbors: movies.DefaultGraph().Neighbors, Shift: graph.ShiftSpectral,
		Test: s.Test, Valid: s.Validation,
	}
}

// mostMovies keeps a slip of the pen from asking for all memory.
const mostMovies = 10_000

// Validate implements [config.Section].
func (k *Keys) Validate() error {
	var errs []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	check(k.Data != "", "movies.data is missing: name the folder that wdgnn data get movielens-100k leaves the ratings in")
	check(k.Target != "", "movies.target is empty, want the title of a movie")
	check(k.Top >= 2 && k.Top <= mostMovies, "movies.top is %d, want 2 to %d movies", k.Top, mostMovies)
	return errors.Join(append(errs, k.similar().Validate(), k.split().Validate())...)
}

// Unplaced implements [config.Section].
func (k *Keys) Unplaced() config.Section {
	same := *k
	same.Data = ""
	return &same
}

// similar returns how the graph of movies is made.
func (k *Keys) similar() movies.GraphConfig {
	c := movies.GraphConfig{Neighbors: k.Neighbors}
	c.Similarity.Measure = k.Similarity
	return c
}

// split returns how users are divided.
func (k *Keys) split() movies.SplitConfig {
	return movies.SplitConfig{Protocol: k.Protocol, Test: k.Test, Validation: k.Valid}
}
