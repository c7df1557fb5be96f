package movies

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/paper/reproduce/study"
	"github.com/wdgnn/wdgnn/internal/paper/reproduce/study/studytest"
	"github.com/wdgnn/wdgnn/internal/recipe"
	"github.com/wdgnn/wdgnn/internal/shop/dataset"
	"github.com/wdgnn/wdgnn/internal/shop/movierecipe"
	"github.com/wdgnn/wdgnn/internal/shop/movies"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/train"
)

// toyWorld is a split of the made-up ratings.
func toyWorld(t testing.TB, m movieSetting) (*movieWorld, *movierecipe.MovieExamples) {
	t.Helper()
	l, all, err := openLibrary(studytest.Ratings(t), "ml-100k", 400)
	if err != nil {
		t.Fatal(err)
	}
	s := settingsFrom(study.Options{Seed: 2}, all)
	w, err := newMovieWorld(&s, m, l, 0)
	if err != nil {
		t.Fatal(err)
	}
	e, err := w.Examples()
	if err != nil {
		t.Fatal(err)
	}
	return w, e
}

// A model sees a user through K+1 numbers alone: its output on them is its
// output at the node of the movie when the whole graph is computed, on the
// movie it was trained on and on others.
// Reference: Section 6.3.
func TestRowsMatchTheGraph(t *testing.T) {
	for _, m := range []movieSetting{libvarSetting, centeredSetting} {
		w, e := toyWorld(t, m)
		n := w.Similar.Nodes()
		values, signal, z, y := make([]float64, n), mat.NewDense(n, 1, nil), mat.NewDense(n, w.Order+1, nil), mat.NewDense(n, 1, nil)
		var (
			shifter gnn.Shifter
			tape    gnn.Tape
			f       movierecipe.MovieReader
		)
		for _, k := range movieKinds {
			model, err := w.Fit(context.Background(), k, e)
			if err != nil {
				t.Fatal(err)
			}
			for _, rows := range e.Test {
				short := f.Read(model, rows)
				for i, u := range rows.Users {
					rated, rating := w.Library.User(u)
					w.Signal.Fill(values, rated, rating, rows.Movie, w.Unknown)
					for j, v := range values {
						signal.Data[j] = float32(v)
					}
					shifter.Shift(z, w.Operator, signal)
					model.Forward(y, &gnn.Input{Shift: w.Operator, Shifted: z}, &tape)
					if got, want := short.At(i, 0), y.At(rows.Movie, 0); math.Abs(float64(got-want)) > 1e-5 {
						t.Fatalf("%s, %s, user %d: %v from %d numbers, want %v as on the graph", m.ID, k, u, got, w.Order+1, want)
					}
				}
			}
		}
	}
}

// Online learning on rows is online.Centralized on the graph: the same update,
// fed with the K+1 numbers.
// Reference: Section 3, eq. (7).
func TestRowsLearnAsTheGraphDoes(t *testing.T) {
	w, e := toyWorld(t, libvarSetting)
	m, err := w.Fit(context.Background(), recipe.WideDeep, e)
	if err != nil {
		t.Fatal(err)
	}
	rows, n := e.Stream[1], w.Similar.Nodes()
	short, err := newCentral(m, movieRule(w.Gamma), nil)
	if err != nil {
		t.Fatal(err)
	}
	observer, err := online.NewObserver(m, online.Config{Nodes: n, Read: []int{rows.Movie}})
	if err != nil {
		t.Fatal(err)
	}
	whole, err := online.NewCentralized(observer, movieRule(w.Gamma))
	if err != nil {
		t.Fatal(err)
	}
	signal, y, target, mask := mat.NewDense(n, 1, nil), mat.NewDense(n, 1, nil), mat.NewDense(n, 1, nil), make([]bool, n)
	values, got := make([]float64, n), mat.NewDense(1, 1, nil)
	mask[rows.Movie] = true
	for i, u := range rows.Users {
		rated, rating := w.Library.User(u)
		w.Signal.Fill(values, rated, rating, rows.Movie, 0)
		for j, v := range values {
			signal.Data[j] = float32(v)
		}
		if err := whole.Observe(graph.Sample{Time: i, Shift: w.Operator, Signal: signal}); err != nil {
			t.Fatal(err)
		}
		if err := whole.Predict(y); err != nil {
			t.Fatal(err)
		}
		target.Data[rows.Movie] = rows.Rating.At(i, 0)
		short.predict(got, rows.One(i))
		if a, b := got.At(0, 0), y.At(rows.Movie, 0); math.Abs(float64(a-b)) > 1e-5 {
			t.Fatalf("rating %d: %v on rows, want %v as on the graph", i, a, b)
		}
		if err := errors.Join(whole.Update(loss.MSE{Target: target, Mask: mask}), short.learn(rows.One(i))); err != nil {
			t.Fatal(err)
		}
	}
}

// The graph filter with 64 features and a readout is linear in z_1 … z_K and a
// constant. No training brings its squared error below that of least squares,
// and training on squared errors comes close.
// Reference: Section 6.3.
func TestFilterAboveLeastSquares(t *testing.T) {
	w, e := toyWorld(t, libvarSetting)
	bound := leastSquares(e.Train)
	targets, err := train.NewTargets(loss.MSE{}, e.Train.Rating, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, criterion := range []string{"smooth-L1", "MSE"} {
		m, err := gnn.NewRandom(w.Architecture(recipe.Filter), random.Stream(4, "bound"))
		if err != nil {
			t.Fatal(err)
		}
		job, err := w.Job(m, e)
		if err != nil {
			t.Fatal(err)
		}
		job.Score = nil
		job.Config.Epochs = 200
		if criterion == "MSE" {
			if job.Train, err = train.NewExamples(m, e.Train.Z, targets); err != nil {
				t.Fatal(err)
			}
			job.Config.Epochs, job.Config.Adam.StepSize, job.Config.BatchSize = 3000, 1e-3, len(e.Train.Users)
		}
		var f movierecipe.MovieReader
		least := math.Inf(1)
		job.OnEpoch = func(train.Epoch) error {
			v := movierecipe.RMSE(f.Read(m, e.Train), e.Train.Rating)
			least = min(least, float64(v*v))
			return nil
		}
		if _, err := train.Run(context.Background(), m, job); err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: least squared error %.6f, bound %.6f", criterion, least, bound)
		if least < bound-1e-6 {
			t.Errorf("%s: squared error %.8f in training, below least squares %.8f", criterion, least, bound)
		}
		if criterion == "MSE" && least > 1.02*bound {
			t.Errorf("%s: squared error %.6f in training, want within 2 %% of least squares %.6f", criterion, least, bound)
		}
	}
}

// leastSquares returns the least mean squared error of linear functions of z_1
// … z_K and a constant, by Gram-Schmidt in float64.
func leastSquares(r movierecipe.MovieRows) float64 {
	n := r.Z.Rows
	rest := make([]float64, n)
	var columns [][]float64
	for k := range r.Z.Cols {
		c := make([]float64, n)
		for i := range c {
			c[i] = float64(r.Z.At(i, k))
			if k == 0 { // z_0 is always 0: the constant takes its place
				c[i] = 1
			}
		}
		columns = append(columns, c)
	}
	for i := range rest {
		rest[i] = float64(r.Rating.At(i, 0))
	}
	dot := func(a, b []float64) (v float64) {
		for i := range a {
			v += a[i] * b[i]
		}
		return v
	}
	remove := func(from, c []float64) {
		f := dot(from, c) / dot(c, c)
		for i := range from {
			from[i] -= f * c[i]
		}
	}
	for k, c := range columns {
		for range 2 { // twice, for the rounding of the first time
			for _, before := range columns[:k] {
				remove(c, before)
			}
		}
		remove(rest, c)
	}
	return dot(rest, rest) / float64(n)
}

// With labels at one node and mixing switched off, distributed learning is
// centralized learning; with Metropolis weights it moves less.
// Reference: Section 3, eq. (9).
func TestNetworkLearner(t *testing.T) {
	w, e := toyWorld(t, libvarSetting)
	m, err := w.Fit(context.Background(), recipe.Filter, e)
	if err != nil {
		t.Fatal(err)
	}
	rows := e.Stream[2]
	central, err := newCentral(m, movieRule(w.Gamma), nil)
	if err != nil {
		t.Fatal(err)
	}
	network, err := w.newNetwork(m, rows.Movie, movieRule(w.Gamma))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // twice along the stream
		for _, l := range []adaptive{central, network} {
			if _, err := along(l, rows, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	far := network.learner.Basis().Distance(central.node.Params(), nil)
	if d := network.learner.Drift(); d.Steps != 2*len(rows.Users) || !(d.Moved > 0 && d.Moved < far) {
		t.Errorf("nodes moved by %v in %d steps, want more than 0 and less than the %v of centralized learning in %d",
			d.Moved, d.Steps, far, 2*len(rows.Users))
	}
}

// A run without data says where it looked and what to do.
func TestMissingRatings(t *testing.T) {
	t.Chdir(t.TempDir())
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	empty := t.TempDir()
	for _, c := range []struct {
		experiment      study.Experiment
		data            string
		where, whatToDo string
	}{
		{
			Table4, "", filepath.Join(here, "data", "ml-100k"),
			"wdgnn data get movielens-100k --out data/ml-100k, or name the folder that holds them with --data",
		},
		{Million, "", filepath.Join(here, "data", "ml-1m"), "wdgnn data get movielens-1m --out data/ml-1m, or name"},
		{Table4, empty, empty, "wdgnn data get movielens-100k --out " + empty},
		{Table4, "nowhere", filepath.Join(here, "nowhere"), "wdgnn data get movielens-100k --out nowhere"},
	} {
		o := studytest.Options(t.TempDir())
		o.Data = c.data
		_, err := c.experiment.Run(context.Background(), o)
		var p *dataset.Problem
		if !errors.As(err, &p) || !strings.Contains(p.Try, c.whatToDo) || !strings.Contains(err.Error(), "no ratings in "+c.where) {
			t.Errorf("--data %q: error %v with help %+v, want that it looked in %s and %q", c.data, err, p, c.where, c.whatToDo)
		}
	}
	if err := os.WriteFile(filepath.Join(empty, "ratings.csv"), []byte("1,2,3\n1,3,4\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	o := studytest.Options(t.TempDir())
	o.Data = empty
	if _, err := Table4.Run(context.Background(), o); err == nil || !strings.Contains(err.Error(), "Star Wars (1977)") {
		t.Errorf("ratings without titles: error %v, want one that names the movie", err)
	}
}

// Other ratings are not taken for those of a stored split.
func TestOtherRatingsComputeAnew(t *testing.T) {
	if testing.Short() {
		t.Skipf("SKIPPED %s: it computes a table twice; it runs without -short", t.Name())
	}
	dir, data := t.TempDir(), studytest.Ratings(t)
	o := studytest.Options(dir)
	o.Data, o.Repeats = data, 1
	a, err := Table4.Run(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(data, "u.data")
	ratings, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, append(ratings, "151\t1\t5\t1\n"...), 0o600); err != nil {
		t.Fatal(err)
	}
	b, err := Table4.Run(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	if studytest.Text(t, a) == studytest.Text(t, b) {
		t.Error("one more rating gives the same numbers")
	}
}

// What the study of the experiment found over many splits comes out over a few:
// bands of about four standard errors around its means.
// Reference: Section 6.3, Table 4.
func TestMovieLensBands(t *testing.T) {
	if testing.Short() {
		t.Skipf("SKIPPED %s: it trains on several splits; it runs without -short", t.Name())
	}
	l := movieLens(t, "ml-100k")
	s := settingsFrom(study.Options{Seed: 12}, l.Ratings)
	s.Settings = []movieSetting{libvarSetting, huangSetting, centeredSetting}
	const splits = 4
	test, base := map[string][3]float64{}, map[string][3]float64{}
	add := func(to, from map[string][3]float64, prefix string) {
		for id, v := range from {
			for c := range v {
				put(to, prefix+id, c, to[prefix+id][c]+v[c]/splits)
			}
		}
	}
	r := &study.Run{Options: study.Options{Out: t.TempDir()}}
	if err := os.MkdirAll(r.Models(), 0o755); err != nil {
		t.Fatal(err)
	}
	for k := range splits {
		u, err := movieSplit(context.Background(), r, &s, l, k)
		if err != nil {
			t.Fatal(err)
		}
		add(base, u.Baselines, "")
		for id, reading := range u.Readings {
			add(test, reading.Test, id+" ")
		}
	}
	within := func(what string, got, want, margin float64) {
		t.Helper()
		t.Logf("%s: %.4f (%.4f)", what, got, want)
		if math.Abs(got-want) > margin {
			t.Errorf("%s: got %.4f, want %.4f ± %.3f", what, got, want, margin)
		}
	}
	for c, want := range [3]float64{.8577, 1.0775, .9414} {
		within("libvar, WD-GNN, "+movieColumns[c], test["libvar wd-gnn"][c], want, 0.2)
	}
	within("libvar, gain of the filter on Contact", test["libvar filter online"][1]-test["libvar filter"][1], -.0974, 0.12)
	within("huang, GNN - filter on Star Wars", test["huang gnn"][0]-test["huang filter"][0], -.025, 0.035)
	within("movie's mean", base["Movie's mean"][0], .8792, 0.16)
	// Paired with the movie's mean, baselines vary less.
	for name, want := range map[string]float64{
		"Mean of all ratings": 1.1134, "User's mean": 1.0688, "User's mean and movie's offset": .8509, "Biases, λ = 10": .8332,
		"Item-kNN, k = 10": .7206, "Item-kNN, k = 20": .7499,
		"Item-kNN, k = 10, shrinkage 30":          .7100,
		"Matrix factorisation, 20 factors, λ = 8": .6804, "Matrix factorisation, 20 factors, λ = 15": .6867,
	} {
		within(name, base[name][0]-base["Movie's mean"][0], want-.8792, 0.1)
	}
	within("centered, WD-GNN", test["centered wd-gnn"][0]-base["Movie's mean"][0], .6512-.8792, 0.08)
	if got, want := test["centered wd-gnn"][0], base["Matrix factorisation, 20 factors, λ = 15"][0]; got >= want {
		t.Errorf("centered signals: WD-GNN %.4f, want less than the %.4f of matrix factorisation", got, want)
	}
}

// BenchmarkMovieEpoch is one epoch of the paper's training.
func BenchmarkMovieEpoch(b *testing.B) {
	l := movieLens(b, "ml-100k")
	w := everyTenth(b, l, movies.SimilarityLibvar)
	e, err := w.Examples()
	if err != nil {
		b.Fatal(err)
	}
	for _, k := range movieKinds {
		b.Run(string(k), func(b *testing.B) {
			m, err := gnn.NewRandom(w.Architecture(k), random.Stream(1, "bench"))
			if err != nil {
				b.Fatal(err)
			}
			e.Valid = e.Test[0]
			job, err := w.Job(m, e)
			if err != nil {
				b.Fatal(err)
			}
			job.Config.Epochs = b.N
			b.ResetTimer()
			if _, err := train.Run(context.Background(), m, job); err != nil {
				b.Fatal(err)
			}
		})
	}
}
