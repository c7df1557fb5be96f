package recommend

import (
	"cmp"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/wdgnn/wdgnn/internal/journal/faultdisk"
)

func TestRatingsMovePredictions(t *testing.T) {
	s := service(t, faultdisk.New(), Config{Rule: Paper(0.01)})
	before := predict(t, s, 1, 20)
	r := rate(t, s, 1, 20, 1)
	after := predict(t, s, 1, 20)
	if !r.Changed || !r.Learned || r.Version != 1 || r.Before != before || math.Abs(r.After-after) > 1e-9 {
		t.Errorf("%+v; predictions before %v, after %v", r, before, after)
	}
	if !(after < before) {
		t.Errorf("prediction %v after a rating of 1, %v before", after, before)
	}
	if again := rate(t, s, 1, 20, 1); again.Changed || again.Learned || again.Version != 1 || s.Status().Version != 1 {
		t.Errorf("the same rating once more: %+v", again)
	}
	if changed := rate(t, s, 1, 20, 5); !changed.Changed || !changed.Learned || changed.Version != 2 || changed.After <= changed.Before {
		t.Errorf("another rating: %+v", changed)
	}
	list, err := s.Ratings(1)
	if at := slices.IndexFunc(list, func(r RatedMovie) bool { return r.Movie == 20 }); err != nil || at < 0 || list[at].Rating != 5 {
		t.Errorf("ratings %v, %v; want 5 for movie 20", list, err)
	}
}

func TestNewUser(t *testing.T) {
	s := service(t, faultdisk.New(), learning())
	if _, err := s.Top(4711, 3); !errors.Is(err, ErrUser) {
		t.Errorf("predictions for a stranger: %v, want %v", err, ErrUser)
	}
	if r := rate(t, s, 4711, 10, 5); r.Learned || !r.Changed || r.Version != 1 {
		t.Errorf("first rating: %+v, want it to be kept and not learned from", r)
	}
	if r := rate(t, s, 4711, 30, 5); !r.Learned {
		t.Errorf("second rating: %+v, want it to be learned from", r)
	}
	p, err := s.Top(4711, 3)
	if err != nil || len(p.List) != 3 {
		t.Fatalf("%+v, %v", p, err)
	}
	if !slices.IsSortedFunc(p.List, func(a, b Prediction) int { return cmp.Compare(b.Rating, a.Rating) }) {
		t.Errorf("%+v is not sorted", p.List)
	}
	for _, q := range p.List {
		if q.Movie == 10 || q.Movie == 30 || q.Rating < 1 || q.Rating > 5 {
			t.Errorf("%+v; want an unrated movie on the scale", q)
		}
	}
	if st := s.Status(); st.Users != 121 {
		t.Errorf("%d users, want 121", st.Users)
	}
}

// Beyond the bound no more users come, until one goes; those who are there go on.
func TestUsersAreBounded(t *testing.T) {
	c := learning()
	c.users = 2
	s := service(t, faultdisk.New(), c)
	for _, user := range []int{4711, 4712, 1, 4711} {
		rate(t, s, user, 10+10*s.Status().Learned, 3)
	}
	before := s.Status()
	_, err := s.Rate(t.Context(), 4713, 10, 5)
	if after := s.Status(); !errors.Is(err, ErrFull) || after.Version != before.Version || after.Users != 122 {
		t.Errorf("one more than there may be: %v, and %+v", err, after)
	}
	if _, err := s.Forget(t.Context(), 4711); err != nil {
		t.Fatal(err)
	}
	rate(t, s, 4713, 10, 5)
}

func TestRefused(t *testing.T) {
	s := service(t, faultdisk.New(), learning())
	for _, c := range []struct {
		user, movie int
		rating      float64
		want        error
	}{
		{1, 11, 3, ErrMovie},
		{1, 400_000, 3, ErrMovie},
		{-1, 10, 3, ErrUser},
		{1 << 40, 10, 3, ErrUser},
		{1, 10, 0.5, ErrRating},
		{1, 10, 5.5, ErrRating},
		{1, 10, math.NaN(), ErrRating},
		{1, 10, math.Inf(1), ErrRating},
	} {
		if _, err := s.Rate(context.Background(), c.user, c.movie, c.rating); !errors.Is(err, c.want) {
			t.Errorf("%+v: %v, want %v", c, err, c.want)
		}
	}
	if v := s.Status().Version; v != 0 {
		t.Errorf("version %d after refused ratings only", v)
	}
}

// stream rates pseudo-random movies and returns the parameters after each.
// After a crash the service has the same parameters, ratings and meters, and
// goes on to the bits of one that never ended, whatever the learner remembers
// and however often snapshots are taken.
// A service may be opened with another step size, window and guard.
// Steps that leave the range of numbers end at the trained parameters, which serve until the learner,
// with steps that suit, is as good again.
func TestDivergence(t *testing.T) {
	d := faultdisk.New()
	s := service(t, d, Config{Rule: Paper(1e30)})
	before := predict(t, s, 1, 10)
	stream(t, s, 0, 10)
	if st := s.Status(); st.Falls == 0 || st.Serving != "frozen" || st.Moved != 0 || predict(t, s, 1, 10) != before {
		t.Errorf("%+v; want a fall, and what was served before", st)
	}
	s = service(t, d.Crash(nil), Config{Rule: Paper(0.003), Guard: GuardConfig{Window: 100}})
	for i := range 1000 { // as users of the data do
		movie, rating := s.world.ratings.User(i % 100)
		at := i / 100 % len(movie)
		rate(t, s, 1000+i%100, s.world.ratings.MovieID(int(movie[at])), rating[at])
		if s.Status().Serving == "online" {
			if i < 99 {
				t.Errorf("it serves after %d ratings, want 100", i+1)
			}
			return
		}
	}
	t.Error("it does not serve again")
}

// A rating that is not on the disk is not acknowledged and leaves no trace.
// Power is lost at a random operation of the disk, again and again: every
// acknowledged rating is there, and the parameters are those that were
// acknowledged with it.
// Readers and writers at the same time: versions never go back, predictions
// stay on the scale.
func TestConcurrent(t *testing.T) {
	d := faultdisk.New()
	c := Config{Rule: Paper(0.05), SnapshotEvery: 50, cacheBytes: 1 << 14}
	s := service(t, d, c)
	var wait sync.WaitGroup
	for g := range 8 {
		wait.Go(func() {
			rng, last := rand.New(rand.NewPCG(uint64(g), 6)), uint64(0)
			for range 200 {
				user := 1 + rng.IntN(120)
				if g < 3 {
					if _, err := s.Rate(context.Background(), user, s.world.ratings.MovieID(rng.IntN(30)), 1+4*rng.Float64()); err != nil {
						t.Error(err)
					}
					continue
				}
				p, err := s.Top(user, 5)
				if err != nil {
					t.Error(err)
					return
				}
				if p.Version < last {
					t.Errorf("version %d after %d", p.Version, last)
				}
				last = p.Version
				for _, q := range p.List {
					if !(q.Rating >= 1 && q.Rating <= 5) {
						t.Errorf("%+v is off the scale", q)
					}
				}
			}
		})
	}
	wait.Wait()
	want := s.Status()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Rate(context.Background(), 1, 10, 3); !errors.Is(err, ErrClosed) {
		t.Errorf("%v after Close, want %v", err, ErrClosed)
	}
	if got := service(t, d.Crash(nil), c).Status(); got.Version != want.Version ||
		!slices.Equal(got.Params, want.Params) || got.Users != want.Users {
		t.Errorf("after a restart %+v, want %+v", got, want)
	}
}

// While the disk is slow, ratings wait up to a number; more are refused, and
// those who give up are not counted as kept.
// The best few are the first of all, which are sorted.
func TestTop(t *testing.T) {
	s := service(t, faultdisk.New(), learning())
	stream(t, s, 0, 50)
	for user := 1; user <= 120; user++ {
		all, err := s.Top(user, 1000)
		if err != nil {
			t.Fatal(err)
		}
		if want := 30 - len(s.profile(user).movie); len(all.List) != want {
			t.Fatalf("user %d: %d movies, want the %d unrated ones", user, len(all.List), want)
		}
		sorted := slices.Clone(all.List)
		slices.SortStableFunc(sorted, func(a, b Prediction) int { return cmp.Compare(b.Rating, a.Rating) })
		if !slices.Equal(sorted, all.List) {
			t.Fatalf("user %d: %v is not sorted", user, all.List)
		}
		for count := range 8 {
			few, err := s.Top(user, count)
			if err != nil || !slices.Equal(few.List, all.List[:min(count, len(all.List))]) {
				t.Fatalf("user %d: the best %d are %v, %v; want the first of %v", user, count, few.List, err, all.List)
			}
		}
	}
}
