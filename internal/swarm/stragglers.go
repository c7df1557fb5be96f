package swarm

import (
	"context"
	"time"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/transport"
)

// standstill is after what time a world that nobody hears tries again.
const standstill = 10 * time.Millisecond

// show shows a sample to all hosts and returns those that were reached. In
// lockstep a world that reaches nobody stands still, for Patience at most: it
// would be over before a server is back.
func (s *Stage) show(ctx context.Context, sample graph.Sample) (map[transport.HostID]Port, error) {
	for began := time.Now(); ; {
		ports := s.Ports()
		for id, port := range ports {
			if err := port.Say(s.observe(sample, s.Hosts[id], s.told[id] != port)); err == nil {
				s.told[id] = port
			} else {
				delete(s.told, id)
				delete(ports, id)
			}
		}
		if len(ports) > 0 || s.Period > 0 || time.Since(began) > s.Patience {
			return ports, nil
		}
		wait := time.NewTimer(standstill)
		select {
		case <-wait.C:
		case <-ctx.Done():
			wait.Stop()
			return nil, ctx.Err()
		}
	}
}

// expected returns the hosts whose answers are waited for: not those that have
// been quiet, unless all are.
func (s *Stage) expected(ports map[transport.HostID]Port) map[transport.HostID]bool {
	list := map[transport.HostID]bool{}
	for id := range ports {
		if !s.quiet[id] {
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

// missed takes out those who have gone since they were shown the sample.
func (s *Stage) missed(waiting map[transport.HostID]bool) {
	ports := s.Ports()
	for id := range waiting {
		if ports[id] == nil {
			delete(waiting, id)
		}
	}
}

// remember notes who answered. Whoever did not may have missed the line, and is
// told all links the next time.
func (s *Stage) remember(ports map[transport.HostID]Port) {
	for id := range s.Hosts {
		if ports[id] != nil && s.answered(id) {
			delete(s.quiet, id)
			continue
		}
		delete(s.told, id)
		s.quiet[id] = ports[id] != nil // one that comes back begins anew
	}
}

// answered says whether all nodes of a host have answered in this step.
func (s *Stage) answered(id transport.HostID) bool {
	for _, node := range s.Hosts[id] {
		if !s.fresh[node] {
			return false
		}
	}
	return true
}
