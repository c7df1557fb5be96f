package host

import (
	"math"
	"math/bits"
	"slices"
	"time"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/internal/defect"
	"github.com/wdgnn/wdgnn/transport"
)

// Whom a step waits for
//
// A step needs a row of every neighbour, and there is always somebody who does not
// send one: it is off, or slow, its frame was lost, or the network is down. A host
// cannot tell which. It asks again (retry), it goes on at the deadline (giveUp), and
// it ceases to wait for who is silent step after step (suspect). To be wrong about
// somebody for a step costs a row. To be wrong for long costs the swarm: hosts that
// take each other for dead run on at full speed and never meet again. So suspicion
// ends with the first row that proves life (heard), a host that suspects everybody
// doubts itself (alone), one that all others have left behind leaves out what nobody can
// answer any more (behind), and one that was left behind with some of its neighbours
// follows the others after a while (outrun).
//
// The scripts in testdata show each of these rules.

// silence is what a host remembers of a neighbour that it went on without, or
// whose rows were refused. There is none of a neighbour of which all is well.
type silence struct {
	steps int    // in a row that it was given up
	first uint64 // the first of them
	last  uint64 // the latest of them

	refusals uint64        // rows of it that were refused
	refused  uint64        // the step of the latest of them
	distrust uint64        // for how many steps after that it is not waited for
	enough   time.Duration // when it is no longer waited for in that step
}

// A neighbour whose row was refused and that then had to be given up is not waited
// for any more: what it says cannot be used. leastDistrust is for how many steps
// after its latest refused row that lasts, whatever fits in between. Each time that
// it relapses later the time is twice as long, up to mostDistrust: one bad reading
// costs a few steps, and a neighbour of which one row fits and the next does not is
// not waited for again and again. A neighbour whose good rows come all the same, so
// that it is not given up, is waited for: others may send bad ones in its name. So
// it is given up not at once, but when a good one had a grace to come, or three times what
// an exchange usually takes if that is more: a deadline is not needed for that.
const (
	leastDistrust = 4
	mostDistrust  = 64
)

// distrusted says whether a row of a neighbour was refused not long ago.
func (h *Machine) distrusted(s silence) bool { return s.refusals > 0 && h.time < s.refused+s.distrust }

// suspect says whether a neighbour is no longer waited for: it was silent for
// long, its rows are refused, or its host runs something else or is in quarantine.
//
// Silence is counted in steps and not in time: a host that was asleep, or whose
// world is slow, has not been ignored by anybody meanwhile. It takes several steps
// in a row, as a few lost frames are enough to miss one; after them the swarm runs
// at its own speed again instead of a deadline per step.
func (h *Machine) suspect(node agent.NodeID) bool {
	if len(h.others) > 0 || h.shut > 0 {
		if owner, _ := h.cfg.Directory.Owner(node); h.others[owner] != 0 || h.isShut(owner) {
			return true
		}
	}
	s := h.silent[node]
	return s.steps >= h.cfg.Pace.Suspect || s.steps > 0 && h.distrusted(s)
}

// hopeless says whether a neighbour need not be waited for in the step under way, though
// it is no suspect: its row was refused, and no other came; or it was given up in an
// exchange before, and its host has not said a word in this step, as others have. Who has
// may wait for somebody else, and is waited for a grace longer (due); where nobody has, it
// may be the network. In real time nothing is gained by going on sooner.
func (h *Machine) hopeless(node agent.NodeID) bool {
	s, any := h.silent[node]
	switch {
	case !any || h.cfg.Pace.Mode == RealTime:
		return false
	case s.refusals > 0 && s.refused == h.time && h.now >= s.enough:
		return true
	case s.steps == 0 || s.last != h.time:
		return false
	}
	owner, _ := h.cfg.Directory.Owner(node)
	return !h.spokeNow(owner) && slices.ContainsFunc(h.around, h.spokeNow)
}

// spokeNow says whether a host has said something in this step, or in a later one.
func (h *Machine) spokeNow(host transport.HostID) bool {
	mark := h.spoke[host]
	return mark != nil && mark.step >= h.time
}

// heard ends the silence of a neighbour of which a row was accepted. A row of a
// past step will do, if it is of a step in which it was missed, or later than any
// that came before: the neighbour is there and behind us, and catches up only if
// we wait. Several that fell behind together would never meet the others again
// otherwise, because none of them is behind all its neighbours. Rows that came
// before prove nothing: whoever recorded them can say them again.
func (h *Machine) heard(m *agent.Message) {
	news := m.Time > h.latest[m.From]
	if news {
		h.latest[m.From] = m.Time
	}
	s, ok := h.silent[m.From]
	if !ok || m.Time < s.first && !news || h.distrusted(s) || defect.Number == 4 && m.Time != h.time {
		return
	}
	if s.steps >= h.cfg.Pace.Suspect {
		h.info("a neighbour is back", "node", m.From, "time", h.time, "its_time", m.Time)
	}
	if s.refusals == 0 || h.time >= s.refused+mostDistrust {
		delete(h.silent, m.From)
		return
	}
	s.steps, s.first, s.last = 0, 0, 0 // and it is remembered that it was refused
	h.silent[m.From] = s
}

// refuseRow notes that a row of a neighbour was refused: it does not count as
// heard. A neighbour whose every row is absurd would otherwise be asked, waited for
// and forgiven for ever. What is refused while the distrust lasts prolongs it and
// does not double it: a stuck sensor is one relapse and not a hundred.
func (h *Machine) refuseRow(m *agent.Message, err error) {
	s := h.silent[m.From]
	if !h.distrusted(s) { // for the first time, or again
		s.distrust = min(max(2*s.distrust, leastDistrust), mostDistrust)
		h.warn("rows of a neighbour are refused; it counts as silent until they fit", "node", m.From, "time", h.time, "err", err)
	}
	if s.refusals == 0 || s.refused != h.time {
		s.enough = h.now + min(max(3*h.usual, h.grace()), h.cfg.Pace.Deadline)
	}
	s.refusals++
	s.refused = h.time
	h.silent[m.From] = s
	if h.cfg.Pace.Mode != RealTime {
		h.tireAt(s.enough)
	}
}

// tireAt has the machine look at that time who is no longer waited for.
func (h *Machine) tireAt(at time.Duration) {
	if at > h.now && (h.tired <= h.now || at < h.tired) {
		h.tired = at
	}
}

// tires says when somebody else whose row was refused is no longer waited for.
func (h *Machine) tires() {
	if h.tired == 0 || h.now < h.tired {
		return
	}
	h.tired = 0
	for _, s := range h.silent {
		if s.refused == h.time {
			h.tireAt(s.enough)
		}
	}
}

// alone says whether there are neighbours elsewhere and all of them are
// suspects: the network is down, or this host is cut off. In lockstep it then
// waits a whole deadline in each step until a row is accepted, because whoever
// runs on alone at full speed is never met again. Nobody can run ahead of a world
// that sets the pace (aloneFor), nor in real time of its ticks. Of who lies it is
// known that the network carries what it says: it does not make a host doubt itself.
func (h *Machine) alone() bool {
	any := false
	for _, node := range h.outside {
		if h.shut > 0 {
			if owner, _ := h.cfg.Directory.Owner(node); h.liar(owner) {
				continue
			}
		}
		if !slices.ContainsFunc(h.hearers[node], func(i int) bool { return h.cells[i].taking }) {
			continue // nobody waits for it, or finds out that it is silent
		}
		if any = true; !h.suspect(node) {
			return false
		}
	}
	return any && defect.Number != 4
}

// wake returns when the machine wants a Tick; 0 means never. It is the earliest of
// the next request and the time at which somebody is given up: at the deadline
// those of the first exchange, after that a grace later each time, when those of
// the exchange that was begun then are due. It follows from the state alone, so
// that nobody has to remember timers, or to cancel them.
func (h *Machine) wake() time.Duration {
	if !h.waits() {
		return h.members.showing()
	}
	at := h.started + h.due(0)
	if h.resigned {
		at = h.gaveUp + h.grace()
	}
	if h.ring > 0 {
		at = min(at, h.ring)
	}
	if h.nudge > 0 {
		at = min(at, h.nudge)
	}
	if h.tired > h.now {
		at = min(at, h.tired)
	}
	if until := h.started + h.aloneFor(); until > h.now && until < at && h.waitsAlone() {
		at = until
	}
	return max(at, 1)
}

// deadline is how long the step under way waits for silent neighbours. Boxes of a
// swarm do not start at the same moment: the first step may wait longer.
func (h *Machine) deadline() time.Duration {
	if h.opened == 1 {
		return h.cfg.Pace.First
	}
	return h.cfg.Pace.Deadline
}

// leastRetry is how soon a silent neighbour is asked at the earliest: where an
// exchange takes microseconds, a neighbour that does something else for a moment
// should not look like a loss.
const leastRetry = 10 * time.Millisecond

// advanced notes that all rows of an exchange that others hear are ready: the
// messages of the one before have come. What an exchange usually takes follows the
// latest ones slowly, an eighth at a time: one slow exchange is no new rule. The
// times of requests begin anew with the exchange.
func (h *Machine) advanced() {
	if h.came > 0 {
		if h.usual == 0 {
			h.usual, h.brisk = h.came, h.came
		}
		h.usual += (h.came - h.usual) / 8
		if h.came < h.brisk {
			h.brisk += (h.came - h.brisk) / 8
		} else {
			h.brisk += (h.came - h.brisk) / 64
		}
	}
	h.came = 0
	h.turns()
}

// arrived notes when a row of the exchange under way came, if it was said to
// everyone. One that was asked for has a receiver: how long it took says how
// soon we asked, and not what an exchange takes.
func (h *Machine) arrived(m *agent.Message) {
	if m.To == agent.Everyone && m.Time == h.time && h.waits() {
		h.came = h.now - h.turn
	}
}

// due is how long the messages of exchange e are waited for, from the beginning
// of the step. In real time the last are due at the deadline, so that an answer
// comes before the next tick whatever is lost; in lockstep the first. There a
// neighbour that is well may itself wait for a dead one up to the deadline, and
// sends its next row only then: each further exchange has a grace more, or whoever
// is next to a dead node would be given up as well, and so on through the swarm.
func (h *Machine) due(e int) time.Duration {
	first := h.deadline()
	if h.cfg.Pace.Mode == RealTime && defect.Number != 10 {
		first -= time.Duration(len(h.posted)-1) * h.grace()
	}
	return first + time.Duration(e)*h.grace()
}

// grace is how much longer each further exchange is waited for. In real time
// all of them together take no more than half of the deadline.
func (h *Machine) grace() time.Duration {
	tenth := h.cfg.Pace.Deadline / 10
	if h.cfg.Pace.Mode == RealTime && len(h.posted) > 1 && defect.Number != 10 {
		return min(tenth, h.deadline()/time.Duration(2*(len(h.posted)-1)))
	}
	return tenth
}

// tick asks silent neighbours again, and gives them up when their time is over.
// Before it asks it looks whether anybody could answer: if all are ahead the step
// is not worth waiting for (behind), and those who are need not be asked
// (giveUpAhead). Both wait for the moment to ask, and do not act on the first frame
// from a later step: the row of this one may be right behind it.
func (h *Machine) tick() {
	if !h.waits() {
		return
	}
	if h.nudge > 0 && h.now >= h.nudge { // somebody may wait for what we said, as we do for others
		h.nudge, h.once = 0, true
	}
	h.tires()
	if h.joint && h.askTogether() {
		h.ship = true
		h.settle()
		return
	}
	h.part()
	waited := h.now - h.started
	retry := h.ring > 0 && h.now >= h.ring
	h.giveUpFrom(waited, retry && h.behind())
	for retry && h.giveUpAhead() {
		h.drain()
	}
	if retry {
		h.askDue()
	}
	if waited >= h.due(0) && (!h.resigned || h.now >= h.gaveUp+h.grace()) { // a tick for something else puts nothing off
		h.resigned, h.gaveUp = true, h.now
	}
	h.ship = true
	h.settle()
}

// giveUpFrom makes nodes go on whose time is over, or all if they are behind:
// those in the earliest exchange first, who wait for others elsewhere, and then
// those here who waited for them, if what they hear now is not enough.
func (h *Machine) giveUpFrom(waited time.Duration, behind bool) {
	for {
		earliest := -1
		for i := range h.cells {
			if e, waits := h.cells[i].node.Waits(); h.cells[i].taking && waits && (earliest < 0 || e < earliest) {
				earliest = e
			}
		}
		if earliest < 0 || !behind && waited < h.due(earliest) {
			return
		}
		for i := range h.cells {
			if e, waits := h.cells[i].node.Waits(); h.cells[i].taking && waits && e == earliest {
				h.giveUp(i)
			}
		}
		h.drain()
	}
}

// comes says whether node is here and will send its row as soon as it can.
func (h *Machine) comes(node agent.NodeID) bool {
	i, here := h.index[node]
	return here && h.cells[i].taking
}

// giveUp makes node i go on without those who are silent. A neighbour of several
// nodes here is silent once in a step, however many miss it. Nodes here that wait
// themselves are not to blame.
func (h *Machine) giveUp(i int) {
	h.missing = h.cells[i].node.Missing(h.missing[:0])
	for _, node := range h.missing {
		if _, here := h.index[node]; here {
			continue
		}
		s := h.silent[node]
		if s.steps == 0 {
			s.first = h.time
		}
		if s.steps == 0 || s.last != h.time {
			s.steps++
			s.last = h.time
			if s.steps == h.cfg.Pace.Suspect {
				h.stats.Suspected++
				h.warn("a neighbour is silent; going on without it", "node", node, "time", h.time)
			}
			h.hail(i, node, s.steps-h.cfg.Pace.Suspect)
			h.silent[node] = s
		}
	}
	h.step(i, agent.Expire{})
}

// hail asks for a row of a neighbour that is silent though its host speaks, in real time,
// where nobody is asked otherwise: the host may not know that somebody hears it (seek).
// The answer comes too late for this step. It may be lost, as where one of the two was just
// started and the other does not hear it yet, so it is said again: when the neighbour has
// been a suspect for 0, 1, 3, 7 … steps, and at last every hailEvery.
func (h *Machine) hail(i int, node agent.NodeID, steps int) {
	if h.cfg.Pace.Mode != RealTime || steps < 0 || (steps+1)%hailEvery != 0 && bits.OnesCount(uint(steps+1)) != 1 {
		return
	}
	if owner, _ := h.cfg.Directory.Owner(node); h.lately(h.spoke[owner]) {
		h.step(i, agent.Retry{Of: []agent.NodeID{node}})
	}
}

const hailEvery = 64 // steps

// doubts says whether there may be somebody who need not be waited for.
func (h *Machine) doubts() bool {
	if len(h.silent) > 0 || len(h.others) > 0 || h.shut > 0 || h.taking < len(h.cells) {
		return true
	}
	return h.farthest > h.time && slices.ContainsFunc(h.around, h.leftOut)
}

// giveUpSuspects goes on wherever only suspects are waited for, or others of whom
// nothing is to be hoped for, or nodes here that do not take part, or hosts that leave
// this step out, and says whether there was such a node. Whoever is alone waits for
// suspects too (waitsAlone).
func (h *Machine) giveUpSuspects() bool {
	h.part()
	alone := h.waitsAlone()
	return h.giveUpOn(func(node agent.NodeID) bool {
		if _, here := h.index[node]; here {
			return !h.comes(node)
		}
		if owner, known := h.cfg.Directory.Owner(node); known && h.leftOut(owner) {
			return true
		}
		return !alone && h.suspect(node) || h.hopeless(node)
	})
}

// giveUpAhead goes on wherever only such neighbours are waited for as have left
// this step behind, and says whether there was such a node. They sent their rows
// when nobody heard them, and keep those of two steps: who is at step t+1 can still
// answer for step t, who is at step t+2 cannot.
func (h *Machine) giveUpAhead() bool {
	return h.giveUpOn(func(node agent.NodeID) bool {
		if _, here := h.index[node]; here {
			return false
		}
		owner, known := h.cfg.Directory.Owner(node)
		return known && h.ahead(owner)
	})
}

// ahead says whether a host that spoke lately has left this step behind.
func (h *Machine) ahead(host transport.HostID) bool {
	mark := h.spoke[host]
	return h.lately(mark) && mark.step >= h.time+2
}

// giveUpOn goes on wherever all who are waited for are hopeless.
func (h *Machine) giveUpOn(hopeless func(agent.NodeID) bool) bool {
	any := false
	for i := range h.cells {
		c := &h.cells[i]
		if _, waits := c.node.Waits(); !c.taking || !waits {
			continue
		}
		h.missing = c.node.Missing(h.missing[:0])
		if len(h.missing) > 0 && !slices.ContainsFunc(h.missing, func(n agent.NodeID) bool { return !hopeless(n) }) {
			any = true
			h.giveUp(i)
		}
	}
	return any
}

// lately says whether a host spoke during this step or the one before. Two hosts
// may take turns: each speaks while the other's world thinks. What was said earlier
// does not count: a host that is gone must not keep others from catching up.
func (h *Machine) lately(m *frameMark) bool {
	return m != nil && m.sequence > 0 && h.opened-m.during <= 1
}

// behind says whether every host that spoke lately is two steps ahead or more. Then
// nobody can answer what we ask: steps up to the slowest of them are left out. The
// word of one alone is believed for a few steps at a time: it may not tell the
// truth. Nobody is believed beyond mostSkip, but by a host in its very first step
// that came later.
//
// It is the slowest and not the fastest because that is the first with whom we can
// make a step, and those who are further may be waiting for it. One who is not two
// steps ahead is enough to stay, as it can answer, or will need our rows. And if
// somebody slower is heard while lines are being left out, take lowers skipTo.
func (h *Machine) behind() bool {
	h.firm = false
	slowest, voices := uint64(0), 0
	for host := range h.hears {
		mark := h.spoke[host]
		if !h.lately(mark) {
			continue
		}
		if mark.step < h.time+2 {
			return false
		}
		if voices == 0 || mark.step < slowest {
			slowest = mark.step
		}
		voices++
	}
	switch {
	case voices == 0:
		return false
	case h.members.own && h.members.fresh && h.opened == 1: // it has missed what others did before it came
		h.skipTo = slowest
	case voices == 1:
		h.skipTo = min(slowest, h.time+window)
	default:
		h.skipTo = min(slowest, h.time+mostSkip)
	}
	h.stats.CaughtUp++
	return true
}

// leavesOut says whether a step is left out: what neighbours are behind of, or far ahead
// of though not all are (outrun).
func (h *Machine) leavesOut(step uint64) bool {
	if h.begun && h.cfg.Pace.Mode != RealTime {
		h.outrun()
	}
	return step < h.skipTo
}

// outrun looks whether some neighbours are far ahead though not all are. Hosts that were
// away together hear each other: none of them is behind all its neighbours (behind), and
// all others would wait for them, a deadline in each step that they missed. So a host
// follows those that are far ahead when it has heard of them for long enough: n of them,
// where m are not, for 2m/n deadlines. It leaves out mostSkip steps at once at most, and
// again so many with its next line if most neighbours are ahead; otherwise it waits again.
//
// The word of one is enough for that, because there may be no other. Who lies about the
// time can lead others astray so, the later the more neighbours they have.
func (h *Machine) outrun() {
	slowest, ahead, near := uint64(math.MaxUint64), 0, 0
	for _, host := range h.around {
		switch m := h.spoke[host]; {
		case m == nil || h.isShut(host) || m.step > h.time+mostApart:
		case m.step > h.time+window:
			slowest = min(slowest, m.step)
			ahead++
		case h.lately(m):
			near++
		}
	}
	near = max(near, 1)
	if ahead == 0 || defect.Number == 12 {
		h.led = 0
		return
	} else if h.led == 0 {
		h.led = max(h.now, 1)
	}
	if h.now-h.led < 2*h.cfg.Pace.Deadline*time.Duration(near)/time.Duration(ahead) {
		return
	}
	if to := min(slowest, h.time+mostSkip); to > h.skipTo {
		h.skipTo, h.firm = to, true
		h.stats.CaughtUp++
	}
	if ahead <= near {
		h.led = h.now
	}
}

// slower notes that somebody is in a step that was to be left out: it is met there,
// unless the host leaves it behind on purpose (outrun).
func (h *Machine) slower(step uint64) {
	if !h.firm {
		h.skipTo = min(h.skipTo, step)
	}
}
