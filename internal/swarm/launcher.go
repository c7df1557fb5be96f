package swarm

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/wdgnn/wdgnn/internal/host"
	"github.com/wdgnn/wdgnn/transport"
)

// Crew is the hosts of a swarm, however they run.
type Crew interface {
	// Start starts a host, Kill ends it without warning. A host may be
	// started again.
	Start(id transport.HostID) error
	Kill(id transport.HostID) error

	// Ports returns how to reach the hosts that hear their world. Running
	// returns how many there are, with those that are still starting.
	Ports() map[transport.HostID]Port
	Running() int

	// PIDs returns the operating system's numbers of processes by host.
	PIDs() map[transport.HostID]int

	// Close ends the world of all hosts and waits for them, at most so long.
	Close(wait time.Duration) error
}

// threads is a Crew of goroutines.
type threads struct {
	*Local
	ctx     context.Context
	prepare func(id transport.HostID) (host.Config, error)
	reports chan<- *host.Report

	mu   sync.Mutex
	stop map[transport.HostID]func() // ends the host and waits
}

// Start implements [Crew].
func (t *threads) Start(id transport.HostID) error {
	c, err := t.prepare(id)
	if err != nil {
		return err
	}
	done := make(chan struct{})
	c.OnReport = func(r *host.Report) {
		select {
		case t.reports <- r:
		default:
		}
		if r.Final {
			close(done)
		}
	}
	ctx, cancel := context.WithCancel(t.ctx)
	release := func() {
		cancel()
		c.Bus.Close()
		if disk, ok := c.Disk.(io.Closer); ok {
			disk.Close() // the next one wants its lock
		}
	}
	if _, err := t.Local.Start(ctx, c); err != nil {
		release()
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stop == nil {
		t.stop = map[transport.HostID]func(){}
	}
	t.stop[id] = func() {
		cancel()
		<-done
		release()
	}
	return nil
}

// Kill implements [Crew] and waits until the host is gone. A goroutine can only
// be asked: unlike a process it leaves a last checkpoint.
func (t *threads) Kill(id transport.HostID) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	stop := t.stop[id]
	if stop == nil {
		return fmt.Errorf("swarm: host %d is not running", id)
	}
	stop()
	delete(t.stop, id)
	return nil
}

// Running implements [Crew].
func (t *threads) Running() int { return len(t.Ports()) }

// PIDs implements [Crew]: there are none.
func (t *threads) PIDs() map[transport.HostID]int { return nil }

// Close implements [Crew].
func (t *threads) Close(time.Duration) error {
	err := t.Local.Close()
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, stop := range t.stop {
		stop()
	}
	return err
}

// programs is a Crew of processes that hear the world over NATS.
type programs struct {
	*Processes
	*subjects
}

// Ports implements [Crew].
func (p *programs) Ports() map[transport.HostID]Port {
	ports := p.Processes.Ports()
	for id := range ports {
		ports[id] = p.port(id)
	}
	return ports
}

// Close implements [Crew].
func (p *programs) Close(wait time.Duration) error {
	ports := p.Ports()
	for _, port := range ports {
		_ = port.Say(&host.Line{End: true}) // a host that does not hear it is killed below
	}
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	_ = p.flush(ctx)
	err := p.Processes.Close(wait)
	p.await(ports)
	p.subjects.close()
	return err
}
