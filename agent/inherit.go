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
	was, next := old.Memory(), n.Memory()
	next.Time, next.Stats = was.Time, was.Stats
	if n.plan.delaysAs(old.plan) {
		next.Delay = was.Delay
	}
	learned = !anew && n.plan.learnsAs(old.plan) && n.keepLearner(&next, &was, old.plan.Basis)
	season := learned || n.learner == nil && !anew && n.plan.learnsAs(old.plan)
	next.Forecast, season = n.keepForecast(old, was.Forecast, season)
	if n.learner == nil {
		learned = season
	}
	if err := n.Restore(next); err != nil { // what is left is the node's own, but for the delay line
		next = n.Memory()
		next.Time, next.Stats, learned = was.Time, was.Stats, false
		must(n.Restore(next))
	}
	n.begun = old.begun
	return learned
}

// keepLearner puts what another node learned into next, if it means something here.
// Answers that are still to be judged stay where they fit.
func (n *Node) keepLearner(next, was *Memory, from *rule.Basis) bool {
	if n.learner == nil || was.Learner == nil {
		return false
	}
	kept, ok := n.learner.Carry(*was.Learner, from)
	if !ok {
		return false
	}
	next.Learner = &kept
	if n.answers != nil && was.Answers != nil && n.answers.Fits(*was.Answers) == nil {
		next.Answers = was.Answers
	}
	return true
}

// keepForecast returns what a node remembers of its sensor that takes the place of
// another, and whether it has the other's seasons: those are in normalised units, and
// mean nothing where the sensor's norm is another.
func (n *Node) keepForecast(old *Node, was *ForecastMemory, seasons bool) (*ForecastMemory, bool) {
	f, before := n.forecasting, old.forecasting
	if f == nil {
		return nil, false
	}
	next := f.memory(n.time)
	if before == nil || was == nil || was.Sensor == nil || before.norm == nil {
		return next, false
	}
	to := f.norm
	if to == nil { // a newcomer to both
		to = before.norm
	}
	same := sameUnits(to, before.norm)
	sensor := was.Sensor.For(n.plan.Forecast, before.norm, to)
	next.Sensor, next.Late, next.Near = &sensor, was.Late, nil
	if same {
		next.Near = was.Near
		next.Truths = was.Truths
	}
	if f.norm == nil && n.plan.Season != nil && !(seasons && same && was.Season != nil) {
		fresh := rule.NewSeasonNode(n.plan.Season, n.plan.sigma(to)).Memory()
		next.Season = &fresh
	}
	if !seasons || !same || was.Season == nil || n.plan.Season == nil {
		return next, false
	}
	if rule.NewSeasonNode(n.plan.Season, n.plan.sigma(to)).Fits(*was.Season) != nil {
		return next, false
	}
	next.Season = was.Season
	return next, true
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
