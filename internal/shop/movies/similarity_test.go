package movies

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/graph"
)

// draw returns a table in which every user rates a random part of the movies
// with one of the given values.
func draw(t testing.TB, users, movies int, density float64, values []float64, rng *rand.Rand) *Ratings {
	t.Helper()
	var list []Rating
	for u := range users {
		for n := range movies {
			if rng.Float64() < density {
				list = append(list, Rating{User: 10 + 3*u, Item: 7 + 2*n, Value: values[rng.IntN(len(values))]})
			}
		}
	}
	r, err := NewRatings(list, nil)
	return must(t, r, err)
}

var (
	stars     = []float64{1, 2, 3, 4, 5}
	halfStars = []float64{.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5}
	odd       = []float64{1.1, 2.7, 3.14159, 4.9, 97.3}
)

// bruteForce is the definition of the measures, one pair at a time.
func bruteForce(r *Ratings, users []int, c SimilarityConfig, u, v int) float64 {
	var allU, allV, coU, coV []float64
	for _, w := range users {
		a, hasU := r.Rating(w, u)
		b, hasV := r.Rating(w, v)
		if hasU {
			allU = append(allU, a)
		}
		if hasV {
			allV = append(allV, b)
		}
		if hasU && hasV {
			coU, coV = append(coU, a), append(coV, b)
		}
	}
	covariance := func(x, y []float64) float64 {
		meanX, meanY, sum := 0.0, 0.0, 0.0
		for i := range x {
			meanX += x[i] / float64(len(x))
			meanY += y[i] / float64(len(x))
		}
		for i := range x {
			sum += (x[i] - meanX) * (y[i] - meanY) / float64(len(x))
		}
		return sum
	}
	var over, under float64
	switch c.Measure {
	case SimilarityLibvar:
		over, under = covariance(coU, coU)+covariance(coV, coV), 2*math.Sqrt(covariance(allU, allU)*covariance(allV, allV))
	case SimilarityHuang:
		over, under = covariance(coU, coV), math.Sqrt(covariance(allU, allU)*covariance(allV, allV))
	case SimilarityPearson:
		over, under = covariance(coU, coV), math.Sqrt(covariance(coU, coU)*covariance(coV, coV))
	}
	if len(coU) == 0 || under < 1e-12 {
		return 0
	}
	n := float64(len(coU))
	return over / under * n / (n + c.Shrinkage)
}

// Both ways of counting, packed integers and floats, against the definition.
func TestSimilaritiesAgainstBruteForce(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for kind, values := range map[string][]float64{"stars": stars, "half stars": halfStars, "odd": odd, "equal": {3}} {
		for _, density := range []float64{.02, .3, .9} {
			r := draw(t, 60, 25, density, values, rng)
			var some []int
			for u := range r.Users() {
				if u%4 != 1 {
					some = append(some, u)
				}
			}
			for measure := range similarityNames {
				for _, shrinkage := range []float64{0, 30} {
					c := SimilarityConfig{Similarity(measure), shrinkage}
					rows, err := Similarities(r, some, c)
					must(t, rows, err)
					for u := range rows {
						if rows[u][u] != 0 {
							t.Errorf("%s: similarity of movie %d to itself is %v, want 0", kind, u, rows[u][u])
						}
						for v := range rows {
							if u != v && math.Abs(rows[u][v]-bruteForce(r, some, c, u, v)) > 1e-11 {
								t.Fatalf("%s, density %v, %v of movies %d and %d: got %v, want %v",
									kind, density, c, u, v, rows[u][v], bruteForce(r, some, c, u, v))
							}
						}
					}
				}
			}
		}
	}
}

// Ratings that fit the packed counters give the same graph without them.
func TestPackedAgainstPlain(t *testing.T) {
	r := draw(t, 200, 40, .4, stars, rand.New(rand.NewPCG(3, 4)))
	loose := *r
	loose.codes = codes{}
	for measure := range similarityNames {
		c := SimilarityConfig{Measure: Similarity(measure)}
		a, err := Similarities(r, nil, c)
		must(t, a, err)
		b, err := Similarities(&loose, nil, c)
		must(t, b, err)
		for u := range a {
			for v := range a {
				if math.Abs(a[u][v]-b[u][v]) > 1e-12 {
					t.Fatalf("%v of %d and %d: packed %v, plain %v", c.Measure, u, v, a[u][v], b[u][v])
				}
			}
		}
	}
	if _, ok := newPacked(newView(r, nil), SimilarityHuang); !ok {
		t.Error("stars are not counted packed")
	}
}

// Where sums might outgrow their fields the packed counter steps back, and
// where they just fit it is exact.
func TestPackedFields(t *testing.T) {
	for _, c := range []struct {
		raters, level int
		fits          bool
	}{{3000, 2, true}, {20_000, 2, true}, {500, 60, true}, {20_000, 60, false}, {300, 100, false}} {
		var list []Rating
		for u := range c.raters {
			list = append(list,
				Rating{User: u, Item: 1, Value: float64(1 + (c.level-1)*(u%2))},
				Rating{User: u, Item: 2, Value: float64(c.level - u%3/2)})
		}
		r, err := NewRatings(list, nil)
		must(t, r, err)
		for measure := range similarityNames {
			s := SimilarityConfig{Measure: Similarity(measure)}
			if _, fits := newPacked(newView(r, nil), s.Measure); fits != c.fits {
				t.Errorf("%d raters, ratings to %d: packed is %v, want %v", c.raters, c.level, fits, c.fits)
			}
			rows, err := Similarities(r, nil, s)
			must(t, rows, err)
			if want := bruteForce(r, without(r.Users(), nil), s, 0, 1); math.Abs(rows[0][1]-want) > 1e-9 {
				t.Errorf("%d raters, ratings to %d, %v: got %v, want %v", c.raters, c.level, s.Measure, rows[0][1], want)
			}
		}
	}
}

// byHand returns (A + Aᵀ)/2 for the A that keeps the k largest positive values of
// every row beside the diagonal, of equal ones those of lower columns.
func byHand(t *testing.T, rows [][]float64, k int) *graph.Graph {
	t.Helper()
	n := len(rows)
	a := make([][]float64, n)
	for i, row := range rows {
		var others []int
		for j := range row {
			if j != i && row[j] > 0 {
				others = append(others, j)
			}
		}
		slices.SortStableFunc(others, func(p, q int) int { return cmp.Compare(row[q], row[p]) })
		a[i] = make([]float64, n)
		for _, j := range others[:min(k, len(others))] {
			a[i][j] = row[j]
		}
	}
	var edges []graph.Edge
	for i := range n {
		for j := range i {
			if w := a[i][j]/2 + a[j][i]/2; w > 0 {
				edges = append(edges, graph.Edge{From: i, To: j, Weight: w})
			}
		}
	}
	g, err := graph.FromEdges(n, edges, false)
	return must(t, g, err)
}

// The search row by row, in one thread and in several, agrees with sorting the
// rows of the whole matrix, ties included.
func TestGraphAgainstSorting(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, movies := range []int{1, 2, 7, 30} {
		for _, k := range []int{1, 3, 10, 100} {
			r := draw(t, 40, movies, .5, stars, rng)
			for measure := range similarityNames {
				c := GraphConfig{Similarity: SimilarityConfig{Measure: Similarity(measure)}, Neighbors: k}
				rows, err := Similarities(r, nil, c.Similarity)
				must(t, rows, err)
				want := byHand(t, rows, k)
				got, err := NewGraph(r, nil, c)
				must(t, got, err)
				c.Threads = 3
				threaded, err := NewGraph(r, nil, c)
				must(t, threaded, err)
				if !got.Adjacency().Equal(want.Adjacency()) || !threaded.Adjacency().Equal(want.Adjacency()) {
					t.Errorf("%d movies, %v, k = %d: the graphs differ: got %v and with threads %v, want %v",
						movies, c.Similarity.Measure, k, got, threaded, want)
				}
			}
		}
	}
}

// A table without movies or users is not a reason to panic.
func TestEmptyGraph(t *testing.T) {
	r, err := NewRatings(nil, nil)
	must(t, r, err)
	g, err := NewGraph(r, nil, DefaultGraph())
	if must(t, g, err).Nodes() != 0 {
		t.Errorf("got %v, want no nodes", g)
	}
}

func TestConfigs(t *testing.T) {
	bad := GraphConfig{Similarity: SimilarityConfig{Measure: 9, Shrinkage: math.NaN()}, Threads: -1}
	err := bad.Validate()
	for _, want := range []string{"similarity has number 9", "shrinkage is NaN", "neighbors is 0", "threads is -1"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want word of %q", err, want)
		}
	}
	split := SplitConfig{Protocol: 7, Test: 1, Validation: -1, Stream: -1}
	err = split.Validate()
	for _, want := range []string{"protocol", "test is 1", "validation is -1", "stream is -1"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want word of %q", err, want)
		}
	}
	type both struct {
		Graph  GraphConfig
		Split  SplitConfig
		Signal Signal
	}
	was := both{DefaultGraph(), DefaultSplit(), SignalCentered}
	was.Graph.Similarity.Measure, was.Split.Protocol = SimilarityPearson, ProtocolByUser
	text, err := json.Marshal(was)
	must(t, text, err)
	var is both
	if err := json.Unmarshal(text, &is); err != nil || is != was {
		t.Errorf("%s came back as %+v, want %+v: %v", text, is, was, err)
	}
	for _, word := range []string{"pearson", "by-user", "centered"} {
		if !strings.Contains(string(text), word) {
			t.Errorf("%s does not say %q", text, word)
		}
	}
	for _, err := range []error{
		new(Similarity).UnmarshalText([]byte("x")), new(Signal).UnmarshalText([]byte("x")),
		new(Protocol).UnmarshalText([]byte("x")),
	} {
		if err == nil || !strings.Contains(err.Error(), "try ") {
			t.Errorf("got %v, want an error with names to try", err)
		}
	}
	if got := fmt.Sprint(Similarity(9), Signal(9), Protocol(9)); got != "Similarity(9) Signal(9) Protocol(9)" {
		t.Errorf("got %s", got)
	}
}
