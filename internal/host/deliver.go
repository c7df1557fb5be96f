package host

import (
	"github.com/wdgnn/wdgnn/agent"
)

// step applies an event to a node and keeps what it asks for. An error says why
// the event was refused.
func (h *Host) step(i int, ev agent.Event) error {
	c := &h.cells[i]
	r, err := c.node.Step(ev)
	if err != nil {
		h.stats.RefusedEvents++
		h.log.Debug("event refused", "node", c.node.ID(), "err", err)
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

// settle goes on until nothing can be done without hearing from elsewhere.
func (h *Host) settle() {
	for {
		h.drain()
		switch {
		case h.waits() && h.predicted >= h.taking:
			h.send()
			h.act()
		case h.waits() && (len(h.silent) > 0 || len(h.others) > 0 || h.taking < len(h.cells)) && h.giveUpSuspects():
			continue
		}
		break
	}
	if h.ship {
		h.send()
	}
}

// drain delivers messages among nodes of this host, and sets aside those that
// others must hear.
func (h *Host) drain() {
	for k := 0; k < len(h.queue); k++ {
		h.current = h.queue[k]
		if h.current.To != agent.Everyone {
			if i, here := h.index[h.current.To]; here {
				h.step(i, agent.Receive{Message: &h.current})
				continue
			}
			h.pending, h.ship = append(h.pending, h.current), true
			continue
		}
		for _, i := range h.hearers[h.current.From] {
			h.step(i, agent.Receive{Message: &h.current})
		}
		if h.cells[h.index[h.current.From]].elsewhere {
			h.post(&h.queue[k])
		}
	}
	clear(h.queue)
	h.queue = h.queue[:0]
}

// post sets a row aside. The frame leaves when it holds the rows of all nodes
// that others hear.
func (h *Host) post(m *agent.Message) {
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

// send sends what is pending.
func (h *Host) send() {
	h.ship = false
	if h.cfg.Bus == nil || len(h.pending) == 0 {
		h.pending = h.pending[:0]
		return
	}
	for from := 0; from < len(h.pending); {
		to, size := from, 0
		for to < len(h.pending) && (to == from || size < frameRoom) {
			size += 40 + 4*len(h.pending[to].Values)
			to++
		}
		h.sent++
		h.frame = agent.AppendFrame(h.frame[:0], agent.Header{Run: h.hash, Plan: h.plan, Host: uint32(h.cfg.Host), Sequence: h.sent}, h.pending[from:to])
		if err := h.cfg.Bus.Send(h.frame); err != nil {
			h.log.Debug("frame not sent", "time", h.time, "err", err)
		}
		from = to
	}
	clear(h.pending)
	h.pending = h.pending[:0]
}
