package recommend

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/internal/journal/faultdisk"
)

// crowd is accounts that attack together: each new id rates once, then each again, within all limits.
type crowd struct {
	ids, ratings int
	apart        time.Duration // between two ratings
	rate         func(s *Service, id, k int) (movie int, rating float64)
}

// stranger is the first id of a crowd.
const stranger = 1_000_000

// some returns one of the first movies of the model, another one for each rating of an id.
func some(s *Service, id, k, of int) int { return s.world.ratings.MovieID((131*id + 37*k) % of) }

// first has everybody begin with one rating and go on with another, which moves the bias one way.
func first(high, low float64) func(s *Service, id, k int) (int, float64) {
	return func(s *Service, id, k int) (int, float64) {
		if k == 0 {
			return some(s, id, k, 400), high
		}
		return some(s, id, k, 400), low
	}
}

// opposite rates high what the id is predicted to find bad, and low what it should like.
func opposite(s *Service, id, k int) (int, float64) {
	movie := some(s, id, k, 400)
	if p, err := s.Predict(stranger+id, []int{movie}); err == nil && p.List[0].Rating >= 3 {
		return movie, 1
	}
	return movie, 5
}

// push finds one movie better than everything else.
func push(s *Service, id, k int) (int, float64) {
	if k == 7 {
		return s.world.ratings.MovieID(300), 5
	}
	return some(s, id, k, 300), 1 + float64((id+k)%2)
}

func noise(s *Service, id, k int) (int, float64) {
	return some(s, id, k, 400), 1 + float64(rand.New(rand.NewPCG(uint64(id), uint64(k))).IntN(5))
}

// flip rates as a user of the data does, and then the other way round.
func flip(s *Service, id, k int) (int, float64) {
	movie, rating := s.world.ratings.User(7 * id % s.world.ratings.Users())
	at := 3 * k % len(movie)
	if k < 15 {
		return s.world.ratings.MovieID(int(movie[at])), rating[at]
	}
	return s.world.ratings.MovieID(int(movie[at])), 6 - rating[at]
}

// However many new accounts attack together, the predictions of everybody else are at most 3 % worse
// than they would be with honest ratings, from which everybody gains half a percent at most.
func TestCrowdDoesNotSpoilEverybody(t *testing.T) {
	all, m := movieLens(t)
	for name, c := range map[string]crowd{
		"one low opinion":       {700, 8, 2 * time.Millisecond, first(5, 1)},
		"one high opinion":      {700, 8, 2 * time.Millisecond, first(1, 5)},
		"against predictions":   {700, 8, 2 * time.Millisecond, opposite},
		"thirty each":           {1500, 30, 2 * time.Millisecond, opposite},
		"one movie pushed":      {700, 8, 2 * time.Millisecond, push},
		"noise":                 {1500, 10, 2 * time.Millisecond, noise},
		"a slow drip":           {1500, 8, 5 * time.Minute, first(5, 1)},
		"honest, then the flip": {700, 30, 10 * time.Second, flip},
	} {
		t.Run(name, func(t *testing.T) {
			clock := newClock()
			s, err := Open(m, all, faultdisk.New(), Config{Rule: Paper(0.01), now: clock.now})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			before, worst, total := everybody(s), 0.0, c.ids*c.ratings
			for i := range total {
				movie, rating := c.rate(s, i%c.ids, i/c.ids)
				rate(t, s, stranger+i%c.ids, movie, rating)
				clock.pass(c.apart)
				if (i+1)%(total/40) == 0 {
					worst = max(worst, everybody(s))
				}
			}
			st := s.Status()
			t.Logf("RMSE of everybody %.4f, at worst %.4f, %+.1f %%; learned from %d of %d, held back %d",
				before, worst, 100*(worst/before-1), st.Learned, total, st.Held)
			if worst > 1.025*before {
				t.Errorf("RMSE of everybody rises from %.4f to %.4f, want 2.5 %% at most", before, worst)
			}
		})
	}
}

// Honest newcomers arrive one rating at a time, in a world that changes for them: half of the movies
// get a star less. Learning gains, and a crowd that attacks beside them, a rating for a rating, costs them
// less than 3 %.
func TestCrowdDoesNotSpoilNewcomers(t *testing.T) {
	all, m := movieLens(t)
	honest := 0.0
	for _, c := range []struct {
		name   string
		attack func(s *Service, id, k int) (int, float64)
	}{{"alone", nil}, {"one low opinion", first(5, 1)}, {"against predictions", opposite}} {
		clock := newClock()
		s, err := Open(m, all, faultdisk.New(), Config{Rule: Paper(0.01), now: clock.now})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		served, frozen, count := 0.0, 0.0, 0.0
		for i, r := range arrivals(s.world, 5000, true) {
			user := 10_000 + r.user
			if p := s.profile(user); p != nil {
				f := s.look.of(p)
				a := s.world.clip(s.raw(f, s.version.Load(), r.movie)) - r.rating
				b := s.world.served(f.mean[r.movie], f.base[r.movie]) - r.rating
				served, frozen, count = served+a*a, frozen+b*b, count+1
			}
			rate(t, s, user, s.world.ratings.MovieID(int(r.movie)), r.rating)
			if clock.pass(time.Minute); c.attack != nil {
				movie, rating := c.attack(s, i%700, i/700)
				rate(t, s, stranger+i%700, movie, rating)
			}
		}
		served, frozen = math.Sqrt(served/count), math.Sqrt(frozen/count)
		t.Logf("%s: RMSE %.4f, as trained %.4f", c.name, served, frozen)
		if c.attack == nil {
			if honest = served; frozen-served < 0.008 {
				t.Errorf("%s: RMSE %.4f, as trained %.4f; want a gain of 0.008", c.name, served, frozen)
			}
		} else if served > 1.03*honest {
			t.Errorf("%s: RMSE %.4f, want at most 3 %% more than %.4f", c.name, served, honest)
		}
	}
}

// What a learner misses on the judges' ratings is what its outputs say.
func TestJudgesSumUp(t *testing.T) {
	s := service(t, faultdisk.New(), learning())
	l, w := s.writer.learner, s.world
	for u := range 20 {
		movie, rating := w.ratings.User(u)
		f := s.look.of(&profile{movie: movie, rating: rating})
		l.step(observation{f.row(movie[0]), f.base[movie[0]], 2})
	}
	r := w.rowsOf(slices.Concat(w.train, w.validation, w.test), w.graph, 1)
	sum := 0.0
	r.outputs(s.model.network, func(i int, base float32) {
		e := float64(r.target[i] - l.output(r.z.Row(i), base))
		sum += e * e
	})
	if got, want := l.judged(), math.Sqrt(sum/float64(r.Len())); math.Abs(got-want) > 1e-5 || got < 1.001*l.judges.rmse(nil) {
		t.Errorf("RMSE %v, by the outputs %v, as trained %v", got, want, l.judges.rmse(nil))
	}
}

// A step that would make the judges' predictions too much worse is not taken: nobody else's predictions
// move, the answer says why, and the rating shows at once in what its user is told.
func TestStepHeldBack(t *testing.T) {
	d, c := faultdisk.New(), Config{Rule: Paper(0.5)}
	s := service(t, d, c)
	for i := range 200 {
		user, movie := 1000+i/10, s.world.ratings.MovieID(i%10)
		rate(t, s, user, s.world.ratings.MovieID(10+i%10), 3)
		before, others, own := s.Status(), predict(t, s, 1, 10), predict(t, s, user, 20)
		r := rate(t, s, user, movie, 1+4*float64(i/10%2))
		if after := s.Status(); after.Window.Online > 1.02*after.Window.Frozen {
			t.Fatalf("rating %d: the judges have %+v", i, after.Window)
		} else if after.Held > before.Held && (r.Learned || r.Why != whyHeld || !slices.Equal(after.Params, before.Params) ||
			predict(t, s, 1, 10) != others || movie != 20 && predict(t, s, user, 20) == own || after.Learned != before.Learned) {
			t.Fatalf("rating %d: %+v, and %+v became %+v", i, r, before, after)
		}
	}
	want := s.Status()
	if want.Held == 0 || want.Held == want.Learned {
		t.Fatalf("%+v; want some steps held back, and not all", want)
	}
	s = service(t, d.Crash(nil), c)
	got := s.Status()
	if got.Held != want.Held || got.Learned != want.Learned || got.Steps != want.Steps || !slices.Equal(got.Params, want.Params) {
		t.Errorf("after a restart %+v, want %+v", got, want)
	}
}
