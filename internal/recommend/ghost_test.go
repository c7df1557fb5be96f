package recommend

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/internal/dataset"
	"github.com/wdgnn/wdgnn/internal/journal"
	"github.com/wdgnn/wdgnn/internal/journal/faultdisk"
)

// A rating that waits behind the deletion of its user is the first of a new user of that
// name. Nobody who comes later finds it among their own.
func TestRatingBehindADeletion(t *testing.T) {
	var b strings.Builder
	rng := rand.New(rand.NewPCG(2, 2))
	for u := range 40 {
		for n := range 12 {
			if rng.IntN(3) > 0 {
				fmt.Fprintf(&b, "user %d,ware %d,%d\n", u, n, rng.IntN(11))
			}
		}
	}
	shop, err := dataset.ReadShop(strings.NewReader(b.String()), nil)
	if err != nil {
		t.Fatal(err)
	}
	setting := smallSetting().Scaled(0, 10)
	setting.Movies = 0
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	m, err := TrainShop(ctx, shop, setting, TrainConfig{Epochs: 2})
	if err != nil {
		t.Fatal(err)
	}
	d := faultdisk.New()
	s, err := OpenShop(m, shop, d, learning())
	if err != nil {
		t.Fatal(err)
	}
	as := func(user, ware string, rating float64) error {
		item, err := s.FindItem(ware)
		if err == nil {
			_, err = s.RateAs(ctx, user, item, rating)
		}
		return err
	}
	if err := as("Zoe", "ware 1", 7); err != nil {
		t.Fatal(err)
	}
	zoe, err := s.FindUser("Zoe")
	if err != nil {
		t.Fatal(err)
	}
	hold, held, done := make(chan struct{}), make(chan struct{}), make(chan error, 3)
	go func() { done <- s.ask(ctx, func() error { close(held); <-hold; return nil }) }()
	<-held // the writer is busy
	go func() { _, err := s.Forget(ctx, zoe); done <- err }()
	go func() { done <- as("Zoe", "ware 2", 9) }()
	for len(s.queue) == 0 && ctx.Err() == nil {
		time.Sleep(time.Millisecond)
	}
	close(hold)
	for range 3 {
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	s.Close()
	if s, err = OpenShop(m, shop, d.Crash(nil), learning()); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := as("Mallory", "ware 1", 3); err != nil {
		t.Fatal(err)
	}
	mallory, err := s.FindUser("Mallory")
	if err != nil {
		t.Fatal(err)
	}
	if list, err := s.Ratings(mallory); err != nil || len(list) != 1 {
		t.Errorf("got %+v (%v), want the one rating of the newcomer", list, err)
	}
}

// Who rated again what the data have, or between them, keeps every rating when another
// user is deleted, in a state of an earlier version too.
func TestForgetKeepsTheOthersOfEarlierStates(t *testing.T) {
	all, _ := small()
	m, err := Load("testdata/v1/model.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	c := Config{Rule: Whitened(0.02)}
	c.Rule.Window = 3
	s, err := Open(m, all, folder(t, "v2/windowed"), c)
	if err != nil {
		t.Fatal(err)
	}
	var users []int
	for u := 20; u < 120; u++ { // what is told between two movies has the rating of the next
		p := s.profile(u)
		for k := 1; p != nil && k < len(p.movie); k++ {
			if p.movie[k] > p.movie[k-1]+1 {
				id, _ := s.world.idOf(p.movie[k-1]+1, nil)
				rate(t, s, u, id, p.rating[k])
				users = append(users, u)
				break
			}
		}
	}
	st := stateOf(s)
	s.Close()
	st.Format, st.History, st.Items, st.Forgotten = 2, nil, nil, nil // as it was written then
	text, err := json.Marshal(st)
	if err != nil {
		t.Fatal(err)
	}
	d := faultdisk.New()
	j, _, err := journal.Open(d)
	if err == nil {
		err = j.WriteSnapshot(50, text)
	}
	if err != nil {
		t.Fatal(err)
	}
	j.Close()
	if s, err = Open(m, all, d, c); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	before := map[int][]RatedMovie{}
	for _, u := range users {
		before[u], _ = s.Ratings(u)
	}
	if _, err := s.Forget(t.Context(), 1); err != nil || len(users) == 0 {
		t.Fatal(err, len(users))
	}
	for _, u := range users {
		if now, _ := s.Ratings(u); !slices.Equal(now, before[u]) {
			t.Fatalf("user %d had rated %v and has %v", u, before[u], now)
		}
	}
}
