package baseline

import (
	"fmt"
	"math"
	"testing"

	"github.com/wdgnn/wdgnn/internal/shop/movies"
	"github.com/wdgnn/wdgnn/random"
)

// grid returns the table of ratings[u][n], 0 for none. Users and movies are in
// the order of the rows and columns.
func grid(t *testing.T, ratings [][]float64) *movies.Ratings {
	t.Helper()
	var list []movies.Rating
	for u, row := range ratings {
		for n, v := range row {
			if v > 0 {
				list = append(list, movies.Rating{User: u + 1, Item: n + 1, Value: v})
			}
		}
	}
	r, err := movies.NewRatings(list, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

var small = [][]float64{
	{5, 4, 0, 1},
	{4, 0, 2, 1},
	{1, 2, 5, 0},
	{3, 3, 4, 5},
}

func check(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 1e-12) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// Means by hand. User 0's rating of movie 0, a 5, is hidden.
func TestMeans(t *testing.T) {
	tb := NewTable(grid(t, small), 0, []int{0})
	if tb.count != 12 || tb.users() != 4 || tb.movies() != 4 {
		t.Errorf("got %d ratings of %d users and %d movies, want 12, 4, 4", tb.count, tb.users(), tb.movies())
	}
	total := 4.0 + 1 + 4 + 2 + 1 + 1 + 2 + 5 + 3 + 3 + 4 + 5
	check(t, "mean", tb.mean, total/12)
	check(t, "global", Global(tb).Predict(0, 0), total/12)
	check(t, "user", UserMean(tb).Predict(0, 0), 2.5)
	check(t, "user, own rating left out", UserMean(tb).Predict(1, 0), 1.5)
	check(t, "movie", MovieMean(tb).Predict(0, 0), 8.0/3)
	offset := ((4 - 1.5) + (1 - 3.5) + (3 - 4.0)) / 3
	check(t, "user and offset", UserMeanMovieOffset(tb).Predict(0, 0), 2.5+offset)
}

// A rating that is asked for has no influence, as long as it is hidden.
func TestHiddenRatingsAreNotSeen(t *testing.T) {
	other := [][]float64{{1, 4, 0, 1}, small[1], small[2], small[3]}
	a, b := NewTable(grid(t, small), 0, []int{0}), NewTable(grid(t, other), 0, []int{0})
	for name, fit := range models() {
		x, y := fit(t, a), fit(t, b)
		if got, want := x.Predict(0, 0), y.Predict(0, 0); got != want {
			t.Errorf("%s: %v with a hidden 5, %v with a hidden 1", name, got, want)
		}
	}
}

// models lists every baseline.
func models() map[string]func(*testing.T, *Table) Model {
	list := map[string]func(*testing.T, *Table) Model{
		"global": func(_ *testing.T, tb *Table) Model { return Global(tb) },
		"user":   func(_ *testing.T, tb *Table) Model { return UserMean(tb) },
		"movie":  func(_ *testing.T, tb *Table) Model { return MovieMean(tb) },
		"offset": func(_ *testing.T, tb *Table) Model { return UserMeanMovieOffset(tb) },
		"biases": func(_ *testing.T, tb *Table) Model { return NewBias(tb, BiasesConfig{Ridge: 1}) },
		"factors": func(_ *testing.T, tb *Table) Model {
			return NewFactors(tb, FactorsConfig{Factors: 2, Ridge: 1}, random.Stream(1, "factors"))
		},
	}
	for _, shrinkage := range []float64{0, 30} {
		list[fmt.Sprintf("neighbours, shrinkage %v", shrinkage)] = func(t *testing.T, tb *Table) Model {
			m, err := NewNeighbors(tb, NeighborsConfig{
				K: 2, Similarity: movies.SimilarityConfig{Measure: movies.SimilarityPearson, Shrinkage: shrinkage},
			})
			if err != nil {
				t.Fatal(err)
			}
			return m
		}
	}
	return list
}

// Ratings that are a sum of a user's and a movie's part are found exactly, the
// hidden ones too.
func TestBiasesOfASum(t *testing.T) {
	r := make([][]float64, 12)
	for u := range r {
		for n := range 8 {
			r[u] = append(r[u], 10+float64(u%4)+0.5*float64(n))
		}
	}
	tb := NewTable(grid(t, r), 3, []int{0, 5})
	b := NewBias(tb, BiasesConfig{Sweeps: 200})
	for _, u := range []int{0, 5, 7} {
		if got, want := b.Predict(u, 3), r[u][3]; math.Abs(got-want) > 1e-9 {
			t.Errorf("user %d: got %v, want %v", u, got, want)
		}
	}
}

// At the minimum of the biases' cost no coordinate can improve it.
func TestBiasesAreAMinimum(t *testing.T) {
	const ridge = 2.0
	tb := NewTable(grid(t, small), 1, []int{3})
	b := NewBias(tb, BiasesConfig{Ridge: ridge, Sweeps: 500})
	cost := func() float64 {
		j := 0.0
		for u, l := range tb.byUser {
			for e, n := range l.other {
				d := l.value[e] - b.Predict(u, int(n))
				j += d * d
			}
			j += ridge * b.user[u] * b.user[u]
		}
		for _, v := range b.movie {
			j += ridge * v * v
		}
		return j
	}
	least := cost()
	for _, side := range [][]float64{b.user, b.movie} {
		for i := range side {
			for _, h := range []float64{-1e-3, 1e-3} {
				side[i] += h
				if got := cost(); got < least {
					t.Errorf("coordinate %d: moving by %v lowers the cost from %v to %v", i, h, least, got)
				}
				side[i] -= h
			}
		}
	}
}

// Neighbours by hand: movie 0's similarities are given, two movies count.
func TestNeighborsByHand(t *testing.T) {
	tb := NewTable(grid(t, small), 0, []int{0})
	m := &Neighbors{t: tb, k: 2, center: MovieMean(tb).(*means), alike: [][]float64{{0, 0.8, 0.9, 0.4}, nil, nil, nil}}
	// User 0 rated movie 1 (mean 3) with 4 and movie 3 (mean 7/3) with 1; movie 2 is not rated.
	check(t, "two", m.Predict(0, 0), 8.0/3+(0.8*(4-3)+0.4*(1-7.0/3))/1.2)
	check(t, "one", m.WithK(1).Predict(0, 0), 8.0/3+1)
	m.alike[0] = []float64{0, -0.5, 0.9, 0}
	check(t, "none is alike", m.Predict(0, 0), 8.0/3)
	if _, err := NewNeighbors(tb, NeighborsConfig{K: 2, Similarity: movies.SimilarityConfig{Shrinkage: -1}}); err == nil {
		t.Error("a negative shrinkage was accepted")
	}
}

// The solver of a side against its definition: the gradient is 0.
func TestRidgeSolves(t *testing.T) {
	const n, lambda = 5, 0.7
	rng := random.Stream(2, "ridge")
	fixed := make([]float64, 13*n)
	for i := range fixed {
		fixed[i] = rng.NormFloat64()
	}
	for _, count := range []int{0, 1, 3, 4, 7, 13} {
		l := list{}
		for j := range count {
			l.other, l.value = append(l.other, int32(j)), append(l.value, rng.NormFloat64())
		}
		p := []float64{9, 9, 9, 9, 9}
		newRidge(n, lambda).side(p, fixed, []list{l})
		for a := range n {
			g := lambda * p[a]
			for e, j := range l.other {
				q := fixed[int(j)*n : (int(j)+1)*n]
				d := -l.value[e]
				for b := range n {
					d += q[b] * p[b]
				}
				g += d * q[a]
			}
			if math.Abs(g) > 1e-12 {
				t.Errorf("%d equations, coordinate %d: gradient %v, want 0", count, a, g)
			}
		}
	}
}

// Hidden ratings of a table of rank two are recovered far better than by biases.
func TestFactorsRecover(t *testing.T) {
	rng := random.Stream(3, "taste")
	const users, films = 60, 30
	var taste [users + films][2]float64
	for i := range taste {
		taste[i] = [2]float64{rng.NormFloat64(), rng.NormFloat64()}
	}
	r := make([][]float64, users)
	for u := range r {
		for n := range films {
			a, b := taste[u], taste[users+n]
			r[u] = append(r[u], 10+a[0]*b[0]+a[1]*b[1])
		}
	}
	hidden := []int{1, 4, 9, 16, 25, 36, 49}
	tb := NewTable(grid(t, r), 2, hidden)
	score := func(m Model) float64 {
		sum := 0.0
		for _, u := range hidden {
			d := m.Predict(u, 2) - r[u][2]
			sum += d * d
		}
		return math.Sqrt(sum / float64(len(hidden)))
	}
	factors := score(NewFactors(tb, FactorsConfig{Factors: 2, Ridge: 1}, random.Stream(1, "factors")))
	biases := score(NewBias(tb, BiasesConfig{}))
	if factors > 0.15*biases {
		t.Errorf("error %v of factors, %v of biases: want factors far better on ratings of rank two", factors, biases)
	}
}

func ExampleNewFactors() {
	var list []movies.Rating
	for user := range 200 {
		for item := range 20 {
			if likes := (user+item)%2 == 0; likes {
				list = append(list, movies.Rating{User: user, Item: item, Value: 5})
			} else {
				list = append(list, movies.Rating{User: user, Item: item, Value: 1})
			}
		}
	}
	r, err := movies.NewRatings(list, nil)
	if err != nil {
		panic(err)
	}
	t := NewTable(r, 0, []int{0, 1}) // users 0 and 1 did not say what they think of movie 0
	m := NewFactors(t, FactorsConfig{Factors: 1, Ridge: 1}, random.Stream(1, "example"))
	fmt.Printf("%.1f %.1f\n", m.Predict(0, 0), m.Predict(1, 0))
	// Output: 4.9 1.1
}
