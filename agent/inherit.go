package agent

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/wdgnn/wdgnn/forecast"
	"github.com/wdgnn/wdgnn/rule"
)

// Inherit lets a node that has begun no step take the place of another, between two
// steps: counts go on, and so does what its sensor has read. It says whether what the
// other has learned is kept too, which needs the same rule and a wide part of the same
// shape; anew says that it is not wanted. Otherwise the node begins with what its plan,
// or a [Node.Seed], says. See [rule.Node.Carry] for what is kept where models differ.
func (n *Node) Inherit(old *Node, anew bool) (learned bool) {
	was := old.Memory()
	next := n.after(&was)
	if n.plan.delaysAs(old.plan) {
		next.Delay = was.Delay
	}
	learned = !anew && n.plan.learnsAs(old.plan)
	if kept, ok := n.carry(old, learned); ok {
		next.State = kept
	} else if n.learner != nil {
		learned = false
	}
	learned = n.keepForecast(&next, old, &was, learned) || learned && n.learner != nil
	if err := n.Restore(next); err != nil { // what is left is the node's own, but for the delay line
		must(n.Restore(n.after(&was)))
		learned = false
	}
	n.begun = old.begun
	return learned
}

// after returns what the node remembers as after the last step of another.
func (n *Node) after(was *Memory) Memory {
	m := n.Memory()
	m.Time, m.Stats = was.Time, was.Stats
	if n.learner != nil {
		m.State = n.learner.State(was.Time + 1) // what waits keeps its times
	}
	return m
}

// carry returns what another node learned, if it is wanted and means something here.
func (n *Node) carry(old *Node, wanted bool) (rule.State, bool) {
	if !wanted || n.learner == nil || old.learner == nil {
		return nil, false
	}
	return n.learner.Carry(old.learner, old.time+1)
}

// keepForecast lets next remember what the sensor of another node has read, and says
// whether it has the other's seasons: those are in normalised units, and mean nothing
// where the sensor's norm is another.
func (n *Node) keepForecast(next *Memory, old *Node, was *Memory, seasons bool) bool {
	f, before := n.forecasting, old.forecasting
	if f == nil {
		return false
	}
	next.Forecast = f.memory(n.time)
	if before == nil || was.Forecast == nil || was.Forecast.Sensor == nil || before.norm == nil {
		return false
	}
	to := f.norm
	if to == nil { // a newcomer to both
		to = before.norm
	}
	same := sameUnits(to, before.norm)
	sensor := was.Forecast.Sensor.For(n.plan.Forecast, before.norm, to)
	next.Forecast.Sensor, next.Forecast.Late, next.Forecast.Near = &sensor, was.Forecast.Late, nil
	if same {
		next.Forecast.Near, next.Forecast.Truths = was.Forecast.Near, was.Forecast.Truths
	}
	if n.plan.Season == nil {
		return false
	}
	season := rule.NewSeasonNode(n.plan.Season, n.plan.sigma(to))
	if f.norm == nil {
		next.State = season.State()
	}
	if !seasons || !same || was.State == nil || season.Fits(was.State) != nil {
		return false
	}
	next.State = was.State
	return true
}

// sameUnits says whether normalised numbers mean the same.
func sameUnits(a, b *forecast.Norm) bool {
	return a.Mean == b.Mean && a.Scale == b.Scale && a.Level == b.Level
}

// delaysAs says whether the delay lines of both plans have the same places.
func (p *Plan) delaysAs(o *Plan) bool {
	if p.Delayed != o.Delayed || p.layers() != o.layers() {
		return false
	}
	for l := range p.layers() {
		order, features := p.shape(l)
		if was, before := o.shape(l); order != was || features != before {
			return false
		}
	}
	return true
}

// learnsAs says whether nodes of both plans learn by the same rule.
func (p *Plan) learnsAs(o *Plan) bool {
	if (p.Basis != nil) != (o.Basis != nil) || (p.Season != nil) != (o.Season != nil) || (p.Forecast != nil) != (o.Forecast != nil) {
		return false
	}
	if p.Rule == nil || o.Rule == nil {
		return p.Rule == o.Rule
	}
	return slices.Equal(p.ruleText(), o.ruleText())
}

// ruleText is how nodes learn, in words that can be compared.
func (p *Plan) ruleText() []byte {
	learns := *p.Rule
	learns.Conformal, learns.Gate = nil, nil
	text, err := json.Marshal(&learns)
	if err != nil {
		panic(fmt.Sprintf("agent: Inherit: %v", err)) // it was validated
	}
	return fmt.Appendf(text, " %T", p.Rule.Rule)
}
