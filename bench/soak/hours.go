//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/wdgnn/wdgnn/random"
)

// Soak is what deployments live through side by side, fault after fault.
type Soak struct {
	Meta
	Seconds  float64            `json:"seconds"`
	Faults   []*Run             `json:"faults"`   // without accounts
	Accounts map[string]Account `json:"accounts"` // by bus; those of processes that are gone, until the end
	Samples  []*Sample          `json:"samples"`
	Failed   string             `json:"failed,omitempty"`
}

const (
	sampleEvery = 10 * time.Second

	// Between two faults are so many seconds, at least and at most.
	restLeast, restMost = 5, 25
)

// soak lets faults happen to a deployment over every bus for so long, and calls done
// now and then with what is known. A fault that is under way at the end takes its time, and
// boxes have theirs to be together again: worlds do not end while somebody stands still.
func soak(ctx context.Context, f *field, o *options, s *Soak, done func() error) error {
	span, cancel := context.WithTimeout(ctx, o.span)
	defer cancel()
	s.Accounts = map[string]Account{}
	began := time.Now()
	var mu sync.Mutex
	note := func(change func()) error {
		mu.Lock()
		defer mu.Unlock()
		change()
		s.Seconds = time.Since(began).Seconds()
		return done()
	}
	errs := make([]error, len(o.buses))
	var all sync.WaitGroup
	for k, bus := range o.buses {
		all.Go(func() {
			st := setting{Bus: bus, Pace: o.paces[(k+int(o.seed%2))%len(o.paces)], Boxes: o.boxes, Rate: o.rate}
			y, err := deploy(ctx, f, st, filepath.Join(o.dir, "soak-"+bus), 200+k, o.seed)
			if err != nil {
				errs[k] = err
				return
			}
			defer y.net.close()
			var samples sync.WaitGroup
			samples.Go(func() {
				y.samples(span, began, func(m *Sample) error { return note(func() { s.Samples = append(s.Samples, m) }) })
			})
			errs[k] = y.live(ctx, span, o, func(r *Run) error { return note(func() { s.Faults = append(s.Faults, r) }) })
			samples.Wait()
			account, err := y.stop()
			errs[k] = errors.Join(errs[k], err, y.clear(), note(func() { s.Accounts[bus] = account }))
		})
	}
	all.Wait()
	err := errors.Join(errs...)
	if err != nil {
		s.Failed = err.Error()
	}
	return errors.Join(err, note(func() {}))
}

// samples looks at a deployment now and then, until ctx ends.
func (y *yard) samples(ctx context.Context, began time.Time, note func(*Sample) error) {
	for pause(ctx, sampleEvery); ctx.Err() == nil; pause(ctx, sampleEvery) {
		if err := note(y.sample(began)); err != nil {
			y.boxes[0].fail(err)
			return
		}
	}
}

// live lets fault after fault happen until span ends, which ctx cuts short. The first box
// is never killed, so that what it loses shows.
func (y *yard) live(ctx, span context.Context, o *options, note func(*Run) error) error {
	if _, why, _ := y.heal(ctx, y.began); why != "" && ctx.Err() == nil {
		return fmt.Errorf("%s: before any fault: %s", y.Bus, why)
	}
	possible := kindsFor(y.Bus, len(y.disks) == y.Boxes, o.only)
	for n := 0; ; n++ {
		rng := random.Stream(o.seed, "soak "+y.Bus, n)
		pause(span, time.Duration((restLeast+rng.Float64()*(restMost-restLeast))*float64(time.Second)))
		if span.Err() != nil {
			return nil
		}
		k := &possible[rng.IntN(len(possible))]
		r := &Run{Number: n, setting: y.setting, Fault: *k.draw(rng, y, 1)}
		over, err := y.suffer(ctx, k, &r.Fault)
		if err != nil {
			r.Failed = err.Error()
		}
		r.Healed, r.Why, r.Last = y.heal(ctx, over)
		if ctx.Err() != nil {
			return nil // it was cut off: no verdict
		}
		if err := note(r); err != nil {
			return err
		}
	}
}
