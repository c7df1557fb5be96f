package host

// trial does what a world asks of hosts that are on trial.
func (h *Host) trial(l *Line) {
	if h.cfg.Losses == nil {
		h.stats.StrayLines++
		h.log.Warn("refused: no trial goes on here; it would be one with faults in the configuration", "loss", l.Loss, "reset", l.Reset)
		return
	}
	if l.Loss != nil {
		if err := h.cfg.Losses.Set(*l.Loss); err != nil {
			h.stats.StrayLines++
			h.log.Warn("refused", "err", err)
		}
	}
	h.anew = h.anew || l.Reset
}

// reset puts the parameters of all nodes back, between two steps, if the world
// asked for it.
func (h *Host) reset() {
	if !h.anew {
		return
	}
	h.anew = false
	for i := range h.cells {
		h.cells[i].node.Reset()
	}
}
