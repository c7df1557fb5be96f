package host

import (
	"slices"
	"time"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/transport"
)

// Going on with what was heard before
//
// In the pace Asynchronous a step does not wait for a row that does not come, if the
// last one of the same exchange is at most Pace.Stale steps old: that stands in for it
// (agent.Plan.Stale). It waits a moment, because most rows come, also where frames are
// lost, as there are copies: three times as long as the last row of an exchange usually
// takes, or longer (waitFor). Where the number of a frame shows that a row was lost it
// does not wait at all (gone). What comes too late is remembered for the next steps.
//
// Where the last row is older, neighbours are waited for as in lockstep, asked, and
// given up at the deadline. So hosts that are well are Stale steps apart at most:
// who is further ahead waits. Nothing else holds a fast one back.
//
// A loss must cost neither time nor many rows. Nobody is asked for a row that another
// stands in for: the answer would come too late. Who loses many frames says so beside
// its own rows (sayLosses), and is then sent every frame several times (copies).

const (
	noticed = lossMemory / 2 // frames after which a host is told again how many of its own are lost

	// noRow is the exchange of a request for nothing: it tells of lost frames.
	noRow = 1<<16 - 1

	mostMissed = 0.002 // share of frames of which no copy comes
	mostSent   = 3
)

// asynchronous says whether old rows may stand in for those that do not come.
func (h *Machine) asynchronous() bool { return h.cfg.Pace.Mode == Asynchronous }

// waitFor is how long a row of a host is waited for, from the beginning of an
// exchange, if an old one may stand in for it.
func (h *Machine) waitFor(m *frameMark) time.Duration {
	switch {
	case m != nil && m.gone == h.turned:
		return 0
	case h.took.mean == 0:
		return h.cfg.Pace.Deadline / 10
	}
	return min(max(3*h.took.mean, h.took.mean+8*h.took.spread, leastRetry), h.cfg.Pace.Deadline/10)
}

// setOnward sets when old rows may stand in for the first of those that are missing.
func (h *Machine) setOnward() {
	if !h.asynchronous() {
		return
	}
	h.onward, h.stuck = h.turn+h.waitFor(nil), false
}

// goOn lets nodes go on that miss such rows only as old ones stand in for, and says
// whether there were any.
func (h *Machine) goOn() (any bool) {
	if !h.asynchronous() || h.now < h.onward && !h.stuck {
		return false
	}
	next, stuck := h.now+h.cfg.Pace.Deadline, false
	for i := range h.cells {
		c := &h.cells[i]
		if _, waits := c.node.Waits(); !c.taking || !waits {
			continue
		}
		h.missing = c.node.Missing(h.missing[:0])
		if at, ok := h.standIns(c, h.missing); !ok { // a row may come that stands in
			stuck = true
			continue
		} else if at > h.now {
			next = min(next, at)
			continue
		}
		any = true
		h.step(i, agent.Expire{})
	}
	h.ship = h.ship || any
	if h.onward, h.stuck = next, stuck; any {
		h.onward = h.now
	}
	return any
}

// standIns returns when a node can go on with old rows, and whether there is one for
// each that is missing. Nodes here are waited for: they send theirs as soon as they can.
func (h *Machine) standIns(c *cell, missing []agent.NodeID) (at time.Duration, ok bool) {
	for _, node := range missing {
		if h.comes(node) || !c.node.Recalls(node) {
			return 0, false
		}
		owner, _ := h.cfg.Directory.Owner(node)
		at = max(at, h.turn+h.waitFor(h.spoke[owner]))
	}
	return at, len(missing) > 0
}

// sayLosses tells hosts of which frames are lost how many, now and then and when they are
// twice as many, beside the rows that are about to leave. It does not wait until rows are
// missing: where copies make up for all losses, they would end before somebody misses the
// next row.
func (h *Machine) sayLosses() {
	if !h.asynchronous() || !hasRows(h.pending) {
		return
	}
	for _, node := range h.outside {
		owner, known := h.cfg.Directory.Owner(node)
		m := h.spoke[owner]
		if lost := m.losses(); !known || lost == 0 || lost < 2*m.blamed && h.sent < m.told+noticed {
			continue
		}
		m.told, m.blamed = h.sent, m.losses()
		h.pending = append(h.pending, agent.Message{
			From: h.pending[0].From, To: node, Time: h.time, Kind: agent.Ask, Exchange: noRow, Links: m.blamed,
		})
	}
}

// hasRows says whether one of the messages is said to everyone.
func hasRows(messages []agent.Message) bool {
	return slices.ContainsFunc(messages, func(m agent.Message) bool { return m.To == agent.Everyone })
}

// copies is how often a frame is sent: so often that somebody who loses a share p of
// the frames misses all of them in a share p^copies ≤ mostMissed of all cases. Those of
// the last exchange are sent once more: no later frame of the step shows that they were
// lost, and who misses them waits.
func (h *Machine) copies() int {
	if !h.asynchronous() || h.sent >= h.repeat || h.worst == 0 {
		return 1
	}
	copies, share := 1, float64(h.worst)/lossMemory
	for missed := share; missed > mostMissed && copies < mostSent; copies++ {
		missed *= share
	}
	if h.hop == len(h.posted)-1 {
		copies++
	}
	return copies
}

// isCopy says whether a frame is a copy of the one before, of which nothing but the
// number is new.
func (h *Machine) isCopy(f transport.Frame) bool {
	mark := h.spoke[f.From]
	if mark == nil || mark.frame == nil {
		return false
	}
	header, again := h.reader.Again(mark.frame, f.Data)
	if again {
		h.number(f, header.Sequence, h.conductOf(f.From))
		h.stats.Copies++
	}
	return again
}

// lookLate learns from a row that came after nodes went on how long rows take.
func (h *Machine) lookLate(mark *frameMark, m *agent.Message) {
	at := m.Time<<16 | uint64(m.Exchange)
	if !h.asynchronous() || m.To != agent.Everyone || at <= mark.row {
		return
	}
	mark.row = at
	if e := int(m.Exchange); m.Time == h.time && e < h.hop && e < len(h.began) {
		h.took.add(h.now - h.began[e])
	}
}

// lostRows notes that the rows that are waited for of a host were in a frame that did
// not come, as its latest one shows: there is nothing to wait for. It says whether that
// is so.
func (h *Machine) lostRows(m *frameMark, messages []agent.Message) bool {
	gone := slices.ContainsFunc(messages, func(s agent.Message) bool {
		return s.To == agent.Everyone && (s.Time > h.time || s.Time == h.time && int(s.Exchange) > h.hop)
	})
	if gone {
		m.gone, h.onward = h.turned, h.now
		h.settle()
	}
	return gone
}

// lead is by how many steps neighbours must be ahead to have left this host behind.
func (h *Machine) lead() uint64 {
	if h.asynchronous() {
		return uint64(max(2, h.cfg.Pace.Stale+1))
	}
	return 2
}

// window is for how many steps ahead frames are kept.
func (h *Machine) window() uint64 { return max(window, h.lead()+1) }
