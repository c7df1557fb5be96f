package host

import (
	"fmt"
	"maps"
	"slices"

	"github.com/wdgnn/wdgnn/agent"
)

// naming makes names of sensors numbers.
func naming(names map[agent.NodeID]string) map[string]agent.NodeID {
	numbers := make(map[string]agent.NodeID, len(names))
	for node, name := range names {
		numbers[name] = node
	}
	return numbers
}

// checkNames reports names that stand for several nodes, or for none.
func (c *Config) checkNames(complain func(format string, args ...any)) {
	seen := map[string]agent.NodeID{}
	for _, node := range slices.Sorted(maps.Keys(c.Names)) {
		name := c.Names[node]
		switch other, twice := seen[name]; {
		case name == "":
			complain("node %d has an empty name; leave it out", node)
		case twice:
			complain("nodes %d and %d are both called %q", other, node, name)
		}
		seen[name] = node
	}
}

// find returns the place of the node that a line speaks of, and false if it is not
// here.
func (h *Machine) find(n *NodeLine) (i int, ok bool) {
	node := n.Node
	if n.Sensor != "" {
		if node, ok = h.numbers[n.Sensor]; !ok || n.Node != 0 && n.Node != node {
			return 0, false
		}
	}
	i, ok = h.index[node]
	return i, ok
}

// stranger says why a node that a line speaks of cannot be found.
func (h *Machine) stranger(n *NodeLine) string {
	node := n.Node
	if n.Sensor != "" {
		named, ok := h.numbers[n.Sensor]
		switch {
		case !ok:
			return fmt.Sprintf("no sensor is called %q; the model knows the names of its sensors, others go by the number of their node", n.Sensor)
		case n.Node != 0 && n.Node != named:
			return fmt.Sprintf("the sensor %q is node %d, not %d; leave one of them out", n.Sensor, named, n.Node)
		}
		node = named
	}
	return fmt.Sprintf("node %d is not one of host %d; look at hosts in the configuration", node, h.cfg.Host)
}
