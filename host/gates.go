package host

import (
	"fmt"

	"github.com/wdgnn/wdgnn/agent"
)

// GateReport is what the gates of a host's nodes do.
type GateReport struct {
	Adapted int    `json:"adapted"`           // nodes that answer with what they learned
	Trained int    `json:"trained"`           // nodes that answer as trained, because what they learned is not ahead
	Refused uint64 `json:"refused,omitempty"` // updates that were
	Anew    uint64 `json:"anew,omitempty"`    // times that a node began again with the trained taps

	// Open are nodes whose gate is open, and Closed those whose is not, after they
	// were judged, with the step since which it is; the first thousand of each.
	Open   []agent.NodeID `json:"open,omitempty"`
	Closed []ClosedGate   `json:"closed,omitempty"`
}

// ClosedGate is a node that answers as trained.
type ClosedGate struct {
	Node  agent.NodeID `json:"node"`
	Since uint64       `json:"since"`
}

// String says it in words.
func (c ClosedGate) String() string {
	return fmt.Sprintf("node %d answers as trained since step %d", c.Node, c.Since)
}

const (
	mostGates = 1000 // in a report
	mostSaid  = 10   // of those that closed in the log, at once
)

// gates returns what the gates do, nil if there are none.
func (h *Machine) gates() *GateReport {
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
			r.Closed = append(r.Closed, ClosedGate{n.ID(), uint64(max(int64(s.Since), 0))}) // below 0 is an earlier life
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
