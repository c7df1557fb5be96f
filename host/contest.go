package host

import (
	"strings"

	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/rule"
)

// contest compares what the answers of a host cost of late with what those of
// the model as trained would have: both are known where a target is told, and
// nothing travels for it. It belongs to the loop.
type contest struct {
	steps   [contestSteps]contestStep // the latest in which something was told, in turn
	n       int                       // of these so far
	frozen  float64                   // sum of the frozen costs of all of them
	harmful bool                      // what the log said last
	changed int                       // n when it did
}

// contestStep is what the nodes of a host paid in one step, on the mean.
type contestStep struct {
	time            uint64
	nodes           float64
	learned, frozen float64
}

const (
	contestSteps = 100   // that are compared
	contestLeast = 10    // before which nothing is said
	mostCost     = 1e300 // stands for costs that are larger, or no number
)

// add takes in what one node paid at a step.
func (c *contest) add(time uint64, learned, frozen float64) {
	at := &c.steps[max(c.n-1, 0)%contestSteps]
	if c.n == 0 || at.time != time {
		at = &c.steps[c.n%contestSteps]
		*at = contestStep{time: time}
		c.n++
	} else {
		c.frozen -= at.frozen
	}
	at.nodes++
	at.learned += (bounded(learned) - at.learned) / at.nodes
	at.frozen += (bounded(frozen) - at.frozen) / at.nodes
	c.frozen += at.frozen
}

// bounded returns a cost that can be added up and written as JSON.
func bounded(cost float64) float64 {
	if cost-cost != 0 || cost > mostCost {
		return mostCost
	}
	return cost
}

// comparison returns how the latest steps went, nil if nothing was told.
func (c *contest) comparison() *rule.Comparison {
	if c.n == 0 {
		return nil
	}
	r := &rule.Comparison{Steps: min(c.n, contestSteps), Usual: c.frozen / float64(c.n)}
	for _, s := range c.steps[:r.Steps] {
		r.Learned += s.learned / float64(r.Steps)
		r.Frozen += s.frozen / float64(r.Steps)
	}
	return r
}

// compare takes in the answer of a node that learns and was told a target. A
// gradient says nothing of what another answer would have cost.
func (h *Machine) compare(c *cell) {
	if h.cfg.Plan.Basis == nil {
		return
	}
	if s := &c.square; c.told == loss.Loss(&s.MSE) { // most often
		h.contest.add(h.time, s.EvalTarget(nil, c.output, s.Target.Data), s.EvalTarget(nil, c.node.Base(), s.Target.Data))
		return
	}
	j, ok := c.told.(loss.Targeted)
	if !ok {
		return
	}
	h.contest.add(h.time, j.EvalNode(0, nil, c.output), j.EvalNode(0, nil, c.node.Base()))
}

// judge logs when learning begins to do harm and when it ceases to, and once
// more if it ends so. Between two lines all steps that are compared are new ones.
func (h *Machine) judge(r *Report) {
	c, at := &h.contest, r.Learning
	if at == nil || at.Steps < contestLeast && !r.Final {
		return
	}
	now := at.Harmful()
	turned := now != c.harmful && (c.changed == 0 || r.Final || c.n-c.changed >= contestSteps)
	if turned {
		c.harmful, c.changed = now, c.n
	}
	switch {
	case now && (turned || r.Final):
		h.warn("online learning does harm: "+at.String(), "time", h.time, "cost", at.Learned, "frozen", at.Frozen,
			"try", "learn."+strings.Join(h.cfg.Plan.Rule.Calmer(), ", or learn."))
	case turned:
		h.info("online learning does no harm any more: "+at.String(), "time", h.time, "cost", at.Learned, "frozen", at.Frozen)
	}
}
