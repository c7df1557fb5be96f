package recommend

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/wdgnn/wdgnn/internal/paper/baseline"
	"github.com/wdgnn/wdgnn/internal/shop/movies"
	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/rule"
)

// On MovieLens 100k the model is well below what means reach.
func TestMovieLens(t *testing.T) {
	_, m := movieLens(t)
	if r := m.Report; r.RMSE > 0.89 || r.MeanRMSE < 0.92 || r.Tested != 6450 {
		t.Errorf("RMSE %.4f, %.4f by means, on %d ratings; want below 0.89, 0.928, 6450", r.RMSE, r.MeanRMSE, r.Tested)
	}
}

// Users whom training did not see arrive one rating at a time. Learning from
// them does no harm as they are, and helps once their world changes: half of
// the movies get one star less for a while.
func TestReplayedStream(t *testing.T) {
	_, m := movieLens(t)
	const length = 5000
	streams := map[bool][]seen{false: streamOf(t, m, length, false), true: streamOf(t, m, length, true)}
	for _, c := range []struct {
		name    string
		changes bool
		gain    float64 // of RMSE, at least
	}{
		{"as they are", false, -0.001},
		{"the world changes", true, 0.008},
	} {
		served, frozen := replay(t, m, streams[c.changes], Paper(0.01))
		t.Logf("%s: served %.4f, frozen %.4f", c.name, served, frozen)
		if frozen-served < c.gain {
			t.Errorf("%s: RMSE as served %.4f, frozen %.4f; want a gain of %v", c.name, served, frozen, c.gain)
		}
	}
}

// On the same test users, whose ratings are hidden a tenth at a time, the model
// is no worse than matrix factorisation, which is fitted to everything else;
// of its settings this one does best there.
func TestBesideFactors(t *testing.T) {
	if testing.Short() {
		t.Skipf("SKIPPED %s: it takes some seconds; it runs without -short", t.Name())
	}
	all := load(t, "data/ml-100k")
	m, err := Train(context.Background(), all, DefaultSetting(), TrainConfig{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := m.Beside(all, 10, func(r *movies.Ratings) Predictor {
		return baseline.NewFactors(baseline.NewTable(r, 0, nil), baseline.FactorsConfig{Factors: 20, Ridge: 15},
			random.Stream(1, "factors")).Predict
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("RMSE %.4f, matrix factorisation %.4f, on %d ratings", c.RMSE, c.Peer, c.Ratings)
	if c.RMSE > c.Peer+0.005 {
		t.Errorf("RMSE %.4f, matrix factorisation %.4f", c.RMSE, c.Peer)
	}
}

// seen is a rating of a newcomer as the model sees it.
type seen struct {
	observation
	mean, rating float64
	world        *world
}

// arrival is a rating of a user whom training did not see.
type arrival struct {
	user   int
	movie  int32
	rating float64
}

// arrivals returns ratings of such users in an order by lot. Where their world changes, half of the movies
// get a star less from the first tenth to the last.
func arrivals(w *world, length int, changes bool) (list []arrival) {
	for _, u := range slices.Concat(w.test, w.validation) {
		movie, rating := w.ratings.User(u)
		for k, n := range movie {
			list = append(list, arrival{u, n, rating[k]})
		}
	}
	rand.New(rand.NewPCG(1, 1)).Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	list = list[:min(length, len(list))]
	for i := range list {
		if r := &list[i]; changes && i > len(list)/10 && i < len(list)*9/10 {
			r.rating = max(1, r.rating-float64(r.movie%2))
		}
	}
	return list
}

func streamOf(t *testing.T, m *Model, length int, changes bool) []seen {
	t.Helper()
	w, err := newWorld(load(t, "data/ml-100k"), m.Setting, 1)
	if err != nil {
		t.Fatal(err)
	}
	x, users := newExtractor(w, m.network, 1<<20), map[int]*profile{}
	var list []seen
	for _, r := range arrivals(w, length, changes) {
		p := users[r.user]
		if p == nil {
			p = &profile{}
		} else {
			f := x.of(p)
			list = append(list, seen{
				observation{f.row(r.movie), f.base[r.movie], float32(r.rating - f.mean[r.movie])},
				f.mean[r.movie], r.rating, w,
			})
		}
		users[r.user] = p.with(r.movie, r.rating)
	}
	return list
}

// replay returns the RMSE of what is served, and of the frozen model.
func replay(t *testing.T, m *Model, list []seen, c rule.Config) (served, frozen float64) {
	t.Helper()
	w := list[0].world
	l, err := newLearner(m, w, c, GuardConfig{}, w.judges(m.network, slices.Concat(w.train, w.validation, w.test), 1))
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range list {
		square := func(y float32) float64 {
			e := w.clip(o.mean+float64(y)) - o.rating
			return e * e
		}
		served, frozen = served+square(l.output(o.z, o.base)), frozen+square(o.base)
		if e := l.learn(o.observation); e == eventDiverged {
			t.Fatal(e)
		}
	}
	n := float64(len(list))
	return math.Sqrt(served / n), math.Sqrt(frozen / n)
}
