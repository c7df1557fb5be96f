package host

import "time"

// A world that sets the pace
//
// A host that hears nobody waits a deadline in each step, because whoever runs on alone is
// never met again (alone). But it cannot run ahead of a world that speaks by a clock, as
// sensors do, and the wait would do harm: where ten lines come in a second and a step
// takes one, answers are older with every line. So a host looks how its world speaks. If
// lines come a while after each other, and before the one before was answered, the world
// waits for nobody: the host goes on alone at its beat, and is where the others are when
// they are heard again. It waits where lines are there at once, as those of a file, and where
// they follow answers, as those of a simulation. Worlds of text note when lines came.

const (
	beatLeast = 10 * time.Millisecond // lines that come faster are those of a program that does not wait for a clock
	beatSure  = 3                     // lines that came before the last answer after which the world sets the pace
	beatSlack = 16                    // lines that may be more than a clock can have said
)

// beat is how a world speaks.
type beat struct {
	every time.Duration // after what time lines come, at the fastest; 0 if none was noted
	early int           // lines that came before the last answer, up to beatSure: then the world sets the pace
	since time.Duration // when a line was last taken as it came,
	last  time.Duration // when the latest was taken,
	lines int           // and how many had waited between the two
}

// add takes in that a line is taken now. It came so long after the one before; in time, if
// there was room for it, or else nobody knows when it could have come; and early, if the one
// before had no answer then. A pause of the world changes little: to wait for too short a
// time does no harm, and lines pile up where it is too long. Lines may have piled up
// while the host was held up; if they are more than a clock can have said since none had,
// it is no clock, or no longer.
func (b *beat) add(now, took time.Duration, inTime, early bool) {
	b.last = now
	if inTime = inTime && took >= beatLeast; inTime {
		if b.every == 0 || took < b.every {
			b.every = took
		} else {
			b.every += min(took-b.every, b.every) / 8
		}
		if !early {
			b.since, b.lines = now, 0
			return
		}
		b.early = min(b.early+1, beatSure)
	}
	b.lines++
	switch {
	case b.early == beatSure && time.Duration(b.lines-beatSlack) > 2*(now-b.since)/b.every:
		b.early = 0
	case b.early < beatSure && !inTime:
		b.early = max(b.early-1, 0)
	}
}

// sets returns after what time lines come, of a world that sets the pace; 0 if it does not.
func (b *beat) sets() time.Duration {
	if b.early < beatSure {
		return 0
	}
	return b.every
}

// piled returns for how long lines have been waiting for the host, of a world that sets the
// pace, where the latest was answered at the given time, 0 if it was not: if the next has not
// come long after that, none waits.
func (b *beat) piled(now, answered time.Duration) time.Duration {
	if b.sets() == 0 || b.lines == 0 || answered > 0 && now-answered > 2*b.every {
		return 0
	}
	return b.last - b.since
}

// follow notes that a line begins a step, if its world noted when it came.
func (h *Machine) follow(l *Line) {
	if l.took > 0 && h.opened > 0 {
		h.beat.add(h.now, l.took, 2*l.ready > l.took, !h.acted || l.age > h.now-h.answered)
	}
}

// lateLong is for how long lines may wait until somebody is told: a neighbour that dies holds
// a host up for a few deadlines, and it has to make up for them.
const lateLong = 30 * time.Second

// lookPiled returns for how long lines have been waiting, and logs when that is too long, and
// when it is over.
func (h *Machine) lookPiled() time.Duration {
	answered := time.Duration(0)
	if h.acted {
		answered = h.answered
	}
	piled := h.beat.piled(h.now, answered)
	switch {
	case piled >= lateLong && !h.piled:
		h.warn("lines of the world wait for this host, and answers are late: are neighbours in earlier steps, because their worlds "+
			"count from another moment, or has it too much to do?", "time", h.time, "seconds", int(piled.Seconds()))
		h.piled = true
	case piled == 0 && h.piled:
		h.info("lines of the world are answered when they come again", "time", h.time)
		h.piled = false
	}
	return piled
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
