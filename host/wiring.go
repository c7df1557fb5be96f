package host

import (
	"maps"
	"math"
	"slices"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/transport"
)

// patience is how many steps a host listens to another without a reason: robots
// come back. To begin to listen takes a bus a moment, in which the first row of a new
// neighbour may be lost and has to be asked for; to listen in vain costs some frames.
const patience = 25

// always, as the last step in which there was a reason, means that there will
// always be one.
const always = math.MaxUint64

// wire takes in what a line says of neighbours. Many worlds say the same in every
// line: who hears whom is computed only when it changed.
func (h *Machine) wire(l *Line) {
	changed := h.sought
	h.sought = false
	for k := range l.Nodes {
		n := &l.Nodes[k]
		if n.Links == nil && n.Near == nil {
			continue
		}
		i, ok := h.find(n)
		if !ok {
			continue
		}
		c := &h.cells[i]
		if n.Links != nil {
			other := c.say(links(*n.Links))
			c.wanted = c.wanted && !other
			h.remember(c.node.ID(), *n.Links, other)
			changed = other || changed
		}
		if n.Near != nil {
			changed = changed || !slices.Equal(n.Near, c.near)
			c.near = n.Near
		}
	}
	if changed {
		if len(h.members.known) > 0 {
			h.relink()
		}
		h.rewire()
	}
	if h.unlinked() && !h.warned["unlinked"] {
		h.warned["unlinked"] = true
		h.warn("nobody has said whom the nodes here hear, and each answers as if it were alone; "+
			`name neighbours in a line, {"node":3,"row":[0.5],"links":[4]}, or under links in the configuration`, "time", h.time)
	}
}

// remember keeps whom the world says that a node hears, for checkpoints: a world that said
// it once does not know that a box was started again. A weight that is no number, which
// nodes refuse to step with, must not keep all else from being written.
func (h *Machine) remember(node agent.NodeID, list []Link, changed bool) {
	if _, known := h.named[node]; known && !changed {
		return
	}
	h.named[node] = slices.DeleteFunc(slices.Clone(list), func(l Link) bool { return !mat.Finite(l.Weight) })
}

// rewireAgain gives nodes the links that the world said before the host was started again.
func (h *Machine) rewireAgain(said map[agent.NodeID][]Link) {
	for node, list := range said {
		if i, here := h.index[node]; here {
			h.cells[i].say(links(list))
			h.named[node] = list
		}
	}
	if len(h.members.known) > 0 {
		h.relink()
	}
}

// unlinked says whether nodes hear nobody because nobody has said whom: neither the world,
// by naming links, if only none, nor the configuration. Each then answers as if it were
// alone in the world, which is far worse and looks like an answer.
func (h *Machine) unlinked() bool {
	if h.opened == 0 || len(h.named) > 0 || h.cfg.Plan.Exchanges() == 0 || len(h.cells) == 1 && h.cfg.Directory == nil {
		return false
	}
	for i := range h.cells {
		if len(h.cells[i].links) > 0 {
			return false
		}
	}
	return true
}

// seek takes in a request by a node elsewhere for rows of one here that hears nobody there:
// links have a direction, or two worlds name different ones, as they do where a line was
// lost. Its rows are sent with those of the others from the next step on; to ask for
// each would hold everybody up, exchange by exchange.
func (h *Machine) seek(c *cell, by agent.NodeID) {
	if c.elsewhere || c.wanted {
		return
	}
	c.wanted, h.sought = true, true
	h.info("a node here is heard by one that it does not hear: its rows are sent from now on", "node", c.node.ID(), "heard_by", by)
}

// rewire computes who hears whom from the neighbours of all nodes: which nodes here
// hear a node (hearers), which nodes are elsewhere (outside), and the hosts that the
// bus must hear for them. Nodes that are near are listened to and not waited for:
// they will be neighbours soon, and are then heard from their first row on. So are
// newcomers.
//
// What is known of a host that is listened to no longer is forgotten with it. Its
// frames go on meanwhile; the gap in their numbers would count as a loss.
func (h *Machine) rewire() {
	h.rewired, h.edge = true, h.edge[:0]
	for node, list := range h.hearers {
		h.hearers[node] = list[:0]
	}
	wanted := false // somebody new is to be heard
	for i := range h.cells {
		c := &h.cells[i]
		c.elsewhere = c.wanted && len(c.links) > 0 // who hears nobody says nothing
		for _, l := range c.links {
			h.hearers[l.Node] = append(h.hearers[l.Node], i)
			if _, here := h.index[l.Node]; !here {
				c.elsewhere = true
				wanted = h.want(l.Node) || wanted
			}
		}
		if c.added != nil && len(c.added.pending) > 0 {
			c.elsewhere = len(c.links) > 0 // they need rows of this node to come so far as to be heard
			for _, node := range c.added.pending {
				wanted = h.want(node) || wanted
			}
		}
		if c.elsewhere {
			h.edge = append(h.edge, i)
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
	slices.Sort(h.outside)
	if h.cfg.Directory == nil {
		return
	}
	for host, last := range h.hears {
		if last != always && last+patience < h.time {
			delete(h.hears, host)
			delete(h.spoke, host)
			wanted = true
		}
	}
	if h.around = h.Hears(); wanted {
		h.actions.Hear = h.around
	}
}

// want notes that the host of node must be heard, and says whether it was not. A
// neighbour that nobody runs is counted, and given up like one that is silent.
func (h *Machine) want(node agent.NodeID) bool {
	owner, ok := h.cfg.Directory.Owner(node)
	if _, here := h.index[node]; here || ok && owner == h.cfg.Host {
		return false
	}
	if !ok {
		h.stats.UnknownNeighbours++
		h.doubt("a node here hears one that no host runs; compare links and hosts with the files of all boxes", "node", node)
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
