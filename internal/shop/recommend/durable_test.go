package recommend

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/internal/journal/faultdisk"
	"github.com/wdgnn/wdgnn/rule"
)

func stream(t *testing.T, s *Service, from, to int) [][]Param {
	t.Helper()
	var list [][]Param
	for i := from; i < to; i++ {
		rng := rand.New(rand.NewPCG(uint64(i), 3))
		rate(t, s, 100+rng.IntN(60), s.world.ratings.MovieID(rng.IntN(30)), 1+float64(rng.IntN(1000))/250)
		list = append(list, s.Status().Params)
	}
	return list
}

func TestRestart(t *testing.T) {
	for name, c := range map[string]Config{
		"seldom":  {Rule: Paper(0.05), SnapshotEvery: 1000},
		"often":   {Rule: Paper(0.1), SnapshotEvery: 13},
		"holding": {Rule: Paper(0.8), SnapshotEvery: 29},
		"falling": {Rule: Paper(1e30), SnapshotEvery: 29},
	} {
		t.Run(name, func(t *testing.T) {
			const steps = 120
			want := stream(t, service(t, faultdisk.New(), c), 0, steps)
			d := faultdisk.New()
			last := Status{}
			for at := 0; at < steps; {
				s := service(t, d, c)
				next := min(steps, at+1+at%17)
				for k, got := range stream(t, s, at, next) {
					if !slices.Equal(got, want[at+k]) {
						t.Fatalf("rating %d: parameters %v, without restarts %v", at+k, got, want[at+k])
					}
				}
				before := s.Status()
				last = before
				if at%2 == 0 {
					if err := s.Close(); err != nil {
						t.Fatal(err)
					}
				}
				d = d.Crash(rand.New(rand.NewPCG(uint64(at), 4)))
				after := service(t, d, c).Status()
				before.At, after.At = "", ""
				if !slices.Equal(before.Params, after.Params) || before.Window != after.Window || before.Version != after.Version ||
					before.Falls != after.Falls || before.Held != after.Held ||
					before.Steps != after.Steps || before.Learned != after.Learned || before.Users != after.Users ||
					before.Serving != after.Serving {
					t.Fatalf("after %d ratings: %+v, after a restart %+v", next, before, after)
				}
				at, d = next, d.Crash(nil)
			}
			if name == "falling" && last.Falls == 0 || name == "holding" && last.Held == 0 {
				t.Errorf("%+v; the test shows nothing", last)
			}
		})
	}
}

func TestRestartWithOtherRule(t *testing.T) {
	ridged := Paper(0.05)
	ridged.Ridge = 0.1
	d := faultdisk.New()
	for k, c := range []rule.Config{Paper(0.05), ridged, Paper(0.1), Paper(0)} {
		s := service(t, d, Config{Rule: c, Guard: GuardConfig{Window: 20 - k}, SnapshotEvery: 1000})
		stream(t, s, 20*k, 20*k+20)
		if k%2 == 0 {
			s.Close()
		}
		d = d.Crash(nil)
	}
}

func TestOtherModel(t *testing.T) {
	d := faultdisk.New()
	s := service(t, d, learning())
	stream(t, s, 0, 3)
	d = d.Crash(nil)
	all, _ := small()
	setting := smallSetting()
	setting.Seed = 9
	other, err := Train(context.Background(), all, setting, TrainConfig{Epochs: 1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open(other, all, d, learning()); !errors.Is(err, ErrOtherModel) {
		t.Errorf("%v, want %v", err, ErrOtherModel)
	}
}

func TestDiskErrors(t *testing.T) {
	bad := errors.New("input/output error")
	t.Run("full", func(t *testing.T) {
		d := faultdisk.New()
		s := service(t, d, learning())
		stream(t, s, 0, 5)
		before, was := s.Status(), predict(t, s, 1, 10)
		d.SetRoom(20)
		for range 3 {
			if _, err := s.Rate(context.Background(), 1, 10, 2); !errors.Is(err, ErrDisk) {
				t.Fatalf("%v, want %v", err, ErrDisk)
			}
		}
		if after := s.Status(); !slices.Equal(after.Params, before.Params) || after.Version != 5 || !after.Writable ||
			predict(t, s, 1, 10) != was {
			t.Errorf("refused ratings left %+v", after)
		}
		d.SetRoom(-1)
		rate(t, s, 1, 10, 2)
		want := s.Status().Params
		if got := service(t, d.Crash(nil), learning()).Status(); got.Version != 6 || !slices.Equal(got.Params, want) {
			t.Errorf("after a restart %+v, want version 6 and %v", got, want)
		}
	})
	t.Run("sync", func(t *testing.T) {
		d := faultdisk.New()
		s := service(t, d, learning())
		stream(t, s, 0, 5)
		before := s.Status()
		d.Fail(func(op faultdisk.Op) error {
			if op.Kind == "sync" {
				return bad
			}
			return nil
		})
		if _, err := s.Rate(context.Background(), 1, 10, 2); !errors.Is(err, ErrDisk) || !errors.Is(err, bad) {
			t.Fatalf("%v, want %v", err, ErrDisk)
		}
		d.Fail(nil)
		if _, err := s.Rate(context.Background(), 1, 10, 2); !errors.Is(err, ErrDisk) {
			t.Fatalf("%v after a sync failed, want %v", err, ErrDisk)
		}
		if st := s.Status(); st.Writable || !slices.Equal(st.Params, before.Params) {
			t.Errorf("%+v; want a service that is not writable and as before", st)
		}
		if got := service(t, d.Crash(nil), learning()).Status(); got.Version != 5 ||
			!slices.Equal(got.Params, before.Params) || !got.Writable {
			t.Errorf("after a restart %+v, want version 5", got)
		}
	})
}

func TestPowerLoss(t *testing.T) {
	rounds := 80
	if testing.Short() {
		rounds = 20
	}
	for seed := range rounds {
		rng := rand.New(rand.NewPCG(uint64(seed), 5))
		d := faultdisk.New()
		acknowledged := map[[2]int]float64{}
		version, params := uint64(0), []Param(nil)
		for range 3 {
			c := Config{Rule: Paper(0.05), SnapshotEvery: 1 + rng.IntN(9)}
			all, m := small()
			left := 10 + rng.IntN(120)
			d.Fail(func(faultdisk.Op) error {
				if left--; left < 0 {
					return faultdisk.ErrPower
				}
				return nil
			})
			s, err := Open(m, all, d, c)
			for err == nil {
				user, movie, rating := 1+rng.IntN(140), s.world.ratings.MovieID(rng.IntN(30)), 1+4*rng.Float64()
				var r Rated
				if r, err = s.Rate(context.Background(), user, movie, rating); err == nil {
					acknowledged[[2]int{user, movie}] = rating
					version, params = r.Version, s.Status().Params
				}
			}
			if s != nil {
				s.Close()
			}
			d.Fail(nil)
			d = d.Crash(rng)
			s = service(t, d, c)
			st := s.Status()
			if st.Version < version || st.Version == version && params != nil && !slices.Equal(st.Params, params) {
				t.Fatalf("seed %d: version %d with %v, acknowledged %d with %v", seed, st.Version, st.Params, version, params)
			}
			missing := 0
			for key, want := range acknowledged {
				n := s.world.position[key[1]]
				if got, ok := s.profile(key[0]).of(n); !ok || got != want {
					missing++
				}
			}
			if missing > int(st.Version-version) { // one that was not acknowledged may have replaced another
				t.Fatalf("seed %d: %d acknowledged ratings are gone", seed, missing)
			}
			version, params = st.Version, st.Params
			for key := range acknowledged {
				acknowledged[key], _ = s.profile(key[0]).of(s.world.position[key[1]])
			}
			s.Close()
			d = d.Crash(nil)
		}
	}
}

func FuzzRecord(f *testing.F) {
	f.Add((&record{user: 1, movie: 2, rating: 3}).appendTo(nil))
	f.Add((&record{
		user: 1, movie: 2, rating: 3.5, learned: true, event: eventFell, mean: 3, online: 1, base: 2, z: []float32{1, 2},
		params: []float32{3},
	}).appendTo(nil))
	f.Add((&record{kind: kindItem, movie: 2, name: "sku 2", title: "Kettle"}).appendTo(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := parseRecord(b)
		if err != nil {
			return
		}
		if got := r.appendTo(nil); !slices.Equal(got, b) {
			t.Errorf("%x comes back as %x", b, got)
		}
	})
}

func TestSlowDisk(t *testing.T) {
	d := faultdisk.New()
	s := service(t, d, Config{Rule: Paper(0.01), queue: 2})
	entered, release := make(chan struct{}, 10), make(chan struct{})
	d.Fail(func(op faultdisk.Op) error {
		if op.Kind == "sync" {
			entered <- struct{}{}
			<-release
		}
		return nil
	})
	answers := make(chan error, 3)
	send := func(movie int) {
		_, err := s.Rate(context.Background(), 1, movie, 2)
		answers <- err
	}
	go send(10)
	<-entered // the writer waits for the disk
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := s.Rate(ctx, 1, 20, 2); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want %v", err, context.Canceled)
	}
	if _, err := s.Rate(ctx, 1, 30, 2); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want %v", err, context.Canceled)
	}
	if _, err := s.Rate(context.Background(), 1, 40, 2); !errors.Is(err, ErrBusy) || s.Waiting() != 2 {
		t.Errorf("%v with %d waiting, want %v", err, s.Waiting(), ErrBusy)
	}
	if got := s.Status().Version; got != 0 {
		t.Errorf("version %d is served before it is on the disk", got)
	}
	close(release)
	if err := <-answers; err != nil {
		t.Error(err)
	}
	for began := time.Now(); s.Waiting() > 0; runtime.Gosched() { // the writer takes them as soon as it can
		if time.Since(began) > time.Minute {
			t.Fatalf("%d ratings still wait", s.Waiting())
		}
	}
	rate(t, s, 1, 50, 2)
	if got := s.Status().Version; got != 4 {
		t.Errorf("version %d, want 4: what waits is kept even if nobody waits for the answer", got)
	}
}
