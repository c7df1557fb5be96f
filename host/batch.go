package host

import (
	"cmp"
	"slices"

	"github.com/wdgnn/wdgnn/agent"
)

// Nodes that step together
//
// Most steps go well: every node has a row, and everybody elsewhere who is heard
// sends one. Then nodes here need no messages among each other, and an agent.Batch
// computes what all of them would, to the same bits. The frames are the same ones,
// and leave at the same moments: when all nodes that others hear have their rows.
// As soon as something is not as usual (a line without a row of each node, a
// neighbour that is given up, a row that is refused) nodes go on one by one from
// where they are, and may be together again in the next step.

// leastTogether is Config.Together if that is 0: a few nodes are as fast alone.
const leastTogether = 16

// gather prepares the nodes for steps together.
func (h *Machine) gather() {
	if least := cmp.Or(h.cfg.Together, leastTogether); least < 0 || len(h.cells) < least {
		return
	}
	nodes := make([]*agent.Node, len(h.cells))
	for i := range h.cells {
		nodes[i] = h.cells[i].node
	}
	if h.batch = agent.NewBatch(nodes); h.batch == nil {
		return
	}
	for i := range h.cells {
		h.cells[i].output = slices.Clip(h.batch.Output(i)) // where it is predicted
	}
}

// together says whether all nodes can begin a step with a line as one.
func (h *Machine) together(l *Line) bool {
	if h.batch == nil || len(l.Nodes) != len(h.cells) || len(h.silent) > 0 || len(h.others) > 0 || h.shut > 0 {
		return false
	}
	for k := range l.Nodes {
		if n := &l.Nodes[k]; n.Row == nil || n.Sensor != "" || n.Node != h.cells[k].node.ID() {
			return false
		}
	}
	if h.rewired {
		links := make([][]agent.Link, len(h.cells))
		for i := range h.cells {
			links[i] = h.cells[i].links
		}
		h.batch.Wire(links)
		h.rewired = false
	}
	return h.batch.Begin(l.Time, func(i int) []float32 { return l.Nodes[i].Row })
}

// beginTogether begins a step of all nodes.
func (h *Machine) beginTogether(l *Line) {
	h.joint, h.taking, h.boundary = true, len(h.cells), len(h.edge)
	for i := range h.cells {
		c := &h.cells[i]
		c.taking, c.predicted, c.done, c.told = true, false, false, nil
		c.read(&l.Nodes[i])
		h.tell(c, &l.Nodes[i])
	}
	h.postTogether()
}

// postTogether sets the rows aside that nodes elsewhere wait for.
func (h *Machine) postTogether() {
	if h.boundary == 0 {
		return
	}
	for _, i := range h.edge {
		h.pending = append(h.pending, h.batch.Message(i))
	}
	h.posted[h.batch.Exchange()] = h.boundary
	h.ship = true
	h.advanced()
}

// goTogether goes through exchanges of which all rows are in.
func (h *Machine) goTogether() {
	for h.joint && h.batch.Ready() {
		switch predicted, ok := h.batch.Advance(); {
		case !ok:
			h.part()
		case predicted:
			h.joint, h.predicted = false, len(h.cells)
			for i := range h.cells {
				h.cells[i].predicted = true // its output is where the batch has it
			}
		default:
			h.postTogether()
		}
	}
}

// hearTogether takes in a row of the present step, and says whether nodes are still
// together after it.
func (h *Machine) hearTogether(m *agent.Message) bool {
	hearers := h.hearers[m.From]
	if m.To != agent.Everyone {
		i, here := h.index[m.To]
		if !here {
			return true // nobody hears it
		}
		hearers = []int{i}
	}
	if len(hearers) == 0 {
		return true
	}
	if !h.batch.Hear(m, hearers) {
		h.part()
		return false
	}
	h.arrived(m)
	h.heard(m)
	h.tally.good++
	return true
}

// answerTogether answers a request for a row of the present step.
func (h *Machine) answerTogether(i int, m *agent.Message) {
	if again, ok := h.batch.Answer(i, m); ok {
		h.queue = append(h.queue, again)
	}
}

// askTogether asks for rows that have not come, and says whether that is all that
// is to be done at a tick.
func (h *Machine) askTogether() bool {
	switch {
	case h.now-h.started >= h.due(0):
		return false
	case h.ring == 0 || h.now < h.ring:
		return true
	case slices.ContainsFunc(h.around, h.ahead):
		return false
	}
	h.askDue()
	return true
}

// part lets nodes that were together in a step go on one by one: they begin it, hear
// each other, and hear what was heard from elsewhere. What left already does not
// leave again.
func (h *Machine) part() {
	if !h.joint {
		return
	}
	h.joint, h.left = false, h.batch.Exchange()+1
	for i := range h.cells {
		h.step(i, agent.Begin{Time: h.time, Links: h.cells[i].links, Row: h.batch.Observed(i)})
	}
	h.drain()
	h.batch.Heard(func(m *agent.Message) {
		for _, i := range h.hearers[m.From] {
			h.step(i, agent.Receive{Message: m})
		}
		h.drain()
	})
}
