package swarm

import (
	"context"
	"time"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/transport"
)

// retryDelay is after what time a world that nobody hears tries again.
const retryDelay = 10 * time.Millisecond

// observeAll sends a sample to all hosts and returns those that were reached. In
// lockstep a world that reaches nobody tries again, until timeout: it would be
// over before a server is back.
func (s *simulator) observeAll(ctx context.Context, sample graph.Sample) (map[transport.HostID]port, error) {
	for began := time.Now(); ; {
		ports := s.ports()
		for id, port := range ports {
			if err := port.send(s.observe(sample, s.hosts[id], s.synced[id] != port)); err == nil {
				s.synced[id] = port
			} else {
				delete(s.synced, id)
				delete(ports, id)
			}
		}
		if len(ports) > 0 || s.period > 0 || time.Since(began) > s.timeout {
			return ports, nil
		}
		wait := time.NewTimer(retryDelay)
		select {
		case <-wait.C:
		case <-ctx.Done():
			wait.Stop()
			return nil, ctx.Err()
		}
	}
}

// expected returns the hosts whose answers are waited for: all but stragglers,
// or all if every one is a straggler.
func (s *simulator) expected(ports map[transport.HostID]port) map[transport.HostID]bool {
	list := map[transport.HostID]bool{}
	for id := range ports {
		if !s.stragglers[id] {
			list[id] = true
		}
	}
	if len(list) == 0 {
		for id := range ports {
			list[id] = true
		}
	}
	return list
}

// dropGone takes out those who have gone since they were shown the sample.
func (s *simulator) dropGone(waiting map[transport.HostID]bool) {
	ports := s.ports()
	for id := range waiting {
		if ports[id] == nil {
			delete(waiting, id)
		}
	}
}

// noteStragglers notes who answered. Whoever did not may have missed the line,
// and is sent all links the next time.
func (s *simulator) noteStragglers(ports map[transport.HostID]port) {
	for id := range s.hosts {
		if ports[id] != nil && s.answered(id) {
			delete(s.stragglers, id)
			continue
		}
		delete(s.synced, id)
		s.stragglers[id] = ports[id] != nil // one that comes back begins anew
	}
}

// answered says whether all nodes of a host have answered in this step.
func (s *simulator) answered(id transport.HostID) bool {
	for _, node := range s.hosts[id] {
		if !s.fresh[node] {
			return false
		}
	}
	return true
}
