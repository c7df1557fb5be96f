package host

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/conformal"
	"github.com/wdgnn/wdgnn/mat"
)

// Interval is between which numbers an answer says that the truth is, [-0.3,0.9]
// in JSON; null if nothing is known yet, which is everything from -Inf to +Inf.
type Interval struct{ Low, High float32 }

// MarshalJSON writes [low,high], or null.
func (i Interval) MarshalJSON() ([]byte, error) {
	if !mat.Finite(i.Low, i.High) {
		return []byte("null"), nil
	}
	return json.Marshal([2]float32{i.Low, i.High})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (i *Interval) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		*i = Interval{float32(math.Inf(-1)), float32(math.Inf(1))}
		return nil
	}
	var ends []float32
	if err := json.Unmarshal(text, &ends); err != nil || len(ends) != 2 {
		return fmt.Errorf("interval %s: want [low, high], or null", text)
	}
	*i = Interval{ends[0], ends[1]}
	return nil
}

// sure writes the set or the intervals that go with what a node answers, if
// anything is known of them.
func (c *cell) sure(o *Output, r *conformal.Config) {
	bounds := c.node.Bounds()
	known := false
	for _, b := range bounds {
		known = known || !b.Unknown()
	}
	if !known {
		return
	}
	if r.Classes {
		c.set = bounds[0].Set(c.set[:0], c.output)
		o.Set = c.set
		return
	}
	c.intervals = c.intervals[:0]
	for k := range bounds {
		low, high := c.node.Interval(k)
		c.intervals = append(c.intervals, Interval{low, high})
	}
	o.Intervals = c.intervals
}

// CoverageReport is how often the sets or intervals of a host's nodes held the
// truth, of all answers whose truth was told.
type CoverageReport struct {
	Asked  float64 `json:"asked"`  // the share that was asked for
	Share  float64 `json:"share"`  // of the answers that held the truth
	Judged uint64  `json:"judged"` // answers, of numbers each output counts
	Size   float64 `json:"size"`   // mean number of classes in a set, or width of an interval, but for those unknown

	// Unknown are intervals of which nothing was known: they hold everything.
	Unknown uint64 `json:"unknown,omitempty"`

	// The node whose share is the least, and that share.
	Worst      agent.NodeID `json:"worst"`
	WorstShare float64      `json:"worst_share"`
}

// coverage returns how often the truth was held, nil if no truth was told or nodes
// have neither sets nor intervals.
func (h *Machine) coverage() *CoverageReport {
	p := h.cfg.Plan
	if !h.learns() || p.Rule.Conformal == nil {
		return nil
	}
	var all conformal.Meter
	r := &CoverageReport{Asked: p.Rule.Conformal.Coverage, WorstShare: 2}
	for i := range h.cells {
		n := h.cells[i].node
		m := n.Meter()
		if share := m.Coverage(); m.Judged > 0 && share < r.WorstShare {
			r.Worst, r.WorstShare = n.ID(), share
		}
		all.Add(m)
	}
	if all.Judged == 0 {
		return nil
	}
	r.Share, r.Judged, r.Size, r.Unknown = all.Coverage(), all.Judged, all.MeanSize(), all.Unknown()
	return r
}

// sayCoverage logs at the end how often the truth was held.
func (h *Machine) sayCoverage(r *CoverageReport, final bool) {
	if r == nil || !final {
		return
	}
	h.info(fmt.Sprintf("%.1f %% of the answers that were judged held the truth, %.4g %% asked; node %d had the least, %.1f %%",
		100*r.Share, 100*r.Asked, r.Worst, 100*r.WorstShare), "judged", r.Judged, "unknown", r.Unknown, "size", r.Size)
}
