package movies

import (
	"math"

	"github.com/wdgnn/wdgnn/internal/paper/baseline"
	"github.com/wdgnn/wdgnn/internal/shop/movies"
	"github.com/wdgnn/wdgnn/random"
)

// The baselines in the order of the table. Those that learn see every rating
// but those of the movie by its test users.
var baselineNames = []string{
	"Mean of all ratings", "User's mean", "Mean of the training ratings of Star Wars", "Mean of the ratings heard online", "Movie's mean",
	"User's mean and movie's offset", "Biases, λ = 10",
	"Item-kNN, k = 10", "Item-kNN, k = 20", "Item-kNN, k = 10, shrinkage 30",
	factorsLoose, factorsTight,
}

// movieBaselines are the settings of baselines that have some.
type movieBaselines struct {
	Biases    baseline.BiasesConfig     `json:"biases"`
	Neighbors baseline.NeighborsConfig  `json:"neighbors"`
	More      int                       `json:"more"`      // k of the second row of neighbours
	Shrinkage float64                   `json:"shrinkage"` // of the third
	Factors   [2]baseline.FactorsConfig `json:"factors"`
}

func defaultBaselines() movieBaselines {
	b := movieBaselines{
		Biases:    baseline.BiasesConfig{Ridge: 10},
		Neighbors: baseline.NeighborsConfig{K: 10, Similarity: movies.SimilarityConfig{Measure: movies.SimilarityPearson}},
		More:      20, Shrinkage: 30,
	}
	for k, ridge := range []float64{8, 15} {
		b.Factors[k] = baseline.FactorsConfig{Factors: 20, Ridge: ridge, Biases: b.Biases}
	}
	return b
}

const (
	factorsLoose = "Matrix factorisation, 20 factors, λ = 8"
	factorsTight = "Matrix factorisation, 20 factors, λ = 15"
)

// constant predicts one number.
type constant float64

func (c constant) Predict(int, int) float64 { return float64(c) }

// baselines judges all baselines on the test users of every movie.
func (w *movieWorld) baselines() (map[string][3]float64, error) {
	all := map[string][3]float64{}
	for c := range movieColumns {
		movie, test, heard := w.Users.Target, w.Users.Test, append(append([]int{}, w.Users.Train...), w.Users.Validation...)
		if c > 0 {
			o := w.Users.Others[c-1]
			movie, test, heard = o.Movie, o.Test, o.Stream
		}
		models, err := w.baselinesOf(movie, test, heard)
		if err != nil {
			return nil, err
		}
		for k, name := range baselineNames {
			put(all, name, c, w.judge(models[k], movie, test))
		}
	}
	return all, nil
}

// baselinesOf fits the baselines for one movie, in the order of their names.
func (w *movieWorld) baselinesOf(movie int, test, heard []int) ([]baseline.Model, error) {
	t, c := baseline.NewTable(w.Library.Ratings, movie, test), w.settings.Baselines
	plain, err := baseline.NewNeighbors(t, c.Neighbors)
	if err != nil {
		return nil, err
	}
	c.Neighbors.Similarity.Shrinkage = c.Shrinkage
	shrunk, err := baseline.NewNeighbors(t, c.Neighbors)
	if err != nil {
		return nil, err
	}
	factors := func(k int) baseline.Model {
		return baseline.NewFactors(t, c.Factors[k], random.Stream(w.Seed, "movies factors", w.Number))
	}
	return []baseline.Model{
		baseline.Global(t), baseline.UserMean(t),
		constant(w.meanRating(w.Users.Target, w.Users.Train)), constant(w.meanRating(movie, heard)), baseline.MovieMean(t),
		baseline.UserMeanMovieOffset(t), baseline.NewBias(t, c.Biases),
		plain, plain.WithK(c.More), shrunk,
		factors(0), factors(1),
	}, nil
}

// meanRating returns the mean rating that users gave to a movie.
func (w *movieWorld) meanRating(movie int, users []int) float64 {
	sum := 0.0
	for _, u := range users {
		v, _ := w.Library.Rating(u, movie)
		sum += v
	}
	return sum / float64(len(users))
}

// judge returns the error of a baseline.
func (w *movieWorld) judge(m baseline.Model, movie int, users []int) float64 {
	sum := 0.0
	for _, u := range users {
		v, _ := w.Library.Rating(u, movie)
		e := m.Predict(u, movie) - v
		sum += float64(e * e)
	}
	return math.Sqrt(sum / float64(len(users)))
}
