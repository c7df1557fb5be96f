package host

import "time"

// Joint says whether nodes are together in the step under way, and whether they
// were and had to part.
func (h *Machine) Joint() (now, parted bool) { return h.joint, h.left > 0 }

// Machine returns that of a host.
func (h *Host) Machine() *Machine { return h.machine }

// Noted says how long after the line before a line came, with room for it, and how long ago.
func (l *Line) Noted(took, age time.Duration) { l.took, l.ready, l.age = took, took, age }

// Taken notes how long ago a line came that is taken now, as a host does.
func (l *Line) Taken() *Line {
	l.age = time.Since(l.came)
	return l
}
