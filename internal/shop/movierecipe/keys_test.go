package movierecipe

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/config"
	"github.com/wdgnn/wdgnn/internal/lifecycle"
	"github.com/wdgnn/wdgnn/internal/recipe"
	"github.com/wdgnn/wdgnn/internal/shop/movies"
	"github.com/wdgnn/wdgnn/random"
)

func init() { config.Link("movies", new(Keys)) }

// configured reads a configuration.
func configured(t *testing.T, text string) (*config.Config, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return config.Load(path)
}

// trained trains by a configuration.
func trained(t *testing.T, text string) (*lifecycle.Training, *config.Config) {
	t.Helper()
	c, err := configured(t, text)
	if err != nil {
		t.Fatal(err)
	}
	run, err := lifecycle.NewTraining(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(run.Close)
	if _, err := run.Run(t.Context(), nil, nil, nil); err != nil {
		t.Fatal(err)
	}
	return run, c
}

// Every complaint names the key.
func TestKeysComplain(t *testing.T) {
	const films = "scenario: movies\nmodel: {wide: {order: 1}, features: 4}"
	for _, c := range []struct{ name, text, want string }{
		{"no ratings", films, "movies.data is missing"},
		{"unknown key", films + "\nmovies: {tagret: x}", `unknown key "movies.tagret"; did you mean "target"?`},
		{
			"movies", films + "\nmovies: {data: d, target: '', top: -1, neighbors: 0, test: 2}",
			"movies.target is empty, want the title of a movie\nmovies.top is -1, want 2 to 10000 movies\n" +
				"movies: neighbors is 0, want at least 1\nmovies: test is 2, want more than 0 and less than 1",
		},
		{
			"no accuracy", films + "\nmovies: {data: d}\ntrain: {select: accuracy}",
			"train.select is accuracy, but the scenario movies has none; want rmse",
		},
		{"two layers", "scenario: movies\nmodel: {deep: [{features: 4}, {features: 4}]}", "model.deep has 2 layers, want at most 1"},
		{"other settings", "scenario: flocking\nmovies: {data: d}", `movies has settings, but scenario is "flocking"`},
	} {
		_, err := configured(t, c.text)
		if err == nil {
			t.Errorf("%s: no complaint, want %q", c.name, c.want)
			continue
		}
		path, _, _ := strings.Cut(err.Error(), ": ")
		if got := strings.ReplaceAll(err.Error(), path+": ", ""); !strings.Contains(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// A fingerprint is of what is computed, not of where the ratings lie.
func TestKeysFingerprint(t *testing.T) {
	said := func(keys string) string {
		c, err := configured(t, "scenario: movies\nmovies: {"+keys+"}\nmodel: {wide: {order: 1}, features: 4}")
		if err != nil {
			t.Fatal(err)
		}
		return c.Fingerprint()
	}
	if said("data: here") != said("data: there") || said("data: here") == said("data: here, top: 7") {
		t.Error("the fingerprint is not of all keys but data")
	}
}

// someRatings writes made-up ratings in the form of MovieLens 100k.
func someRatings(t *testing.T) string {
	t.Helper()
	rng := random.Stream(1, "ratings")
	var ratings, items strings.Builder
	for n := range 30 {
		fmt.Fprintf(&items, "%d|Movie %d%s\n", n+1, n, strings.Repeat("|", 22))
		for u := range 120 {
			if n == 0 || rng.IntN(2) == 0 {
				fmt.Fprintf(&ratings, "%d\t%d\t%d\t1\n", u+1, n+1, 1+(u+rng.IntN(3))%5)
			}
		}
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"u.data": ratings.String(), "u.item": items.String()} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// A configuration trains the model of ratings that the recipe trains, to the last
// bit, and says ratings, not what they are beyond a user's mean.
func TestMoviesTrainAsTheRecipe(t *testing.T) {
	dir := someRatings(t)
	all, err := OpenRatings(dir, "movielens-100k")
	if err != nil {
		t.Fatal(err)
	}
	library, err := NewLibrary(all, 20, []string{"Movie 0"})
	if err != nil {
		t.Fatal(err)
	}
	s := DefaultMovies(5, all)
	s.Epochs, s.Order, s.Features = 2, 3, 8
	w, err := NewMovieWorld(&s, Reading{
		Graph: SimilarBy(movies.SimilarityPearson), Shift: graph.ShiftSymmetric, Signal: movies.SignalCentered,
	}, library, 0)
	if err != nil {
		t.Fatal(err)
	}
	e, err := w.Examples()
	if err != nil {
		t.Fatal(err)
	}
	want, err := w.Fit(t.Context(), recipe.WideDeep, e)
	if err != nil {
		t.Fatal(err)
	}
	got, c := trained(t, `
seed: 5
scenario: movies
movies: {data: "`+filepath.ToSlash(dir)+`", target: Movie 0, top: 20, similarity: pearson, shift: symmetric, signal: centered}
model: {features: 8, wide: {order: 3}, deep: [{order: 3, features: 8}]}
train: {epochs: 2, batch_size: 5, adam: {step_size: 0.005}, validate_every: 5}
`)
	if !slices.Equal(got.Model.Params.Flat, want.Params.Flat) {
		t.Error("the configuration trains another model than the recipe")
	}
	p, err := lifecycle.PredictPart(t.Context(), got.File("test"), c, "test", 1)
	if err != nil {
		t.Fatal(err)
	}
	squares := 0.0
	for i, u := range e.Test[0].Users {
		rating, _ := library.Rating(u, library.Target)
		squares += math.Pow(float64(p.Values[i])-rating, 2)
	}
	score, err := lifecycle.Evaluate(t.Context(), got.File("test"), c, "test")
	if err != nil {
		t.Fatal(err)
	}
	if rmse := math.Sqrt(squares / float64(len(p.Values))); math.Abs(rmse-*score.RMSE) > 1e-5 {
		t.Errorf("predictions are %v away from the ratings, the score says %v", rmse, *score.RMSE)
	}
}
