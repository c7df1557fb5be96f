package swarm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/internal/box"
	"github.com/wdgnn/wdgnn/transport"
)

// goroutines is a launcher of hosts that run in this process, each in a
// goroutine of its own.
type goroutines struct {
	ctx     context.Context
	open    func(transport.HostID, host.World) (*box.Box, error)
	answers chan *host.Answer

	mu    sync.Mutex
	hosts map[transport.HostID]*goroutine // that were started and not killed
}

// goroutine is one host, and the world that it hears.
type goroutine struct {
	lines   chan *host.Line
	answers chan<- *host.Answer
	stop    context.CancelFunc
	box     *box.Box
	done    chan struct{}
	err     error // how it ended; valid once done is closed
}

// start implements [launcher].
func (g *goroutines) start(id transport.HostID) error {
	r := &goroutine{lines: make(chan *host.Line, 4), answers: g.answers, done: make(chan struct{})}
	var err error
	if r.box, err = g.open(id, r); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(g.ctx)
	r.stop = stop
	g.mu.Lock()
	g.hosts[id] = r
	g.mu.Unlock()
	go func() {
		defer close(r.done)
		if err := r.box.Serve(ctx); ctx.Err() == nil {
			r.err = err
		}
	}()
	return nil
}

// kill implements [launcher] and waits until the host is gone. A goroutine can
// only be asked: unlike a process it leaves a last checkpoint.
func (g *goroutines) kill(id transport.HostID) error {
	g.mu.Lock()
	r := g.hosts[id]
	delete(g.hosts, id)
	g.mu.Unlock()
	if r == nil {
		return fmt.Errorf("swarm: host %d is not running", id)
	}
	r.stop()
	<-r.done
	return r.box.Close() // the next one wants its lock
}

// ports implements [launcher].
func (g *goroutines) ports() map[transport.HostID]port {
	g.mu.Lock()
	defer g.mu.Unlock()
	ports := make(map[transport.HostID]port, len(g.hosts))
	for id, r := range g.hosts {
		select {
		case <-r.done:
		default:
			ports[id] = r
		}
	}
	return ports
}

// running implements [launcher].
func (g *goroutines) running() int { return len(g.ports()) }

// pids implements [launcher]: there are none.
func (g *goroutines) pids() map[transport.HostID]int { return nil }

// close implements [launcher]. Goroutines cannot be ended by force: it waits for
// as long as they take.
func (g *goroutines) close(time.Duration) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, r := range g.hosts {
		close(r.lines)
	}
	var errs []error
	for _, r := range g.hosts {
		<-r.done
		errs = append(errs, r.err)
	}
	for _, r := range g.hosts { // when all have ended: some may wait for the last frames of others
		r.stop()
		errs = append(errs, r.box.Close())
	}
	return errors.Join(errs...)
}

// Lines implements [host.World].
func (r *goroutine) Lines() <-chan *host.Line { return r.lines }

// Act implements [host.World].
func (r *goroutine) Act(a *host.Answer) error {
	c := &host.Answer{Host: a.Host, Time: a.Time, Outputs: slices.Clone(a.Outputs)}
	for k := range c.Outputs {
		c.Outputs[k].Value = slices.Clone(c.Outputs[k].Value)
	}
	select {
	case r.answers <- c:
		return nil
	default:
		return errors.New("swarm: the simulator is busy")
	}
}

// send implements [port].
func (r *goroutine) send(l *host.Line) error {
	select {
	case r.lines <- l:
		return nil
	case <-r.done:
		return errors.New("swarm: the host is gone")
	}
}
