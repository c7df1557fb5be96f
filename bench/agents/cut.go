package agents

import (
	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/transport"
)

// cutEdges returns how many links of g join nodes of different hosts.
func cutEdges(g *graph.Graph, hosts map[transport.HostID][]agent.NodeID) int {
	owner := make([]transport.HostID, g.Nodes())
	for h, nodes := range hosts {
		for _, i := range nodes {
			owner[i] = h
		}
	}
	cut := 0
	for i := range owner {
		for _, j := range g.Neighbors(i) {
			if owner[i] != owner[j] {
				cut++
			}
		}
	}
	return cut / 2
}
