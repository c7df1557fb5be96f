package swarm

import (
	"slices"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/transport"
)

// Partition gives the nodes of g to hosts in shares of nearly the same size with
// few links between them: nodes are taken in the order of a breadth-first walk
// from a node at the rim, so that a share is a band of the graph.
func Partition(g *graph.Graph, hosts int) map[transport.HostID][]agent.NodeID {
	order := make([]int, 0, g.Nodes())
	seen, touched := make([]bool, g.Nodes()), make([]bool, g.Nodes())
	for start := range seen {
		if seen[start] {
			continue
		}
		reached := walk(g, start, touched, nil)
		order = walk(g, reached[len(reached)-1], seen, order)
	}
	m := make(map[transport.HostID][]agent.NodeID, hosts)
	n := len(order)
	for h := range hosts {
		var nodes []agent.NodeID
		for _, i := range order[n*h/hosts : n*(h+1)/hosts] {
			nodes = append(nodes, agent.NodeID(i))
		}
		slices.Sort(nodes)
		m[transport.HostID(h)] = nodes
	}
	return m
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

// walk appends the nodes that can be reached from start, nearest first.
func walk(g *graph.Graph, start int, seen []bool, order []int) []int {
	from := len(order)
	order, seen[start] = append(order, start), true
	for k := from; k < len(order); k++ {
		for _, j := range g.Neighbors(order[k]) {
			if !seen[j] {
				order, seen[j] = append(order, int(j)), true
			}
		}
	}
	return order
}

// Neighbours returns the hosts that each host may have to hear: those with a
// node that one of its own has a link to in g, all others if g is nil.
func Neighbours(g *graph.Graph, hosts map[transport.HostID][]agent.NodeID) map[transport.HostID][]transport.HostID {
	owner := map[agent.NodeID]transport.HostID{}
	for h, nodes := range hosts {
		for _, i := range nodes {
			owner[i] = h
		}
	}
	result := make(map[transport.HostID][]transport.HostID, len(hosts))
	for h, nodes := range hosts {
		found := map[transport.HostID]bool{}
		if g == nil {
			for other := range hosts {
				found[other] = true
			}
		} else {
			for _, i := range nodes {
				for _, j := range g.Neighbors(int(i)) {
					found[owner[agent.NodeID(j)]] = true
				}
			}
		}
		delete(found, h)
		list := make([]transport.HostID, 0, len(found))
		for other := range found {
			list = append(list, other)
		}
		slices.Sort(list)
		result[h] = list
	}
	return result
}
