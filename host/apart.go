package host

import (
	"maps"
	"slices"

	"github.com/wdgnn/wdgnn/transport"
)

// Hosts whose clocks do not agree
//
// In real time steps follow clocks: those of worlds, or of the machines. Two hosts whose
// clocks are seconds apart hear each other well, and each has rows of steps that the other
// has left behind or has not begun. To each the other is silent, or always late; that it is
// there, and in which steps, its frames tell (lookApart). Nothing can be done about it here:
// whoever keeps the clocks is told.

const (
	apartSteps = 3  // by which the steps of another host may differ: it may be late, and frames are under way
	apartLooks = 10 // reports in a row, a second each, after which it is no accident
)

// Apart is a host that is in other steps than this one, in real time.
type Apart struct {
	Host  transport.HostID `json:"host"`
	Steps int64            `json:"steps"` // by which it is ahead; less than 0 if it is behind
}

// lookApart returns the hosts that have been in other steps for a while, ascending, and
// logs those that begin or cease to be.
func (h *Machine) lookApart() (list []Apart) {
	if h.cfg.Pace.Mode != RealTime {
		return nil
	}
	for _, host := range h.around {
		mark := h.spoke[host]
		if !h.lately(mark) {
			continue
		}
		steps := int64(mark.step - h.time)
		if max(steps, -steps) < apartSteps {
			if h.apart[host] >= apartLooks {
				h.info("a host is in the same steps again", "host", host, "time", h.time)
			}
			delete(h.apart, host)
			continue
		}
		if h.apart[host]++; h.apart[host] == apartLooks {
			h.warn("a host is in other steps than this one and its rows cannot be used: "+
				"do the clocks of the two agree, and are frames faster than steps?", "host", host, "time", h.time, "ahead", steps)
		}
		if h.apart[host] >= apartLooks {
			list = append(list, Apart{host, steps})
		}
	}
	maps.DeleteFunc(h.apart, func(host transport.HostID, _ int) bool { return !slices.Contains(h.around, host) })
	return list
}
