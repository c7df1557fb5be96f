package host

import (
	"time"

	"github.com/wdgnn/wdgnn/agent"
)

// silence is how long a neighbour has said nothing.
type silence struct {
	steps int    // in a row that it was given up
	last  uint64 // the latest of them
}

// wake returns when tick must be called; zero means never.
func (h *Host) wake() time.Time {
	if !h.waits() {
		return time.Time{}
	}
	at := h.started.Add(h.deadline())
	if !h.gaveUp.IsZero() {
		at = h.gaveUp.Add(h.grace())
	}
	if r := h.retry(); r > 0 {
		if again := h.asked.Add(r); again.Before(at) {
			return again
		}
	}
	return at
}

// deadline is how long the step under way waits for silent neighbours.
func (h *Host) deadline() time.Duration {
	if h.opened == 1 {
		return h.cfg.Pace.First
	}
	return h.cfg.Pace.Deadline
}

// leastRetry is how soon a silent neighbour is asked at the earliest.
const leastRetry = 10 * time.Millisecond

// retry is when silent neighbours are asked again, 0 for never. Unless it is
// set, the first time comes after three times what an exchange usually takes,
// and each further one after twice the time.
func (h *Host) retry() time.Duration {
	most := h.cfg.Pace.Retry
	if !h.cfg.Pace.adaptive || most == 0 {
		return most
	}
	first := h.cfg.Pace.Deadline / 50
	if h.usual > 0 {
		first = 3 * h.usual
	}
	return min(most, max(first, leastRetry)<<min(h.patience, 10))
}

// advanced notes that all rows of an exchange that others hear are ready: the
// messages of the one before have come.
func (h *Host) advanced(e uint16) {
	now := time.Now()
	if took := now.Sub(h.asked); e > 0 && h.patience == 0 {
		if h.usual == 0 {
			h.usual = took
		}
		h.usual += (took - h.usual) / 8
	}
	h.asked, h.patience = now, 0
}

// grace is how much longer each further exchange is waited for.
func (h *Host) grace() time.Duration { return h.cfg.Pace.Deadline / 10 }

// tick asks silent neighbours again, and gives them up when their time is over.
func (h *Host) tick(now time.Time) {
	if !h.waits() {
		return
	}
	waited := now.Sub(h.started)
	after := h.retry()
	retry := after > 0 && now.Sub(h.asked) >= after
	h.giveUpFrom(waited, retry && h.behind())
	for i := range h.cells {
		if _, waits := h.cells[i].node.Waits(); retry && h.cells[i].taking && waits {
			h.step(i, agent.Retry{})
		}
	}
	if retry {
		h.asked = now
		h.patience++
		h.stats.Retries++
	}
	if waited >= h.deadline() {
		h.gaveUp = now
	}
	h.ship = true
	h.settle()
}

// giveUpFrom makes nodes go on whose time is over, or all if they are behind:
// those in the earliest exchange first, who wait for others elsewhere, and then
// those here who waited for them, if what they hear now is not enough.
func (h *Host) giveUpFrom(waited time.Duration, behind bool) {
	for {
		earliest := -1
		for i := range h.cells {
			if e, waits := h.cells[i].node.Waits(); h.cells[i].taking && waits && (earliest < 0 || e < earliest) {
				earliest = e
			}
		}
		if earliest < 0 || !behind && waited < h.deadline()+time.Duration(earliest)*h.grace() {
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
func (h *Host) comes(node agent.NodeID) bool {
	i, here := h.index[node]
	return here && h.cells[i].taking
}

// giveUp makes node i go on without those who are silent.
func (h *Host) giveUp(i int) {
	h.missing = h.cells[i].node.Missing(h.missing[:0])
	for _, node := range h.missing {
		if _, here := h.index[node]; here {
			continue
		}
		s := h.silent[node]
		if s.steps == 0 || s.last != h.time {
			if s.steps+1 == h.cfg.Pace.Suspect {
				h.stats.Suspected++
				h.log.Warn("a neighbour is silent; going on without it", "node", node, "time", h.time)
			}
			h.silent[node] = silence{s.steps + 1, h.time}
		}
	}
	h.step(i, agent.Expire{})
}

// giveUpSuspects goes on wherever only suspects are waited for, or nodes here
// that do not take part, and says whether there was such a node.
func (h *Host) giveUpSuspects() bool {
	any := false
	for i := range h.cells {
		c := &h.cells[i]
		if _, waits := c.node.Waits(); !c.taking || !waits {
			continue
		}
		h.missing = c.node.Missing(h.missing[:0])
		suspects := len(h.missing) > 0
		for _, node := range h.missing {
			_, here := h.index[node]
			if h.comes(node) || !here && h.silent[node].steps < h.cfg.Pace.Suspect {
				suspects = false
				break
			}
		}
		if suspects {
			any = true
			h.giveUp(i)
		}
	}
	return any
}

// behind says whether every host that spoke during this step is two steps ahead
// or more. Then nobody can answer what we ask: steps up to the slowest of them
// are left out.
func (h *Host) behind() bool {
	slowest, any := uint64(0), false
	for host := range h.hears {
		mark, ok := h.spoke[host]
		if !ok || mark.during != h.time {
			continue
		}
		if mark.step < h.time+2 {
			return false
		}
		if !any || mark.step < slowest {
			slowest, any = mark.step, true
		}
	}
	if any {
		h.stats.CaughtUp++
		h.skipTo = min(slowest, h.time+mostSkip)
	}
	return any
}

// alarm is a timer that is set often and rings rarely.
type alarm struct {
	timer *time.Timer
	at    time.Time
}

func newAlarm() *alarm {
	a := &alarm{timer: time.NewTimer(time.Hour)}
	a.timer.Stop()
	return a
}

func (a *alarm) c() <-chan time.Time { return a.timer.C }

func (a *alarm) rang() { a.at = time.Time{} }

func (a *alarm) stop() { a.timer.Stop() }

// set makes the alarm ring at the given time; zero means never.
func (a *alarm) set(at time.Time) {
	switch {
	case at.Equal(a.at):
	case at.IsZero():
		a.timer.Stop()
		a.at = at
	default:
		a.timer.Reset(time.Until(at))
		a.at = at
	}
}
