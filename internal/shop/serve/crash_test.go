package serve

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/internal/journal/faultdisk"
	"github.com/wdgnn/wdgnn/internal/shop/dataset"
	"github.com/wdgnn/wdgnn/internal/shop/movies"
	"github.com/wdgnn/wdgnn/internal/shop/recommend"
)

// given is a rating that a client sent.
type given struct {
	user, movie int
	rating      float64
}

// history is what clients know.
type history struct {
	mutex  sync.Mutex
	acked  map[uint64]given // by version
	flying []given          // sent and not acknowledged when the service was killed
}

// load sends ratings until the service is gone, one client per seed. Every
// client has users of its own, new ones among them.
func (h *history) load(p *process, ids []int, seed uint64, clients int) {
	var wait sync.WaitGroup
	for c := range clients {
		wait.Go(func() {
			rng := rand.New(rand.NewPCG(seed, uint64(c)))
			for {
				g := given{1 + c + clients*rng.IntN(60), ids[rng.IntN(len(ids))], 1 + float64(rng.IntN(4_000_000))/1e6}
				out, ok := p.rate(g.user, g.movie, g.rating)
				h.mutex.Lock()
				if !ok {
					h.flying = append(h.flying, g)
					h.mutex.Unlock()
					return
				}
				h.acked[out.Version] = g
				h.mutex.Unlock()
			}
		})
	}
	wait.Wait()
}

// sure returns the ratings up to a version in their order, if that is the
// version of a service that was found after a crash: the versions that nobody
// acknowledged must be ratings that were in flight, in some order.
func (h *history) orders(version uint64) ([][]given, error) {
	list, open := make([]given, version), []int{}
	for v := uint64(1); v <= version; v++ {
		if g, ok := h.acked[v]; ok {
			list[v-1] = g
		} else {
			open = append(open, int(v-1))
		}
	}
	if len(open) > len(h.flying) {
		return nil, fmt.Errorf("%d versions nobody sent, %d ratings were in flight", len(open), len(h.flying))
	}
	for v := range h.acked {
		if v > version {
			return nil, fmt.Errorf("version %d was acknowledged, the service has %d", v, version)
		}
	}
	var orders [][]given
	var fill func(k int, left []given)
	fill = func(k int, left []given) {
		if k == len(open) {
			orders = append(orders, slices.Clone(list))
			return
		}
		for i, g := range left {
			list[open[k]] = g
			fill(k+1, append(slices.Clone(left[:i]), left[i+1:]...))
		}
	}
	fill(0, h.flying)
	return orders, nil
}

// The real program is killed at random moments under load and started again:
// every acknowledged rating is there, and its parameters are, bit for bit,
// those of a service in this process that got the same ratings in the same
// order and was never disturbed.
func TestKill(t *testing.T) {
	rounds := 12
	if testing.Short() {
		rounds = 2
	}
	data := written(t, 100, 40)
	all, err := dataset.Load(data)
	if err != nil {
		t.Fatal(err)
	}
	_, model := small()
	folder := t.TempDir()
	path := filepath.Join(folder, "model.safetensors")
	if err := recommend.Save(path, model, "test"); err != nil {
		t.Fatal(err)
	}
	var ids []int
	for _, n := range all.Top(model.Setting.Movies) {
		ids = append(ids, all.MovieID(n))
	}
	state := filepath.Join(folder, "state")
	h := &history{acked: map[uint64]given{}}
	rng := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 1)) // any moment will do
	for round := range rounds {
		p := launch(t, "--data", data, "--model", path, "--state", state,
			"--snapshot-every", "40", "--guard-window", "30", "--step-size", "0.05", "--user-burst", "1000000")
		if round > 0 {
			check(t, p, h, model, all)
		}
		moment := time.Duration(20+rng.IntN(150)) * time.Millisecond
		timer := time.AfterFunc(moment, func() { _ = p.command.Process.Kill() })
		h.load(p, ids, uint64(round), 1+round%3)
		timer.Stop()
		<-p.ended
	}
	p := launch(t, "--data", data, "--model", path, "--state", state, "--guard-window", "30", "--step-size", "0.05", "--user-burst", "1000000")
	check(t, p, h, model, all)
	t.Logf("%d kills, %d acknowledged ratings", rounds, len(h.acked))
	if err := p.command.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := <-p.ended; err != nil {
		t.Errorf("after SIGTERM: %v\n%s", err, p.log)
	}
	if names, err := os.ReadDir(state); err != nil || len(names) > 2+3+1 {
		t.Errorf("%v, %v is left; want two snapshots, a few logs and a lock", names, err)
	}
}

// check compares a service that was started again with an undisturbed one.
func check(t *testing.T, p *process, h *history, m *recommend.Model, all *movies.Ratings) {
	t.Helper()
	var got recommend.Status
	p.get(t, "/v1/model", &got)
	orders, err := h.orders(got.Version)
	if err != nil {
		t.Fatalf("%v\n%s", err, p.log)
	}
	for _, order := range orders {
		want, err := undisturbed(m, all, order)
		if err != nil {
			t.Fatal(err)
		}
		same := slices.Equal(want.status.Params, got.Params) && want.status.Window == got.Window && want.status.Users == got.Users
		if !same || !sameRatings(t, p, want.ratings) {
			continue
		}
		for v, g := range order { // what was in flight and is there counts from now on
			h.acked[uint64(v)+1] = g
		}
		h.flying = nil
		return
	}
	t.Fatalf("version %d: parameters %v, or the ratings, fit none of %d orders of what was sent\n%s",
		got.Version, got.Params, len(orders), p.log)
}

// sameRatings says whether users have these ratings. Of two first ratings of new
// users that were in flight, from which nobody learns, only this tells which is
// there.
func sameRatings(t *testing.T, p *process, want map[int][]recommend.RatedMovie) bool {
	t.Helper()
	for user, ratings := range want {
		var have struct {
			Ratings []recommend.RatedMovie `json:"ratings"`
		}
		p.get(t, fmt.Sprintf("/v1/users/%d/ratings", user), &have)
		if !slices.Equal(have.Ratings, ratings) {
			return false
		}
	}
	return true
}

// outcome is what a service came to.
type outcome struct {
	status  recommend.Status
	ratings map[int][]recommend.RatedMovie
}

// undisturbed gives ratings to a service in this process.
func undisturbed(m *recommend.Model, all *movies.Ratings, list []given) (out outcome, err error) {
	s, err := recommend.Open(m, all, faultdisk.New(), recommend.Config{
		Rule: recommend.Paper(0.05), Guard: recommend.GuardConfig{Window: 30},
		Limit: recommend.LimitConfig{Burst: 1_000_000}, SnapshotEvery: 1 << 30,
	})
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	out.ratings = map[int][]recommend.RatedMovie{}
	for _, g := range list {
		if _, err := s.Rate(context.Background(), g.user, g.movie, g.rating); err != nil {
			return out, err
		}
		out.ratings[g.user] = nil
	}
	for user := range out.ratings {
		if out.ratings[user], err = s.Ratings(user); err != nil {
			return out, err
		}
	}
	out.status = s.Status()
	return out, nil
}
