//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/wdgnn/wdgnn/random"
)

// Run is one deployment that met one fault.
type Run struct {
	Number int `json:"number"`
	setting
	Fault
	Healed float64 `json:"healed"`         // seconds from the end of the fault until all were together
	Why    string  `json:"why,omitempty"`  // they were not
	Last   string  `json:"last,omitempty"` // what was amiss until then
	Account
	Failed string `json:"failed,omitempty"` // what else went wrong
}

// ok says whether the run held what is promised.
func (r *Run) ok() bool {
	return r.Why == "" && r.Failed == "" && r.Healed <= healWithin.Seconds() && r.Account.ok()
}

// Runs are many of them.
type Runs struct {
	Meta
	List []*Run `json:"list"`
}

// calm is how long boxes work before a fault and after it, at most and in seconds.
const calm = 3

// runs does so many runs, over the given buses in turn, and calls done after each, one
// at a time.
func runs(ctx context.Context, f *field, o *options, done func(*Run) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	numbers := make(chan int)
	var mu sync.Mutex
	var errs []error
	var jobs sync.WaitGroup
	for range o.jobs {
		jobs.Go(func() {
			for n := range numbers {
				run, err := oneRun(ctx, f, o, n)
				mu.Lock()
				if err == nil && ctx.Err() == nil {
					err = done(run)
				}
				if err != nil && ctx.Err() == nil {
					errs = append(errs, fmt.Errorf("run %d: %w", n, err))
					cancel()
				}
				mu.Unlock()
			}
		})
	}
	for n := o.from; n < o.from+o.runs && ctx.Err() == nil; n++ {
		select {
		case numbers <- n:
		case <-ctx.Done():
		}
	}
	close(numbers)
	jobs.Wait()
	return errors.Join(errs...)
}

// oneRun deploys boxes, lets one fault happen and closes the books.
func oneRun(ctx context.Context, f *field, o *options, n int) (*Run, error) {
	rng := random.Stream(o.seed, "run", n)
	bus := o.buses[n%len(o.buses)]
	pace := o.paces[n/len(o.buses)%len(o.paces)]
	r := &Run{Number: n, setting: setting{Bus: bus, Pace: pace, Boxes: o.boxes, Rate: o.rate}}
	y, err := deploy(ctx, f, r.setting, filepath.Join(o.dir, fmt.Sprintf("run-%d", n)), n, o.seed)
	if err != nil {
		return nil, err
	}
	defer y.net.close()
	possible := kindsFor(bus, len(y.disks) == y.Boxes, o.only)
	k := &possible[n/len(o.buses)/len(o.paces)%len(possible)]
	r.Fault = *k.draw(rng, y, 0)
	if o.seconds > 0 {
		r.Seconds = o.seconds
	}
	if _, r.Why, _ = y.heal(ctx, y.began); r.Why == "" {
		pause(ctx, time.Duration(rng.Float64()*calm*float64(time.Second)))
		over, err := y.suffer(ctx, k, &r.Fault)
		if err != nil {
			r.Failed = err.Error()
		}
		r.Healed, r.Why, r.Last = y.heal(ctx, over)
	} else {
		r.Why = "before the fault: " + r.Why
	}
	r.Account, err = y.stop()
	if err != nil {
		r.Failed += err.Error()
	}
	if err := y.clear(); err != nil {
		return nil, err
	}
	if r.ok() {
		return r, os.RemoveAll(y.dir)
	}
	return r, nil
}

// deploy makes and starts a deployment on a network of its own.
func deploy(ctx context.Context, f *field, s setting, dir string, number int, seed uint64) (*yard, error) {
	if err := os.RemoveAll(dir); err != nil { // of an earlier soak
		return nil, err
	}
	n, err := newNetwork(number, s.Boxes+1)
	if err != nil {
		return nil, err
	}
	y, err := newYard(ctx, f, s, dir, n)
	if err != nil {
		n.close()
		return nil, err
	}
	if err := y.start(ctx, seed); err != nil {
		_, _ = y.stop() // the error before is the one that matters
		_ = y.clear()
		n.close()
		return nil, err
	}
	return y, nil
}

// newNetwork returns a network of namespaces, or of proxies where there are none.
func newNetwork(number, machines int) (network, error) {
	if os.Geteuid() == 0 {
		if n, err := newSpaces(number, machines); err == nil {
			return n, nil
		}
	}
	return newProxies(), nil
}

// pause waits, unless ctx ends.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
