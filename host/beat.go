package host

import "time"

// A world that sets the pace
//
// A host that hears nobody waits a deadline in each step, because whoever runs on alone is
// never met again (alone). But it cannot run ahead of a world that speaks by a clock, as
// sensors do, and the wait would do harm: where ten lines come in a second and a step
// takes one, answers are older with every line. So a host looks who waits for whom. If its
// world's lines come when it has long been ready for them, it goes on alone at the beat of
// the world, and is where the others are when they are heard again. If they are there
// at once, as those of a file, it waits. Worlds of text note when their lines came, so that
// it shows also where a host has heard nobody since its first line, and they pile up.

const (
	beatSure = 4  // lines that came late, more than such as did not, after which the world sets the pace
	beatMost = 16 // of them that are remembered
)

// beat is how a world speaks.
type beat struct {
	every  time.Duration // about how long after each other lines come that are waited for; 0 if none did
	waited int           // how many more lines were waited for than not, from 0 to beatMost
}

// add takes in that a line came so long after the one before, of which the host was ready
// for it. Where somebody is silent a line that was not waited for says nothing: the host
// was held up, and lines have piled up since.
func (b *beat) add(took, ready time.Duration, silent bool) {
	switch {
	case 2*ready > took && b.every == 0:
		b.every, b.waited = took, 1
	case 2*ready > took:
		b.every += (took - b.every) / 8
		b.waited = min(b.waited+1, beatMost)
	case !silent:
		b.waited = max(b.waited-1, 0)
	}
}

// sets returns after what time lines come, of a world that sets the pace; 0 if it does not.
func (b *beat) sets() time.Duration {
	if b.waited < beatSure {
		return 0
	}
	return b.every
}

// follow notes that a line begins a step.
func (h *Machine) follow(l *Line) {
	took, ready := l.took, l.ready
	if took == 0 && h.opened > 0 { // the world did not note it
		if took = h.now - h.started; h.acted {
			ready = h.now - h.answered
		}
	}
	if took > 0 {
		h.beat.add(took, ready, len(h.silent) > 0)
	}
}

// aloneFor is how long a step of a host that hears nobody waits: up to the deadline, or for
// half of the time to the next line, so that lines that have piled up are made up for.
func (h *Machine) aloneFor() time.Duration {
	if every := h.beat.sets(); every > 0 {
		return min(every/2, h.deadline())
	}
	return h.deadline()
}

// waitsAlone says whether a step waits for suspects because there is nobody else. It does so
// once: when that time has passed, later exchanges do not wait for them again.
func (h *Machine) waitsAlone() bool {
	return h.cfg.Pace.Mode != RealTime && !h.resigned && h.now < h.started+h.aloneFor() && h.alone()
}
