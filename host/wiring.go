package host

import (
	"maps"
	"math"
	"slices"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/transport"
)

// patience is how many steps a host listens to another without a reason: robots
// come back.
const patience = 25

// always, as the last step in which there was a reason, means that there will
// always be one.
const always = math.MaxUint64

// wire takes in what a line says of neighbours.
func (h *Machine) wire(l *Line) {
	changed := false
	for k := range l.Nodes {
		n := &l.Nodes[k]
		i, ok := h.index[n.Node]
		if !ok || n.Links == nil && n.Near == nil {
			continue
		}
		c := &h.cells[i]
		if n.Links != nil {
			list := links(*n.Links)
			changed = changed || !slices.Equal(list, c.links)
			c.links = list
		}
		if n.Near != nil {
			changed = changed || !slices.Equal(n.Near, c.near)
			c.near = n.Near
		}
	}
	if changed {
		h.rewire()
	}
}

// rewire computes who hears whom from the neighbours of all nodes.
func (h *Machine) rewire() {
	for node, list := range h.hearers {
		h.hearers[node] = list[:0]
	}
	wanted := false // somebody new is to be heard
	for i := range h.cells {
		c := &h.cells[i]
		c.elsewhere = false
		for _, l := range c.links {
			h.hearers[l.Node] = append(h.hearers[l.Node], i)
			if _, here := h.index[l.Node]; !here {
				c.elsewhere = true
				wanted = h.want(l.Node) || wanted
			}
		}
		for _, node := range c.near {
			wanted = h.want(node) || wanted
		}
	}
	h.outside = h.outside[:0]
	for node, list := range h.hearers {
		if len(list) == 0 {
			delete(h.hearers, node)
		} else if _, here := h.index[node]; !here {
			h.outside = append(h.outside, node)
		}
	}
	if h.cfg.Directory == nil {
		return
	}
	for host, last := range h.hears {
		if last != always && last+patience < h.time {
			delete(h.hears, host)
			delete(h.spoke, host) // what it says until it is heard again is not lost
			wanted = true
		}
	}
	if h.around = h.Hears(); wanted {
		h.actions.Hear = h.around
	}
}

// want notes that the host of node must be heard, and says whether it was not.
func (h *Machine) want(node agent.NodeID) bool {
	if h.cfg.Directory == nil {
		return false
	}
	owner, ok := h.cfg.Directory.Owner(node)
	if !ok {
		h.stats.UnknownNeighbours++
		return false
	}
	if owner == h.cfg.Host {
		return false
	}
	last, heard := h.hears[owner]
	if last != always {
		h.hears[owner] = h.time
	}
	return !heard
}

// Hears returns the hosts that the bus must hear.
func (h *Machine) Hears() []transport.HostID {
	list := slices.AppendSeq(make([]transport.HostID, 0, len(h.hears)), maps.Keys(h.hears))
	slices.Sort(list)
	return list
}
