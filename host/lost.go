package host

import (
	"slices"
	"time"

	"github.com/wdgnn/wdgnn/agent"
)

// What is lost
//
// A row that does not come is late, or it was lost. The numbers of frames tell: if
// one is missing, the row that is waited for was in it, and there is nothing to wait
// for. It is asked for at once (askLost). Where the lost frame was a host's last, its
// number is not known to be missing, and a timer has to do: one that follows how long
// that host takes to answer (retryAfter), and not how long exchanges take, because
// those of a lossy network take as long as the timers of everybody else.
//
// A host that is asked for a row which it does not have yet says so (notYet): it is
// there, and asking it less and less often would only prolong what a loss costs. A
// request says how many frames of whom it asks were lost; who hears that repeats its
// last rows in the frames that follow (lastRows), so that most losses cost no
// request. Nothing of this is sent where nothing is lost and nobody is late.

const (
	lossMemory  = 200              // frames for which a lost one is remembered
	heavyLoss   = 8                // of them: who loses so many is told its neighbours' rows without asking
	leastAnswer = time.Millisecond // an answer is waited for so long at least, however soon others came
)

// roundTrip is how long a host takes to answer, as RFC 6298 has it for TCP: the mean
// and the mean deviation of the latest answers.
type roundTrip struct {
	mean, spread time.Duration
}

// add takes in how long an answer took. The first is its own mean.
func (r *roundTrip) add(took time.Duration) {
	if r.mean == 0 {
		r.mean, r.spread = max(took, 1), took/2
		return
	}
	off := took - r.mean
	r.spread += (max(off, -off) - r.spread) / 4
	r.mean = max(r.mean+off/8, 1)
}

// widen is for an answer that came after several requests, and so soon after the last
// that it must be for one before: that was waited for too briefly.
func (r *roundTrip) widen() { r.spread += r.spread/2 + r.mean/8 }

// lose notes how many frames of a host did not come before the one with the given
// number.
func (m *frameMark) lose(sequence, missing uint64) {
	if sequence-m.since >= lossMemory {
		m.earlier, m.lost, m.since = m.lost, 0, sequence
	}
	m.lost += missing
	if missing > 0 {
		m.gap, m.jumped = sequence-1, true
	}
}

// losses returns about how many of the last frames of a host did not come, 0 if all
// did.
func (m *frameMark) losses() uint32 {
	if !m.lossy() {
		return 0
	}
	return uint32(min(max(m.lost, m.earlier, 1), lossMemory))
}

// lossy says whether one of the last frames of a host did not come.
func (m *frameMark) lossy() bool { return m != nil && m.gap > 0 && m.sequence-m.gap < lossMemory }

// asks returns how a host was asked in the exchange under way.
func (h *Machine) asks(m *frameMark) *requests {
	if m.asked.turn != h.turned {
		m.asked = requests{turn: h.turned, next: h.turn + h.retryAfter(m, 0)}
	}
	return &m.asked
}

// requests is how a host was asked in one exchange.
type requests struct {
	turn     uint64        // the exchange, as the machine counts them
	patience int           // requests since it last answered
	next     time.Duration // when it is asked again
}

// retryAfter is when a host is asked again that has not answered so many requests.
// Where a frame of it was lost not long ago, that follows its round trip. Where none
// was, its rows are late: it has much to do, and is asked after three times what an
// exchange usually takes.
//
// A fixed time would be wrong on most networks: on a fast one a lost frame would hold
// up a step for a hundred times what it takes, on a slow one everybody would be asked
// for rows that are on their way. That the times double is for neighbours who are slow
// because they have too much to do. They stay below a fifth of the deadline, so that a
// few requests can be lost before anybody is given up.
func (h *Machine) retryAfter(m *frameMark, patience int) time.Duration {
	most := h.cfg.Pace.Retry
	if !h.cfg.Pace.adaptive || most == 0 {
		return most
	}
	first := max(h.cfg.Pace.Deadline/50, leastRetry)
	switch {
	case m.lossy() && m.trip.mean > 0:
		first = max(m.trip.mean+2*m.trip.spread, 2*h.brisk, leastAnswer)
		patience /= 2 // requests and answers are lost as well
	case h.usual > 0:
		first = max(3*h.usual, leastRetry)
	}
	return min(most, first<<min(patience, 10))
}

// turns notes that an exchange begins, and sets the time of its first requests.
func (h *Machine) turns() {
	h.turn, h.ring, h.nudge = h.now, 0, 0
	h.turned++
	if h.cfg.Pace.Retry == 0 {
		return
	}
	if h.sent < h.heavy {
		h.nudge = h.turn + max(h.brisk*3/2, leastAnswer)
	}
	h.ring = h.turn + h.retryAfter(nil, 0)
	for _, host := range h.around {
		if m := h.spoke[host]; m.lossy() {
			h.ring = min(h.ring, h.turn+h.retryAfter(m, 0))
		}
	}
}

// ask asks those hosts for what nodes here miss of them for which wanted says so, of
// the exchange that a node is in. It says whether there were any, and sets the time
// of the next request.
func (h *Machine) ask(wanted func(m *frameMark, node agent.NodeID, exchange int) bool) (any bool) {
	want := func(node agent.NodeID, exchange int) bool {
		owner, known := h.cfg.Directory.Owner(node)
		if !known || owner == h.cfg.Host {
			return false
		}
		m := h.mark(owner)
		m.missed = true
		if wanted(m, node, exchange) {
			m.asking, any = true, true
			return true
		}
		return false
	}
	if h.joint {
		h.queue = h.batch.Retry(h.queue, func(node agent.NodeID) bool { return want(node, h.batch.Exchange()) })
	} else {
		for i := range h.cells {
			h.askFor(i, want)
		}
	}
	h.noteAsked()
	return any
}

// askFor has node i ask for those rows that are wanted.
func (h *Machine) askFor(i int, want func(node agent.NodeID, exchange int) bool) {
	c := &h.cells[i]
	exchange, waits := c.node.Waits()
	if !c.taking || !waits {
		return
	}
	h.missing = c.node.Missing(h.missing[:0])
	h.missing = slices.DeleteFunc(h.missing, func(node agent.NodeID) bool { return !want(node, exchange) })
	if len(h.missing) > 0 {
		h.step(i, agent.Retry{Of: h.missing})
	}
}

// noteAsked counts the requests that were just made, and sets the time of the next.
// Where only such are missing as nobody can be asked for, that is a while away.
func (h *Machine) noteAsked() {
	h.ring = h.now + h.cfg.Pace.Retry
	for _, m := range h.spoke {
		if m.asking {
			a := h.asks(m)
			a.patience++
			a.next = h.now + h.retryAfter(m, a.patience)
			m.unsure, m.waiting = m.waiting > 0, max(h.now, 1)
		}
		if m.missed {
			h.ring = min(h.ring, h.asks(m).next)
		}
		m.asking, m.missed = false, false
	}
}

// askDue asks those who are silent and whose time has come.
func (h *Machine) askDue() {
	if h.ask(func(m *frameMark, _ agent.NodeID, _ int) bool { return h.now >= h.asks(m).next }) {
		h.stats.Retries++
	}
}

// askLost asks a host at once for what was lost of it. The frame that it just sent
// has a number that shows that another is missing. What nodes here miss was in that
// one if the node whose row it is has gone on, as it says in this frame. If the frame
// holds no rows for everyone nobody can tell, and the host is asked too, unless it
// was not long ago: a gap may come of too many frames, and must not make more of them.
func (h *Machine) askLost(m *frameMark, messages []agent.Message) {
	if !h.waits() || h.cfg.Pace.Retry == 0 || m.step > h.time+1 { // it remembers two steps, and could not answer
		return
	}
	sure := slices.ContainsFunc(messages, func(o agent.Message) bool { return o.To == agent.Everyone })
	if !sure && h.asks(m).patience > 0 {
		return
	}
	asked := h.ask(func(o *frameMark, node agent.NodeID, exchange int) bool {
		return o == m && (!sure || slices.ContainsFunc(messages, func(s agent.Message) bool {
			return s.From == node && s.To == agent.Everyone && (s.Time > h.time || s.Time == h.time && int(s.Exchange) > exchange)
		}))
	})
	if asked {
		h.stats.Prompt++
		h.settle()
	}
}

// replied notes that a host answered a request, and how long it took.
func (m *frameMark) replied(now time.Duration) {
	switch took := now - m.waiting; {
	case m.waiting == 0:
	case m.unsure && took < m.trip.mean/2:
		m.trip.widen()
	default:
		m.trip.add(took)
	}
	m.waiting = 0
}

// notYet hears that a host does not have what it was asked for, here or elsewhere. It
// is there: times do not grow. Its row may be lost when it comes, so it is asked
// again, after as long as an answer takes, and after half of what the exchange has
// taken so far if that is more: if everybody waits for somebody who is gone, they need
// not talk about it all the while.
func (h *Machine) notYet(m *frameMark, said *agent.Message) {
	_, here := h.index[said.To]
	if here {
		m.replied(h.now)
	}
	m.waiting = 0
	if said.Time != h.time || !h.waits() || h.ring == 0 {
		return
	}
	a := h.asks(m)
	a.patience = 0
	if here {
		a.next = h.now + max(h.retryAfter(m, 0), (h.now-h.turn)/2)
		h.ring = min(h.ring, a.next)
	}
}

// excuse says that rows are not there yet, to all who may ask for them: not more often
// than they would ask.
func (h *Machine) excuse(said agent.Message) {
	if h.excused != h.turned || h.now >= h.mute {
		h.excused, h.mute = h.turned, h.now+max(leastAnswer, (h.now-h.turn)/4)
		h.queue = append(h.queue, said)
	}
}

// requested hands a request to the node that is meant, and says whether it is for a
// row that is still to come.
func (h *Machine) requested(i int, m *agent.Message) bool {
	if m.Links > 0 { // so many frames of ours were lost
		h.repeat = h.sent + lossMemory
	}
	if m.Links >= heavyLoss {
		h.heavy = h.sent + lossMemory
	}
	h.seek(&h.cells[i], m.From)
	before := len(h.queue)
	if h.joint && m.Time == h.time {
		h.answerTogether(i, m)
	} else {
		h.step(i, agent.Receive{Message: m})
	}
	return len(h.queue) == before && (!h.begun || m.Time >= h.time)
}

// lastRows appends the rows that were last said to everyone to dst, if somebody
// loses our frames. Nodes remember those of this step and of the one before.
func (h *Machine) lastRows(dst []agent.Message) []agent.Message {
	if h.sent >= h.repeat {
		return dst
	}
	for k := range h.last {
		if m := &h.last[k]; m.To == agent.Everyone && m.Time+1 >= h.time {
			dst = append(dst, *m)
			h.stats.Repeated++
		}
	}
	return dst
}

// shipped empties what was to be sent, and remembers it if it holds rows: requests
// and answers alone do not replace what was last said to everyone.
func (h *Machine) shipped() {
	for k := range h.pending {
		if h.pending[k].To == agent.Everyone {
			h.pending, h.last = h.last, h.pending
			break
		}
	}
	clear(h.pending)
	h.pending = h.pending[:0]
}

// lostOf returns about how many of the last frames of a node's host were lost here.
func (h *Machine) lostOf(node agent.NodeID) uint32 {
	owner, _ := h.cfg.Directory.Owner(node)
	return h.spoke[owner].losses()
}
