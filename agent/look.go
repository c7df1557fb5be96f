package agent

import (
	"github.com/wdgnn/wdgnn/conformal"
	"github.com/wdgnn/wdgnn/forecast"
	"github.com/wdgnn/wdgnn/rule"
)

// What others may see of a node. Nothing here changes it.

// Gate returns what the node's gate remembers, and false if it has none.
func (n *Node) Gate() (rule.GateState, bool) {
	a := n.answers()
	return a.Gate(), a.Gated()
}

// Given returns the answer of an earlier step that may still be judged, nil if
// there is none. It belongs to the node.
func (n *Node) Given(time uint64) *rule.Given {
	return n.answers().At(time)
}

// answers returns what the learner answers with, nil if there is none.
func (n *Node) answers() *rule.Answers {
	if n.learner == nil {
		return nil
	}
	return n.learner.Answers()
}

// Bounds returns those of the set or intervals that go with the node's last
// answer, until it is told what that cost; nil if it has none. They belong to the
// node.
func (n *Node) Bounds() []conformal.Bound {
	if n.forecasting != nil {
		return n.forecasting.bounds
	}
	return n.answers().Bounds()
}

// Interval returns between which numbers the node says that the truth of output c is,
// in the units of its answer; everything if nothing is known of it.
func (n *Node) Interval(c int) (low, high float32) {
	f := n.forecasting
	if f == nil {
		return n.Bounds()[c].Interval(n.output[c])
	}
	low, high = f.bounds[c].Interval(f.normal[c])
	if f.sensor == nil {
		return low, high
	}
	return f.sensor.Units(low), f.sensor.Units(high)
}

// Meter returns how often the sets or intervals of the node held the truth.
func (n *Node) Meter() (m conformal.Meter) {
	f := n.forecasting
	switch {
	case f != nil && f.season != nil:
		m = f.season.Meter()
	default:
		m = n.answers().Meter()
	}
	if f != nil && f.norm != nil {
		m.Size *= f.norm.Scale
	}
	return m
}

// Sensor returns what the node reads with, to be asked whether it is broken; nil if
// the node does not forecast, or is a newcomer that has not heard a sensor of
// training yet. It belongs to the node.
func (n *Node) Sensor() *forecast.Sensor {
	if n.forecasting == nil {
		return nil
	}
	return n.forecasting.sensor
}

// Season returns what the node learned by seasons, to be asked how it does; nil if it
// does not. It belongs to the node.
func (n *Node) Season() *rule.SeasonNode {
	if n.forecasting == nil {
		return nil
	}
	return n.forecasting.season
}

// Judged returns how forecasts turned out whose truth became known in this step; that
// of nodes which learn by a Basis is known when the step is over.
func (n *Node) Judged() Judged {
	if n.forecasting == nil {
		return Judged{}
	}
	return n.forecasting.judged
}

// ID returns the node's number.
func (n *Node) ID() NodeID { return n.id }

// Time returns the step that the node is in, or was in last.
func (n *Node) Time() uint64 { return n.time }

// Open says whether a step is under way.
func (n *Node) Open() bool { return n.open }

// Stats returns what was counted so far.
func (n *Node) Stats() Stats { return n.stats }

// Params returns x_i, the node's parameters as package rule writes them; nil if
// it does not learn. It belongs to the node.
func (n *Node) Params() []float32 {
	if n.learner == nil {
		return nil
	}
	return n.learner.Params()
}

// Base returns y†_i, what the model as trained answers at the present step, once
// there is a prediction. It belongs to the node.
func (n *Node) Base() []float32 {
	switch {
	case n.joint:
		return n.batch.base.Row(n.at)
	case n.forecasting != nil:
		return n.forecasting.trained
	}
	return n.base.Row(0)
}

// Waits returns the exchange whose messages the node waits for, and false if it
// waits for none.
func (n *Node) Waits() (exchange int, ok bool) { return n.exchange, n.open && !n.predicted }

// Missing appends the neighbours whose message is waited for to dst.
func (n *Node) Missing(dst []NodeID) []NodeID {
	if !n.open || n.predicted {
		return dst
	}
	for k, got := range n.inbox[n.exchange].got {
		if !got && !n.links[k].lost {
			dst = append(dst, n.links[k].Node)
		}
	}
	return dst
}
