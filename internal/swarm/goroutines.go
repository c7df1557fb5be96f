package swarm

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/internal/host"
	"github.com/wdgnn/wdgnn/transport"
)

// Local is hosts that run in this process, each in a goroutine of its own.
type Local struct {
	Answers chan *host.Answer

	mu    sync.Mutex
	ports map[transport.HostID]*localPort
	wait  sync.WaitGroup
	errs  []error
}

// NewLocal returns a swarm without hosts.
func NewLocal() *Local {
	return &Local{Answers: make(chan *host.Answer, 256), ports: map[transport.HostID]*localPort{}}
}

// localPort is the world of one host.
type localPort struct {
	lines   chan *host.Line
	answers chan<- *host.Answer
	done    chan struct{}
}

func (p *localPort) Lines() <-chan *host.Line { return p.lines }

// Act implements [host.World].
func (p *localPort) Act(a *host.Answer) error {
	c := &host.Answer{Host: a.Host, Time: a.Time, Outputs: slices.Clone(a.Outputs)}
	for k := range c.Outputs {
		c.Outputs[k].Value = slices.Clone(c.Outputs[k].Value)
	}
	select {
	case p.answers <- c:
		return nil
	default:
		return errors.New("swarm: the stage is busy")
	}
}

// Say implements [Port].
func (p *localPort) Say(l *host.Line) error {
	select {
	case p.lines <- l:
		return nil
	case <-p.done:
		return errors.New("swarm: the host is gone")
	}
}

// Start runs a host of the given configuration, whose World is set here. The
// host ends when ctx does, or when the swarm is closed.
func (s *Local) Start(ctx context.Context, c host.Config) (*host.Host, error) {
	p := &localPort{lines: make(chan *host.Line, 4), answers: s.Answers, done: make(chan struct{})}
	c.World = p
	h, err := host.New(c)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.ports[c.Host] = p
	s.mu.Unlock()
	s.wait.Go(func() {
		err := h.Run(ctx)
		close(p.done)
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.ports[c.Host] == p {
			delete(s.ports, c.Host)
		}
		if err != nil && ctx.Err() == nil {
			s.errs = append(s.errs, err)
		}
	})
	return h, nil
}

// Ports returns the ports of the hosts that run.
func (s *Local) Ports() map[transport.HostID]Port {
	s.mu.Lock()
	defer s.mu.Unlock()
	ports := make(map[transport.HostID]Port, len(s.ports))
	for id, p := range s.ports {
		ports[id] = p
	}
	return ports
}

// Close ends the world of all hosts and waits for them.
func (s *Local) Close() error {
	s.mu.Lock()
	for _, p := range s.ports {
		close(p.lines)
	}
	s.mu.Unlock()
	s.wait.Wait()
	return errors.Join(s.errs...)
}

// Divide gives n nodes to hosts in runs of nearly the same length.
func Divide(n, hosts int) map[transport.HostID][]agent.NodeID {
	m := make(map[transport.HostID][]agent.NodeID, hosts)
	for h := range hosts {
		for i := n * h / hosts; i < n*(h+1)/hosts; i++ {
			m[transport.HostID(h)] = append(m[transport.HostID(h)], agent.NodeID(i))
		}
	}
	return m
}
