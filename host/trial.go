package host

// trial does what a world asks of hosts that are on trial.
func (h *Machine) trial(l *Line) {
	if h.cfg.Losses == nil {
		h.stats.StrayLines++
		h.warnOnce("trial", "no trial goes on here: loss and reset need faults in the configuration")
		return
	}
	if l.Loss != nil {
		if err := h.cfg.Losses.Set(*l.Loss); err != nil {
			h.stats.StrayLines++
			h.warnOnce("loss", err.Error())
		}
	}
	h.anew = h.anew || l.Reset
}

// reset puts the parameters of all nodes back, between two steps, if the world
// asked for it.
func (h *Machine) reset() {
	if !h.anew {
		return
	}
	h.anew = false
	for i := range h.cells {
		h.cells[i].node.Reset()
	}
}
