package swarm

import (
	"fmt"
	"maps"
	"net"
	"slices"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/internal/box"
	"github.com/wdgnn/wdgnn/internal/keys"
	"github.com/wdgnn/wdgnn/transport"
)

// KeyPlan returns for whom keys are made: the hosts of a configuration. With a
// graph a host may hear those hosts only that have a node which one of its own
// has a link to; without one it may hear all.
func KeyPlan(c *box.Config, g *graph.Graph, servers []string, years int) (keys.Plan, error) {
	p := keys.Plan{Run: c.Run, Server: servers, Years: years}
	nodes := map[transport.HostID][]agent.NodeID{}
	for id, peer := range c.Hosts {
		list, err := host.ParseNodes(peer.Nodes)
		if err != nil {
			return p, fmt.Errorf("host %d: %w", id, err)
		}
		if g != nil && int(list[len(list)-1]) >= g.Nodes() {
			return p, fmt.Errorf("host %d has node %d, the graph has %d nodes", id, list[len(list)-1], g.Nodes())
		}
		nodes[id] = list
	}
	hears := Neighbours(g, nodes)
	for _, id := range slices.Sorted(maps.Keys(c.Hosts)) {
		h := keys.Host{ID: id, Hears: hears[id]}
		if name, _, err := net.SplitHostPort(c.Hosts[id].Address); err == nil && name != "" {
			h.Names = []string{name}
		}
		p.Hosts = append(p.Hosts, h)
	}
	return p, nil
}
