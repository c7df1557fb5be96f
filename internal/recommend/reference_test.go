package recommend

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/wdgnn/wdgnn/internal/baseline"
	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/rule"
	"github.com/wdgnn/wdgnn/scenario/movies"
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
	arrivals := map[bool][]seen{false: streamOf(t, m, length, false), true: streamOf(t, m, length, true)}
	for _, c := range []struct {
		name    string
		changes bool
		rule    rule.Config
		gain    float64 // of RMSE, at least
	}{
		{"literal, as they are", false, Literal(0.01), -0.001},
		{"literal, the world changes", true, Literal(0.01), 0.008},
		{"whitened, as they are", false, Whitened(0.001), -0.001},
		{"whitened, the world changes", true, Whitened(0.001), 0.008},
	} {
		served, online, frozen := replay(t, m, arrivals[c.changes], c.rule)
		t.Logf("%s: served %.4f, online without a guard %.4f, frozen %.4f", c.name, served, online, frozen)
		if frozen-served < c.gain {
			t.Errorf("%s: RMSE as served %.4f, frozen %.4f; want a gain of %v", c.name, served, frozen, c.gain)
		}
		if served > online {
			t.Errorf("%s: RMSE as served %.4f, without a guard %.4f; want the guard to do no harm", c.name, served, online)
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
	user         int
	mean, rating float64
	world        *world
}

func streamOf(t *testing.T, m *Model, length int, changes bool) []seen {
	t.Helper()
	w, err := newWorld(load(t, "data/ml-100k"), m.Setting, 1)
	if err != nil {
		t.Fatal(err)
	}
	type one struct {
		user   int
		movie  int32
		rating float64
	}
	var stream []one
	for _, u := range append(append([]int{}, w.test...), w.validation...) {
		movie, rating := w.ratings.User(u)
		for k, n := range movie {
			stream = append(stream, one{u, n, rating[k]})
		}
	}
	rand.New(rand.NewPCG(1, 1)).Shuffle(len(stream), func(i, j int) { stream[i], stream[j] = stream[j], stream[i] })
	stream = stream[:min(length, len(stream))]
	x, users := newExtractor(w, m.network, 1<<20), map[int]*profile{}
	var list []seen
	for i, r := range stream {
		if changes && i > len(stream)/10 && i < len(stream)*9/10 {
			r.rating = max(1, r.rating-float64(r.movie%2))
		}
		p := users[r.user]
		if p == nil {
			p = &profile{}
		} else {
			f := x.of(p)
			list = append(list, seen{
				observation{f.row(r.movie), f.base[r.movie], float32(r.rating - f.mean[r.movie])},
				w.ratings.UserID(r.user),
				f.mean[r.movie], r.rating, w,
			})
		}
		users[r.user] = p.with(r.movie, r.rating)
	}
	return list
}

// replay returns the RMSE of what is served, of a learner that no guard watches,
// and of the frozen model.
func replay(t *testing.T, m *Model, list []seen, c rule.Config) (served, online, frozen float64) {
	t.Helper()
	w := list[0].world
	learn := func() *learner {
		l, err := newLearner(m, w, c, GuardConfig{})
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	alone, guarded := learn(), learn()
	s := &Service{world: w, look: newExtractor(w, m.network, 1<<20)}
	guarded.guard.fill(s.silent(guarded.guards.Window/5), guarded.guards.Window)
	for _, o := range list {
		square := func(l *learner) float64 {
			y := o.base
			if l != nil && !l.guard.Fallen {
				y = l.output(o.z, o.base)
			}
			e := w.clip(o.mean+float64(y)) - o.rating
			return e * e
		}
		served, online, frozen = served+square(guarded), online+square(alone), frozen+square(nil)
		guarded.learn(o.user, o.observation, heard{Z: o.z, Base: o.base, Mean: o.mean, Rating: o.rating})
		alone.step(o.observation)
	}
	n := float64(len(list))
	return math.Sqrt(served / n), math.Sqrt(online / n), math.Sqrt(frozen / n)
}
