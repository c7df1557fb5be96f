package host

import (
	"fmt"
	"strings"

	"github.com/wdgnn/wdgnn/agent"
)

// GateReport is what the gates of a host's nodes do.
type GateReport struct {
	Adapted int    `json:"adapted"`           // nodes that answer with what they learned
	Trained int    `json:"trained"`           // nodes that answer as trained, because what they learned is not ahead
	Refused uint64 `json:"refused,omitempty"` // updates that were
	Anew    uint64 `json:"anew,omitempty"`    // times that a node began again with the trained taps

	// Horizons counts forecasts that are answered as trained, of all horizons of all
	// nodes, where nodes forecast: a node with one such is Trained.
	Horizons int `json:"horizons,omitempty"`

	// Open are nodes whose gate is open, and Closed those whose is not, after they
	// were judged, with the step since which it is; the first thousand of each.
	Open   []agent.NodeID `json:"open,omitempty"`
	Closed []ClosedGate   `json:"closed,omitempty"`
}

// ClosedGate is a node that answers as trained.
type ClosedGate struct {
	Node  agent.NodeID `json:"node"`
	Since uint64       `json:"since"`

	Horizons []int `json:"horizons,omitempty"` // in steps, where it forecasts and not all are
}

// String says it in words.
func (c ClosedGate) String() string {
	text := fmt.Sprintf("node %d answers as trained since step %d", c.Node, c.Since)
	if len(c.Horizons) > 0 {
		text += fmt.Sprintf(", %s steps ahead", strings.Trim(strings.ReplaceAll(fmt.Sprint(c.Horizons), " ", ", "), "[]"))
	}
	return text
}

// shutGate is where a node that learns by seasons answers as trained.
type shutGate struct {
	horizons []int // which of them
	since    uint64
}

// look takes in where it does after a step.
func (s *shutGate) look(n *agent.Node, time uint64) {
	season := n.Season()
	if season == nil {
		return
	}
	before := len(s.horizons)
	s.horizons = s.horizons[:0]
	for c := range n.Base() {
		if !season.Does(c).Open {
			s.horizons = append(s.horizons, c)
		}
	}
	if before == 0 && len(s.horizons) > 0 {
		s.since = time
	}
}

// seasonGates is gates for nodes that learn by seasons.
func (h *Machine) seasonGates() *GateReport {
	if h.cfg.Plan.Rule.Gate == nil {
		return nil
	}
	r, all := &GateReport{}, h.cfg.Plan.Forecast.Horizons
	for i := range h.cells {
		c := &h.cells[i]
		id := c.node.ID()
		if len(c.shut.horizons) == 0 {
			r.Adapted++
			if len(r.Open) < mostGates {
				r.Open = append(r.Open, id)
			}
			continue
		}
		r.Trained++
		r.Horizons += len(c.shut.horizons)
		if len(r.Closed) == mostGates {
			continue
		}
		closed := ClosedGate{Node: id, Since: c.shut.since}
		if len(c.shut.horizons) < len(all) {
			for _, k := range c.shut.horizons {
				closed.Horizons = append(closed.Horizons, all[k])
			}
		}
		r.Closed = append(r.Closed, closed)
	}
	return r
}

const (
	mostGates = 1000 // in a report
	mostSaid  = 10   // of those that closed in the log, at once
)

// gates returns what the gates do, nil if there are none.
func (h *Machine) gates() *GateReport {
	if h.cfg.Plan.Season != nil {
		return h.seasonGates()
	}
	var r *GateReport
	for i := range h.cells {
		n := h.cells[i].node
		s, gated := n.Gate()
		if !gated {
			return nil
		}
		if r == nil {
			r = &GateReport{}
		}
		r.Refused += s.Refused
		r.Anew += s.Anew
		if s.Open {
			r.Adapted++
			if len(r.Open) < mostGates {
				r.Open = append(r.Open, n.ID())
			}
			continue
		}
		r.Trained++
		if s.Judged > 0 && len(r.Closed) < mostGates {
			r.Closed = append(r.Closed, ClosedGate{Node: n.ID(), Since: uint64(max(int64(s.Since), 0))}) // below 0 is an earlier life
		}
	}
	return r
}

// sayGates logs which gates closed since they were looked at last, after they had
// been open.
func (h *Machine) sayGates(r *GateReport) {
	if r == nil {
		return
	}
	said := 0
	for _, c := range r.Closed {
		if c.Since <= h.said || c.Since == 0 {
			continue
		}
		if said++; said <= mostSaid {
			h.info(c.String(), "time", h.time)
		}
	}
	if said > mostSaid {
		h.info(fmt.Sprintf("and so do %d nodes more", said-mostSaid), "time", h.time)
	}
	h.said = h.time + 1
}
