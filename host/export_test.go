package host

// Joint says whether nodes are together in the step under way, and whether they
// were and had to part.
func (h *Machine) Joint() (now, parted bool) { return h.joint, h.left > 0 }

// Machine returns that of a host.
func (h *Host) Machine() *Machine { return h.machine }
