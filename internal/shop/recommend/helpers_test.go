package recommend

import (
	"context"
	"math"
	"os"
	"sync"
	"testing"

	"github.com/wdgnn/wdgnn/internal/journal"
	"github.com/wdgnn/wdgnn/internal/shop/dataset"
	"github.com/wdgnn/wdgnn/internal/shop/movies"
	"github.com/wdgnn/wdgnn/random"
)

// generated returns ratings of users who like one of two kinds of movies, with
// noise: user ids 1, 2, …, movie ids 10, 20, ….
func generated(users, count int, seed uint64) *movies.Ratings {
	rng := random.Stream(seed, "ratings")
	var list []movies.Rating
	for u := range users {
		taste, mood := rng.IntN(2), rng.NormFloat64()*0.4
		for n := range count {
			if rng.IntN(3) > 0 && n > 10 || rng.IntN(3) == 0 { // the first are rated most
				continue
			}
			r := 3 + mood + 0.5*math.Sin(float64(n)) + rng.NormFloat64()*0.5
			if n%2 == taste {
				r++
			} else {
				r--
			}
			list = append(list, movies.Rating{User: u + 1, Item: 10 * (n + 1), Value: min(5, max(1, math.Round(2*r)/2))})
		}
	}
	r, err := movies.NewRatings(list, map[int]string{10: "The First (2001)"})
	if err != nil {
		panic(err)
	}
	return r
}

var small = sync.OnceValues(func() (*movies.Ratings, *Model) {
	all := generated(120, 40, 1)
	m, err := Train(context.Background(), all, smallSetting(), TrainConfig{Epochs: 10, BatchSize: 64})
	if err != nil {
		panic(err)
	}
	return all, m
})

func smallSetting() Setting {
	s := DefaultSetting()
	s.Movies, s.Neighbors, s.Features, s.Order, s.Similarity.Shrinkage = 30, 5, 16, 3, 5
	return s
}

// learning is a configuration that learns by plain steps.
func learning() Config { return Config{Rule: Paper(0.01)} }

// service opens one on the small model. It is closed at the end of the test.
func service(t testing.TB, d journal.Disk, c Config) *Service {
	t.Helper()
	all, m := small()
	s, err := Open(m, all, d, c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func rate(t testing.TB, s *Service, user, movie int, rating float64) Rated {
	t.Helper()
	r, err := s.Rate(context.Background(), user, movie, rating)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func predict(t testing.TB, s *Service, user, movie int) float64 {
	t.Helper()
	p, err := s.Predict(user, []int{movie})
	if err != nil {
		t.Fatal(err)
	}
	return p.List[0].Rating
}

// movieLens returns MovieLens 100k and a model of it, which is trained once.
func movieLens(t testing.TB) (*movies.Ratings, *Model) {
	t.Helper()
	if testing.Short() {
		t.Skipf("SKIPPED %s: it trains a model of MovieLens 100k; it runs without -short", t.Name())
	}
	if movieLensModel == nil {
		all := load(t, "data/ml-100k")
		m, err := Train(context.Background(), all, DefaultSetting(), TrainConfig{Epochs: 10})
		if err != nil {
			t.Fatal(err)
		}
		movieLensRatings, movieLensModel = all, m
	}
	return movieLensRatings, movieLensModel
}

// What movieLens returns, from the first call on.
var (
	movieLensRatings *movies.Ratings
	movieLensModel   *Model
)

// sharedPath is where the data sets lie, beside the checkout.
const sharedPath = "../../../../shared/"

// load reads a data set below sharedPath. At a desk without it the test is
// skipped; in CI that is a failure.
func load(t testing.TB, name string) *movies.Ratings {
	t.Helper()
	if _, err := os.Stat(sharedPath + name); os.IsNotExist(err) && os.Getenv("CI") != "true" {
		t.Skipf("SKIPPED %s: no %s at %s", t.Name(), name, sharedPath)
	}
	all, err := dataset.Load(sharedPath + name)
	if err != nil {
		t.Fatalf("shared data: %v", err)
	}
	return all
}
