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
	beatLeast = 10 * time.Millisecond // lines that come faster are those of a program that does not wait for a clock
	beatSure  = 4                     // lines that were waited for, more than such as were not, after which the world sets the pace
	beatMost  = 16                    // of them that are remembered
)

// beat is how a world speaks.
type beat struct {
	every  time.Duration // after what time lines come that are waited for, at the fastest; 0 if none did
	waited int           // how many more lines were waited for than not, from 0 to beatMost
}

// add takes in that a line came so long after the one before, of which the host was ready
// for it. A pause of the world changes little: to wait for too short a time does no harm,
// and lines pile up where it is too long. Where somebody is silent a line that was not
// waited for says nothing: the host was held up, and lines have piled up since.
func (b *beat) add(took, ready time.Duration, silent bool) {
	switch waited := took >= beatLeast && 2*ready > took; {
	case waited && (b.every == 0 || took < b.every):
		b.every = took
	case waited:
		b.every += min(took-b.every, b.every) / 8
	case !silent:
		b.waited = max(b.waited-1, 0)
		return
	default:
		return
	}
	b.waited = min(b.waited+1, beatMost)
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
