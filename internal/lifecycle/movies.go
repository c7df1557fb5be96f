package lifecycle

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/internal/config"
	"github.com/wdgnn/wdgnn/internal/dataset"
	"github.com/wdgnn/wdgnn/internal/recipe"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/scenario/movies"
	"github.com/wdgnn/wdgnn/train"
)

// ratings is the scenario movies: the ratings of one movie are told from those
// of others.
type ratings struct {
	*recipe.MovieWorld
	rows map[string]recipe.MovieRows // by part
}

// drawMovies reads the ratings and divides the users. A sample is a user, with
// what is heard of the user's ratings at the node of the target.
func drawMovies(c *config.Config) (*Dataset, error) {
	s := c.Movies
	dir := c.Abs(s.Data)
	set := "100k"
	if base, ok := strings.CutPrefix(filepath.Base(dir), "ml-"); ok {
		set = base
	}
	all, err := recipe.OpenRatings(dir, "movielens-"+set)
	if err != nil {
		return nil, err
	}
	library, err := recipe.NewLibrary(all, s.Top, []string{s.Target})
	if err != nil {
		return nil, unknownMovie(all, s)
	}
	world, err := recipe.NewMovieWorld(
		&recipe.Movies{Seed: c.Seed, Top: s.Top, Order: c.Model.Order(), Split: s.Split()},
		recipe.Reading{ID: s.Target, Graph: s.Similar(), Shift: s.Shift, Signal: s.Signal, Protocol: s.Protocol}, library, 0)
	if err != nil {
		return nil, err
	}
	e, err := world.Examples()
	if err != nil {
		return nil, err
	}
	r := &ratings{world, map[string]recipe.MovieRows{"train": e.Train, "valid": e.Valid, "test": e.Test[0]}}
	part := func(name string) *Part {
		rows := r.rows[name]
		p := &Part{Samples: len(rows.Users), shifted: rows.Z, means: rows.Means}
		p.Values = rows.Rating
		return p
	}
	return &Dataset{
		task: config.Regress, Shift: s.Shift, Nodes: world.Similar.Nodes(), Edges: world.Similar.Edges(), in: 1, outputs: 1,
		read: []int{library.Target}, graph: world.Similar, each: 1, criterion: loss.SmoothL1{}, scenario: r,
		Train: part("train"), Valid: part("valid"), Test: part("test"),
	}, nil
}

// unknownMovie says that the target is not among the movies of the graph, and
// what to try.
func unknownMovie(all *movies.Ratings, s *config.Movies) error {
	p := &dataset.Problem{
		Err: fmt.Errorf("movies.target: no movie called %q is among the %d most rated in %s", s.Target, min(s.Top, all.Movies()), s.Data),
		Try: "a title as the data set spells it, year included, such as Star Wars (1977)",
	}
	if at, ok := all.FindTitle(s.Target); ok {
		p.Try = fmt.Sprintf("a larger movies.top: it is number %d", 1+slices.Index(all.Top(all.Movies()), at))
		return p
	}
	for _, at := range all.Top(all.Movies()) {
		if strings.Contains(strings.ToLower(all.Title(at)), strings.ToLower(s.Target)) {
			p.Try = fmt.Sprintf("%s, which has the most ratings of those with that in their title", all.Title(at))
			return p
		}
	}
	return p
}

// start implements [scenario].
func (r *ratings) start(m gnn.Config) *rand.Rand { return r.Start(recipe.KindOf(m)) }

// tune implements [scenario].
func (r *ratings) tune(c *train.Config) { c.Seed = r.TrainSeed() }

// grow implements [scenario].
func (r *ratings) grow() (half, all int) { return 0, 0 }

// grown implements [scenario]; it is not called.
func (r *ratings) grown(context.Context, *gnn.WideDeep) (*Part, error) { return nil, nil }

// measure implements [scenario]: the root mean squared error of the ratings.
func (r *ratings) measure(_ context.Context, m *gnn.WideDeep, part string) (float64, error) {
	rows := r.rows[part]
	return recipe.RMSE(new(recipe.MovieReader).Read(m, rows), rows.Rating), nil
}

// report implements [scenario].
func (r *ratings) report(_ context.Context, s *Score, _ string, measured float64) error {
	s.RMSE = &measured
	return nil
}

// keep implements [scenario].
func (r *ratings) keep(*modelfile.Model) {}
