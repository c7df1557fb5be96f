package movierecipe

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/internal/config"
	"github.com/wdgnn/wdgnn/internal/lifecycle"
	"github.com/wdgnn/wdgnn/internal/recipe"
	"github.com/wdgnn/wdgnn/internal/shop/dataset"
	"github.com/wdgnn/wdgnn/internal/shop/movies"
)

// Draw reads the ratings and divides the users. A sample is a user, with what is heard of
// the user's ratings at the node of the target. It implements [lifecycle.World].
func (k *Keys) Draw(c *config.Config) (*lifecycle.Drawn, error) {
	dir := c.Abs(k.Data)
	set := "100k"
	if base, ok := strings.CutPrefix(filepath.Base(dir), "ml-"); ok {
		set = base
	}
	all, err := OpenRatings(dir, "movielens-"+set)
	if err != nil {
		return nil, err
	}
	library, err := NewLibrary(all, k.Top, []string{k.Target})
	if err != nil {
		return nil, unknownMovie(all, k)
	}
	world, err := NewMovieWorld(
		&Movies{Seed: c.Seed, Top: k.Top, Order: c.Model.Order(), Split: k.split()},
		Reading{ID: k.Target, Graph: k.similar(), Shift: k.Shift, Signal: k.Signal, Protocol: k.Protocol}, library, 0)
	if err != nil {
		return nil, err
	}
	e, err := world.Examples()
	if err != nil {
		return nil, err
	}
	parts := map[string]lifecycle.Rows{}
	for name, rows := range map[string]MovieRows{"train": e.Train, "valid": e.Valid, "test": e.Test[0]} {
		parts[name] = lifecycle.Rows{Z: rows.Z, Values: rows.Rating, Means: rows.Means}
	}
	return &lifecycle.Drawn{
		Shift: k.Shift, Graph: world.Similar, Node: library.Target, Parts: parts,
		Start: func(m gnn.Config) *rand.Rand { return world.Start(recipe.KindOf(m)) }, Seed: world.TrainSeed(),
		Measure: func(m *gnn.WideDeep, part string) float64 {
			return RMSE(new(MovieReader).Read(m, MovieRows{Z: parts[part].Z}), parts[part].Values)
		},
	}, nil
}

// unknownMovie says that the target is not among the movies of the graph, and
// what to try.
func unknownMovie(all *movies.Ratings, s *Keys) error {
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
