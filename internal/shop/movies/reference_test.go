package movies

import (
	"encoding/json"
	"io"
	"math"
	"os"
	"testing"

	"github.com/wdgnn/wdgnn/graph"
)

// sharedPath is where the data sets and the numbers of the independent code
// lie, beside the checkout.
const sharedPath = "../../../../shared/"

// open opens a file below sharedPath. At a desk without it the test is
// skipped; in CI that is a failure.
func open(t testing.TB, name string) io.Reader {
	t.Helper()
	f, err := os.Open(sharedPath + name)
	if os.IsNotExist(err) && os.Getenv("CI") != "true" {
		t.Skipf("SKIPPED %s: no %s at %s", t.Name(), name, sharedPath)
	}
	if err != nil {
		t.Fatalf("shared data: %v", err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func must[T any](t testing.TB, v T, err error) T {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func load100k(t testing.TB) *Ratings {
	t.Helper()
	list, err := ReadUData(open(t, "data/ml-100k/u.data"))
	must(t, list, err)
	titles, err := ReadUItem(open(t, "data/ml-100k/u.item"))
	must(t, titles, err)
	r, err := NewRatings(list, titles)
	return must(t, r, err)
}

func load1M(t testing.TB) *Ratings {
	t.Helper()
	list, err := ReadRatingsDat(open(t, "data/ml-1m/ratings.dat"))
	must(t, list, err)
	titles, err := ReadMoviesDat(open(t, "data/ml-1m/movies.dat"))
	must(t, titles, err)
	r, err := NewRatings(list, titles)
	return must(t, r, err)
}

// anchor is one similarity's part of movie_anchor.json.
type anchor struct {
	lambda, sum, leastSquares float64
	nonzeros, firstTest       int
	nearest                   [][2]float64 // id of a movie, similarity to Star Wars
	z                         []float64    // of the first test user
}

// field reads one value of a part of movie_anchor.json.
func field(t *testing.T, part map[string]json.RawMessage, name string, into any) {
	t.Helper()
	if err := json.Unmarshal(part[name], into); err != nil {
		t.Fatalf("movie_anchor.json: %q: %v", name, err)
	}
}

func readAnchor(t *testing.T, file map[string]json.RawMessage, measure Similarity) (a anchor) {
	t.Helper()
	var part map[string]json.RawMessage
	field(t, file, measure.String(), &part)
	field(t, part, "lambda_max", &a.lambda)
	field(t, part, "nonzeros", &a.nonzeros)
	field(t, part, "sum of A", &a.sum)
	field(t, part, "ten nearest of Star Wars (item id, similarity)", &a.nearest)
	field(t, part, "z of first SW test user", &a.z)
	field(t, part, "first SW test user id", &a.firstTest)
	field(t, part, "least squares on z_1..z_5 and 1, test RMSE SW", &a.leastSquares)
	return a
}

const starWars, contact, jedi = "Star Wars (1977)", "Contact (1997)", "Return of the Jedi (1983)"

func titled(t testing.TB, r *Ratings, title string) int {
	t.Helper()
	n, ok := r.FindTitle(title)
	if !ok {
		t.Fatalf("no movie is called %q", title)
	}
	return n
}

// The data side of the experiment without any random number: what independent
// float64 code found for graphs, features and the least squares bound.
// Similarities agree within 1e-12; what goes through the graph, whose weights
// are float32, within 2e-7.
// Reference: Section 6.3.
func TestAnchors(t *testing.T) {
	var file map[string]json.RawMessage
	if err := json.NewDecoder(open(t, "reference/movie_anchor.json")).Decode(&file); err != nil {
		t.Fatal(err)
	}
	var ratings, train, test, graphUsers int
	field(t, file, "ratings in the 400 movies", &ratings)
	field(t, file, "train", &train)
	field(t, file, "test", &test)
	field(t, file, "graph users", &graphUsers)
	all := load100k(t)
	r := all.Select(all.Top(400))
	if r.Count() != ratings {
		t.Errorf("got %d ratings in 400 movies, want %d", r.Count(), ratings)
	}
	target := titled(t, r, starWars)
	split, err := NewSplit(r, target, []int{titled(t, r, contact), titled(t, r, jedi)},
		SplitConfig{Protocol: ProtocolEveryTenth, Stream: 400}, nil)
	must(t, split, err)
	if len(split.Train) != train || len(split.Test) != test || len(split.Graph) != graphUsers {
		t.Errorf("got %d train, %d test, %d for the graph, want %d, %d, %d",
			len(split.Train), len(split.Test), len(split.Graph), train, test, graphUsers)
	}
	for _, o := range split.Others {
		if len(o.Stream) != 400 || len(o.Test) != 50 {
			t.Errorf("%s: got a stream of %d and %d test users, want 400 and 50", r.Title(o.Movie), len(o.Stream), len(o.Test))
		}
	}
	for _, measure := range []Similarity{SimilarityLibvar, SimilarityHuang, SimilarityPearson} {
		t.Run(measure.String(), func(t *testing.T) { checkAnchor(t, r, split, measure, readAnchor(t, file, measure)) })
	}
}

func checkAnchor(t *testing.T, r *Ratings, split *Split, measure Similarity, want anchor) {
	c := DefaultGraph()
	c.Similarity.Measure = measure
	rows, err := Similarities(r, split.Graph, c.Similarity)
	must(t, rows, err)
	for _, pair := range want.nearest {
		n, _ := r.FindMovie(int(pair[0]))
		if got := rows[split.Target][n]; math.Abs(got-pair[1]) > 1e-12 {
			t.Errorf("similarity of Star Wars and movie %v: got %.17g, want %.17g", pair[0], got, pair[1])
		}
	}
	g, err := NewGraph(r, split.Graph, c)
	must(t, g, err)
	a := g.Adjacency()
	sum := 0.0
	for _, v := range a.Val {
		sum += float64(v)
	}
	if a.NNZ() != want.nonzeros || math.Abs(sum/want.sum-1) > 2e-7 {
		t.Errorf("got %d weights with sum %.10g, want %d with %.10g", a.NNZ(), sum, want.nonzeros, want.sum)
	}
	if got := graph.LargestEigenvalue(a); math.Abs(got/want.lambda-1) > 2e-7 {
		t.Errorf("got λmax %.12g, want %.12g", got, want.lambda)
	}
	s, err := graph.ShiftSpectral.Of(g)
	must(t, s, err)
	p := NewPowers(s, split.Target, 5)
	test, err := p.Samples(r, split.Test, SignalRaw, 0)
	must(t, test, err)
	if got := r.UserID(test.Users[0]); got != want.firstTest {
		t.Errorf("got %d as the first test user, want %d", got, want.firstTest)
	}
	for k, z := range want.z {
		if got := test.Features[k]; math.Abs(got-z) > 2e-7 {
			t.Errorf("z_%d of the first test user: got %.10g, want %.10g", k, got, z)
		}
	}
	train, err := p.Samples(r, split.Train, SignalRaw, 0)
	must(t, train, err)
	if got := leastSquares(train, test); math.Abs(got-want.leastSquares) > 1e-6 {
		t.Errorf("least squares: got RMSE %.10g, want %.10g", got, want.leastSquares)
	}
}

// leastSquares fits the ratings of train by z_1 … z_5 and a constant, and
// returns the RMSE on test.
func leastSquares(train, test *Samples) float64 {
	const n = 6
	row := func(s *Samples, i int) [n]float64 {
		var x [n]float64
		copy(x[:], s.Features[i*n+1:(i+1)*n])
		x[n-1] = 1
		return x
	}
	var m [n][n + 1]float64 // normal equations
	for i, y := range train.Ratings {
		x := row(train, i)
		for a := range n {
			for b := range n {
				m[a][b] += x[a] * x[b]
			}
			m[a][n] += x[a] * y
		}
	}
	for p := range n { // Gauss-Jordan; the matrix is positive definite
		for a := range n {
			if a == p {
				continue
			}
			f := m[a][p] / m[p][p]
			for b := p; b <= n; b++ {
				m[a][b] -= f * m[p][b]
			}
		}
	}
	sum := 0.0
	for i, y := range test.Ratings {
		x, e := row(test, i), -y
		for a := range n {
			e += x[a] * m[a][n] / m[a][a]
		}
		sum += e * e
	}
	return math.Sqrt(sum / float64(len(test.Ratings)))
}

// What the report says about MovieLens 100k, and what 1M is known to hold.
func TestDataSets(t *testing.T) {
	r := load100k(t)
	if r.Users() != 943 || r.Movies() != 1682 || r.Count() != 100_000 {
		t.Errorf("got %d users, %d movies, %d ratings, want 943, 1682, 100000", r.Users(), r.Movies(), r.Count())
	}
	for title, want := range map[string]struct {
		raters   int
		mean, sd float64
	}{starWars: {583, 4.358, .881}, contact: {509, 3.804, .993}, jedi: {507, 4.008, .923}} {
		_, rating := r.Movie(titled(t, r, title))
		mean, squares := 0.0, 0.0
		for _, v := range rating {
			mean += v / float64(len(rating))
		}
		for _, v := range rating {
			squares += (v - mean) * (v - mean)
		}
		sd := math.Sqrt(squares / float64(len(rating)))
		if len(rating) != want.raters || math.Abs(mean-want.mean) > 6e-4 || math.Abs(sd-want.sd) > 1.5e-3 {
			t.Errorf("%s: got %d raters, mean %.4f, sd %.4f, want %v", title, len(rating), mean, sd, want)
		}
	}
	top := r.Top(401)
	for at, want := range map[int]int{0: 583, 399: 84, 400: 83} {
		if users, _ := r.Movie(top[at]); len(users) != want {
			t.Errorf("movie at rank %d: got %d ratings, want %d", at, len(users), want)
		}
	}
	if n, ok := r.FindMovie(543); !ok || r.Title(n) != "Misérables, Les (1995)" {
		t.Errorf("got title %q, want Misérables, Les (1995)", r.Title(n))
	}
	big := load1M(t)
	if big.Users() != 6040 || big.Movies() != 3706 || big.Count() != 1_000_209 {
		t.Errorf("got %d users, %d movies, %d ratings, want 6040, 3706, 1000209", big.Users(), big.Movies(), big.Count())
	}
}
