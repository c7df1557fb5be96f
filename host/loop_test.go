package host_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/host"
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
		{"an asker that wants no answer", host.Env{}, func(o chan<- host.Order, _ chan<- *host.Line) { o <- host.Order{Event: host.Drop{ID: 1}} }},
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
		e := host.Env{World: &world{lines: make(chan *host.Line)}, Store: nowhere{}}
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

// nowhere is a store that keeps nothing.
type nowhere struct{}

func (nowhere) Last() ([]byte, error) { return nil, nil }
func (nowhere) Write([]byte) error    { return nil }
