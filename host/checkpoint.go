package host

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/wdgnn/wdgnn/agent"
)

// Checkpoint is what a host keeps on disk, as JSON: all that its nodes remember
// between two steps.
type Checkpoint struct {
	Version int            `json:"version"`
	Run     string         `json:"run"`
	Time    uint64         `json:"time"` // of the last step
	Nodes   []agent.Memory `json:"nodes"`
}

// checkpointVersion is that of what is written. Version 1 had its parameters in
// other coordinates, which package rule translates.
const checkpointVersion = 2

// Checkpoint returns a copy of what the nodes remember, nil if there was no step,
// for whoever writes it; the next is due a while later. It is meant for between
// two steps, when Actions.Save says so, or the end.
func (h *Machine) Checkpoint() *Checkpoint {
	if !h.begun {
		return nil
	}
	h.saved = h.now
	c := &Checkpoint{Version: checkpointVersion, Run: h.cfg.Run, Time: h.time}
	for i := range h.cells {
		c.Nodes = append(c.Nodes, h.cells[i].node.Memory())
	}
	return c
}

// restore puts the nodes where a checkpoint left them; nil means that there is
// none.
func (h *Machine) restore(text []byte) error {
	if text == nil {
		return nil
	}
	var c Checkpoint
	if err := json.Unmarshal(text, &c); err != nil || c.Version < 1 || c.Version > checkpointVersion {
		return fmt.Errorf("host: state: a checkpoint of version %d: %w; move the folder away to begin anew",
			c.Version, errors.Join(err, errors.ErrUnsupported))
	}
	if c.Run != h.cfg.Run {
		return fmt.Errorf("host: state: it belongs to the run %q, this is %q; use another folder", c.Run, h.cfg.Run)
	}
	for _, m := range c.Nodes {
		i, ok := h.index[m.Node]
		if !ok {
			return fmt.Errorf("host: state: it has node %d, which is not here; use another folder", m.Node)
		}
		if err := h.cells[i].node.Restore(m); err != nil {
			return fmt.Errorf("host: state: %w; move the folder away to begin anew", err)
		}
	}
	h.time, h.begun = c.Time, true
	return nil
}
