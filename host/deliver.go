package host

import (
	"github.com/wdgnn/wdgnn/agent"
)

// step applies an event to a node and keeps what it asks for. An error says why
// the event was refused.
func (h *Machine) step(i int, ev agent.Event) error {
	c := &h.cells[i]
	r, err := c.node.Step(ev)
	if err != nil {
		h.stats.RefusedEvents++
		h.debug("event refused", "node", c.node.ID(), "err", err)
	}
	h.queue = append(h.queue, r.Send...)
	if r.Prediction != nil {
		c.output = append(c.output[:0], r.Prediction...)
		c.predicted = true
		h.predicted++
	}
	c.done = c.done || r.Done
	return err
}

// settle goes on until nothing can be done without hearing from elsewhere. It
// follows every event that may have changed what nodes wait for: rows among nodes
// here bring further rows, and to give somebody up brings the next exchange, in
// which somebody else may have to be given up. When all have predicted, what others
// still wait for leaves before the world is answered: they should not wait for it.
func (h *Machine) settle() {
	for {
		h.drain()
		switch {
		case h.waits() && h.predicted >= h.taking:
			h.send()
			h.act()
		case h.waits() && h.doubts() && h.giveUpSuspects():
			continue
		}
		break
	}
	if h.ship {
		h.send()
	}
}

// drain delivers messages among nodes of this host, and sets aside those that
// others must hear. Nodes of one host hear each other at once: no frame, no delay,
// no loss. What they say to that goes to the end of the queue.
func (h *Machine) drain() {
	h.goTogether()
	for k := 0; k < len(h.queue); k++ {
		m := &h.queue[k] // stays where it is even if the queue has to grow
		if m.To != agent.Everyone {
			if i, here := h.index[m.To]; here {
				h.step(i, agent.Receive{Message: m})
				continue
			}
			out := *m
			if out.Kind == agent.Ask {
				out.Links = h.lostOf(m.To)
			}
			h.pending, h.ship = append(h.pending, out), true
			continue
		}
		for _, i := range h.hearers[m.From] {
			h.step(i, agent.Receive{Message: m})
		}
		if h.cells[h.index[m.From]].elsewhere {
			h.post(m)
		}
	}
	clear(h.queue)
	h.queue = h.queue[:0]
}

// post sets a row aside. The frame leaves when it holds the rows of all nodes
// that others hear: one frame per exchange however many nodes a host has, as a
// frame costs a network more than a row. A node whose neighbours are silent holds
// the others back until a tick, or an answer to a request, with which everything
// leaves that is there.
func (h *Machine) post(m *agent.Message) {
	if int(m.Exchange) < h.left && m.Kind == agent.Row {
		return
	}
	h.pending = append(h.pending, *m)
	e := m.Exchange
	h.posted[e]++
	if h.posted[e] == h.boundary {
		h.ship = true
		h.advanced()
	}
}

// frameRoom is about how many bytes of messages go into one frame; brokers have
// limits.
const frameRoom = 512 << 10

// MaxFrame returns the largest frame, in bytes, that a host sends under a plan:
// its room and the longest message, which is never divided.
func MaxFrame(p *agent.Plan) int {
	longest := 0
	for e := range p.Exchanges() {
		longest = max(longest, p.Length(e))
	}
	return 2*frameRoom + 4*longest // twice the room, for headers
}

// send has all that is pending sent. Every host that hears this one gets every
// frame: who needs which row is known to the receiver, and a bus that carries a
// frame to many is cheaper than a frame for each. While λmax is measured, frames
// carry the digest of a plan without it; receivers take both.
func (h *Machine) send() {
	h.ship = false
	if h.cfg.Directory == nil { // all nodes are here
		h.pending = h.pending[:0]
		return
	}
	h.pending = h.memberWords(h.pending)
	h.again = h.lastRows(h.again[:0])
	messages := h.pending
	if len(h.again) > 0 && (len(h.pending) > 0 || h.once) { // what was said before comes first
		h.again = append(h.again, h.pending...)
		messages = h.again
	}
	if len(messages) > 0 && h.tells() {
		messages = append([]agent.Message{h.word()}, messages...)
	}
	h.sendAs(h.plan, messages)
	h.once = false
	h.shipped()
}

// buffer returns memory for one more frame of this event.
func (h *Machine) buffer() []byte {
	n := len(h.actions.Frames)
	if n < cap(h.actions.Frames) { // what a frame of an earlier event was written to
		return h.actions.Frames[:n+1][n][:0]
	}
	return nil
}
