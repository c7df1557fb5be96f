package recommend

import (
	"context"
	"errors"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/internal/journal/faultdisk"
	"github.com/wdgnn/wdgnn/internal/shop/movies"
)

// without returns the table less some movies.
func without(t *testing.T, all *movies.Ratings, ids ...int) *movies.Ratings {
	t.Helper()
	var list []movies.Rating
	for u := range all.Users() {
		movie, rating := all.User(u)
		for k, n := range movie {
			id, hidden := all.MovieID(int(n)), false
			for _, h := range ids {
				hidden = hidden || h == id
			}
			if !hidden {
				list = append(list, movies.Rating{User: all.UserID(u), Item: id, Value: rating[k]})
			}
		}
	}
	r, err := movies.NewRatings(list, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Movies that a model was trained without join it by their first ratings. What it then
// predicts for other users is better than mean and offset alone, near what a model says
// that was trained with them; nothing else moves.
func TestNewcomers(t *testing.T) {
	all, known := small()
	hidden := []int{40, 50, 90} // of both kinds
	rest := without(t, all, hidden...)
	m, err := Train(context.Background(), rest, smallSetting(), TrainConfig{Epochs: 10, BatchSize: 64})
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(m, rest, faultdisk.New(), Config{}) // that does not learn, so that it is the graph alone
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	full, err := Open(known, all, faultdisk.New(), Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	before, _ := s.Predict(120, []int{10, 20, 30})
	for _, id := range hidden {
		if _, err := s.Add(context.Background(), strconv.Itoa(id), ""); err != nil {
			t.Fatal(err)
		}
	}
	raters, halves := map[int]int{}, [2][]int{}
	for u := range all.Users() {
		halves[u%2] = append(halves[u%2], all.UserID(u))
	}
	for _, user := range halves[0] { // half of the users rate them
		for _, id := range hidden {
			if r, rated := ratingOf(all, user, id); rated {
				rate(t, s, user, id, r)
				raters[id]++
			}
		}
	}
	var joined, means, trained float64
	count := 0
	for _, user := range halves[1] { // and the others are asked for
		for _, id := range hidden {
			r, rated := ratingOf(all, user, id)
			if !rated {
				continue
			}
			v, p := s.version.Load(), s.profile(user)
			n, _ := s.world.locate(id, v.newcomers)
			mean := s.world.clip(s.look.with(p, v.newcomers).mean[n])
			for _, e := range []struct {
				sum *float64
				got float64
			}{{&joined, predict(t, s, user, id)}, {&means, mean}, {&trained, predict(t, full, user, id)}} {
				*e.sum += (e.got - r) * (e.got - r)
			}
			count++
		}
	}
	rmse := func(sum float64) float64 { return math.Sqrt(sum / float64(count)) }
	t.Logf("RMSE on %d ratings: joined %.3f, mean and offset alone %.3f, trained with them %.3f; raters %v",
		count, rmse(joined), rmse(means), rmse(trained), raters)
	if rmse(joined) > 0.8*rmse(means) || rmse(joined) > 1.25*rmse(trained) {
		t.Errorf("RMSE %.3f; want less than 0.8 of %.3f and near %.3f", rmse(joined), rmse(means), rmse(trained))
	}
	after, _ := s.Predict(120, []int{10, 20, 30})
	if !reflect.DeepEqual(after.List, before.List) {
		t.Errorf("a user who rated no new movie gets %v, want as before %v", after.List, before.List)
	}
}

func ratingOf(all *movies.Ratings, user, id int) (float64, bool) {
	u, _ := all.FindUser(user)
	n, _ := all.FindMovie(id)
	return all.Rating(u, n)
}

// A new item is predicted at once by the mean of the user; its first rating gives it an
// offset, and with two raters who rated others alike it joins. Until then nothing is
// learned from it. What is known of it comes back after a restart, to the bits.
func TestNewcomerJoins(t *testing.T) {
	d := faultdisk.New()
	s := service(t, d, Config{Rule: Paper(0.01), SnapshotEvery: 4})
	if _, err := s.Predict(1, []int{555}); err == nil {
		t.Fatal("an item that is not there is predicted")
	}
	if out, err := s.Add(context.Background(), "555", "Newcomer"); err != nil || !out.Changed || out.Version != 1 {
		t.Fatalf("got %+v, %v", out, err)
	}
	if out, err := s.Add(context.Background(), "555", ""); err != nil || out.Changed || out.Title != "Newcomer" {
		t.Errorf("again: got %+v, %v; want that nothing changes", out, err)
	}
	if _, err := s.Add(context.Background(), "555", "Another"); err == nil {
		t.Error("another title: no error")
	}
	first := predict(t, s, 1, 555)
	if r := rate(t, s, 2, 555, 5); r.Learned || r.Why != whyStranger {
		t.Errorf("the first rating: got %+v, want that it has not joined", r)
	}
	if second := predict(t, s, 1, 555); second <= first {
		t.Errorf("after a 5 it is predicted as %v, before as %v; want more", second, first)
	}
	rate(t, s, 3, 555, 1)
	rate(t, s, 4, 555, 4)
	if r := rate(t, s, 5, 555, 3); !r.Learned {
		t.Errorf("the fourth rating: got %+v, want that it has joined", r)
	}
	want, _ := s.Top(7, 50)
	after := service(t, d.Crash(nil), Config{Rule: Paper(0.01)})
	if got, _ := after.Top(7, 50); !reflect.DeepEqual(got.List, want.List) {
		t.Errorf("after a restart: got %+v, want %+v", got, want)
	}
	if !slices.ContainsFunc(want.List, func(p Prediction) bool { return p.Movie == 555 && p.Title == "Newcomer" }) {
		t.Error("it is not among what is recommended")
	}
}

// Twenty movies of MovieLens 100k that a model was trained without, predicted for half of
// the users after so many of the other half rated them. doc/shop.md has the table.
func TestNewcomersMovieLens(t *testing.T) {
	if testing.Short() {
		t.Skipf("SKIPPED %s: it takes some seconds; it runs without -short", t.Name())
	}
	all := load(t, "data/ml-100k")
	var hidden []int
	for k, n := range all.Top(400) {
		if k%20 == 7 {
			hidden = append(hidden, all.MovieID(n))
		}
	}
	rest := without(t, all, hidden...)
	m, err := Train(context.Background(), rest, DefaultSetting(), TrainConfig{Epochs: 10, Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(m, rest, faultdisk.New(), Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, id := range hidden {
		if _, err := s.Add(context.Background(), strconv.Itoa(id), ""); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		raters int
		better float64 // than mean and offset alone, in RMSE, at least
	}{{0, -0.01}, {2, -0.01}, {5, 0}, {20, 0.003}, {80, 0.012}} {
		joined, means, count := 0.0, 0.0, 0
		for _, id := range hidden {
			introduce(t, s, all, id, c.raters)
			a, b, n := judgeNewcomer(s, all, id)
			joined, means, count = joined+a, means+b, count+n
		}
		joined, means = math.Sqrt(joined/float64(count)), math.Sqrt(means/float64(count))
		t.Logf("%d raters: RMSE %.4f, by mean and offset alone %.4f, on %d ratings", c.raters, joined, means, count)
		if means-joined < c.better {
			t.Errorf("%d raters: RMSE %.4f, by mean and offset alone %.4f; want %v less", c.raters, joined, means, c.better)
		}
	}
}

// introduce has the first raters of a movie, at even positions, tell the service.
func introduce(t *testing.T, s *Service, all *movies.Ratings, id, raters int) {
	t.Helper()
	for u := 0; u < all.Users() && raters > 0; u += 2 {
		if r, rated := ratingOf(all, all.UserID(u), id); rated {
			rate(t, s, all.UserID(u), id, r)
			raters--
		}
	}
}

// judgeNewcomer returns squared errors on the ratings of users at odd positions, of the
// service and of mean and offset alone.
func judgeNewcomer(s *Service, all *movies.Ratings, id int) (joined, means float64, count int) {
	v := s.version.Load()
	n, _ := s.world.locate(id, v.newcomers)
	for u := 1; u < all.Users(); u += 2 {
		r, rated := ratingOf(all, all.UserID(u), id)
		p := s.profile(all.UserID(u))
		if !rated || p == nil {
			continue
		}
		f := s.look.with(p, v.newcomers)
		a, b := s.world.clip(s.raw(f, v, n))-r, s.world.clip(f.mean[n])-r
		joined, means, count = joined+a*a, means+b*b, count+1
	}
	return joined, means, count
}

// Items join up to a bound, and what is kept of users stays within its bytes however many
// have joined.
func TestNewcomersAreBounded(t *testing.T) {
	s := service(t, faultdisk.New(), learning())
	s.look.bytes = 1 << 20
	for k := range mostNewcomers {
		if _, err := s.Add(t.Context(), strconv.Itoa(10_000+k), "new"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Add(t.Context(), "20000", "new"); !errors.Is(err, ErrItem) || !strings.Contains(err.Error(), "train it again") {
		t.Errorf("one more than there may be: got %v, want a complaint that says what to do", err)
	}
	if out, err := s.Add(t.Context(), "10000", "new"); err != nil || out.Changed {
		t.Errorf("one that is there: got %+v, %v, want it unchanged", out, err)
	}
	c, kept := s.version.Load().newcomers, 0
	for user := range 150 {
		if p := s.profile(user); p != nil {
			s.look.with(p, c)
		}
	}
	for _, p := range s.look.held {
		if p != nil {
			f := p.cached.Load()
			kept += 4*len(f.z) + 12*len(f.base)
		}
	}
	if kept == 0 || kept > 1<<20 {
		t.Errorf("features of %d bytes are kept, want some and at most 1 MiB", kept)
	}
}
