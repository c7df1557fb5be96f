package host_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/rule"
)

// What those around a host do wrong neither blocks its loop nor ends it: closed channels,
// askers that have gone, a world that says nothing. The next line is answered, and the
// context ends the loop.
func TestLoopGoesOn(t *testing.T) {
	closed, records := make(chan host.Order), make(chan host.Introduction)
	close(closed)
	close(records)
	for _, c := range []struct {
		name string
		env  host.Env
		say  func(orders chan<- host.Order, lines chan<- *host.Line)
	}{
		{"closed orders", host.Env{Orders: closed}, nil},
		{"closed records", host.Env{Records: records}, nil},
		{"an asker that has gone", host.Env{}, func(o chan<- host.Order, _ chan<- *host.Line) {
			o <- host.Order{Event: host.Drop{ID: 1}, Reply: make(chan error)}
		}},
		{"an asker that wants no answer", host.Env{}, func(o chan<- host.Order, _ chan<- *host.Line) {
			o <- host.Order{Event: host.Drop{ID: 1}}
		}},
		{"an order of nothing", host.Env{}, func(o chan<- host.Order, _ chan<- *host.Line) { o <- host.Order{} }},
		{"a line of nothing", host.Env{}, func(_ chan<- host.Order, l chan<- *host.Line) { l <- nil }},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				orders := make(chan host.Order)
				if c.env.Orders == nil {
					c.env.Orders = orders
				}
				w := &world{lines: make(chan *host.Line), answers: make(chan uint64, 1)}
				c.env.World = w
				h, err := host.New(host.Config{Run: "r", Nodes: []agent.NodeID{0}, Plan: newRing(t).plan, Cost: host.MSE}, c.env)
				check(t, err)
				ctx, cancel := context.WithCancel(t.Context())
				done := make(chan error, 1)
				go func() { done <- h.Run(ctx) }()
				if c.say != nil {
					c.say(orders, w.lines)
				}
				synctest.Wait()
				observe(w, 3)
				if got := answered(t, w); got != 3 {
					t.Errorf("answered step %d, want 3", got)
				}
				cancel()
				if err := <-done; !errors.Is(err, context.Canceled) {
					t.Errorf("Run ends with %v, want %v", err, context.Canceled)
				}
				if n := h.Report().Stats.RefusedRecords; n != 0 {
					t.Errorf("%d records were refused, want 0: there was none", n)
				}
			})
		})
	}
}

// Who makes a host and does not run it has nothing to clean up, and one that ran is not
// run again.
func TestRunOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := host.Config{Run: "r", Nodes: []agent.NodeID{0}, Plan: newRing(t).plan, Cost: host.MSE}
		e := host.Env{World: &world{lines: make(chan *host.Line)}, Store: new(memory)}
		_, err := host.New(c, e) // a goroutine of it would outlive the test, which fails then
		check(t, err)
		h, err := host.New(c, e)
		check(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := h.Run(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("Run ends with %v, want %v", err, context.Canceled)
		}
		if err := h.Run(t.Context()); err == nil {
			t.Error("Run, once more: got nil, want an error")
		}
	})
}

// A host that cannot keep which model it runs ends before the first step with it: nobody
// hears of that step, and no checkpoint is of it.
func TestChangeThatIsNotKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		full := errors.New("no space left on device")
		orders, store := make(chan host.Order), new(memory)
		w := &world{lines: make(chan *host.Line), answers: make(chan uint64, 9)}
		h, err := host.New(host.Config{Run: "r", Nodes: []agent.NodeID{0}, Plan: newRing(t).plan, Cost: host.MSE, Every: 1}, host.Env{
			World: w, Store: store, Orders: orders,
			OnChange: func(c *host.Changed) error {
				if c.Gone {
					return full
				}
				return nil
			},
		})
		check(t, err)
		done := make(chan error, 1)
		go func() { done <- h.Run(t.Context()) }()
		other := newRingOf(t, rule.Paper(true).Ungated()).plan
		for _, ev := range []host.Event{host.Arm{Change: &host.Change{ID: 1, Step: 2, Model: "another", Plan: other}}, host.Agree{ID: 1}} {
			reply := make(chan error, 1)
			orders <- host.Order{Event: ev, Reply: reply}
			check(t, <-reply)
		}
		for step := range uint64(3) {
			observe(w, step)
			time.Sleep(time.Second)
		}
		if err := <-done; !errors.Is(err, full) {
			t.Errorf("Run ends with %v, want %v", err, full)
		}
		if len(w.answers) != 2 {
			t.Errorf("%d steps were answered, want 2", len(w.answers))
		}
		if c, err := host.ReadCheckpoint(store.last); err != nil || c.Time > 1 || c.Model != "" {
			t.Errorf("got the checkpoint %+v, %v, want one of step 1 at most and of the model before", c, err)
		}
	})
}
