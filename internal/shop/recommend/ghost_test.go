package recommend

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/internal/journal/faultdisk"
	"github.com/wdgnn/wdgnn/internal/shop/dataset"
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
