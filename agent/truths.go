package agent

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/rule"
)

// Judged is how the forecasts turned out whose truth became known with the last
// Begin: mean absolute errors in the user's units, of the answers and of those of
// the model as trained, over so many horizons.
type Judged struct {
	Answered, Trained float64
	Horizons          int
}

// PastTruth is what the world was at a step.
type PastTruth struct {
	Time  uint64  `json:"time"`
	Value float32 `json:"value"`
}

// pastTruth is one in normalised units, if it is known.
type pastTruth struct {
	PastTruth
	known bool
}

// tell takes in what the world was at a step, and says whether a forecast by seasons
// was judged by it.
func (f *forecasting) tell(time uint64, truth float32) bool {
	if f.truths != nil {
		if at := &f.truths[time%uint64(len(f.truths))]; !at.known || at.Time < time {
			*at = pastTruth{PastTruth{time, truth}, true}
		}
	}
	if f.season == nil {
		return false
	}
	judged := f.season.Tell(time, truth)
	for _, j := range judged {
		f.count(math.Abs(float64(j.Answer)-float64(truth)), math.Abs(float64(j.Base)-float64(truth)), 1)
	}
	return len(judged) > 0
}

// count takes in sums of absolute errors, in normalised units.
func (f *forecasting) count(answered, trained float64, horizons int) {
	j, scale := &f.judged, f.norm.Scale
	was, all := float64(j.Horizons), float64(j.Horizons+horizons)
	j.Answered, j.Trained = (float64(j.Answered*was)+float64(answered*scale))/all, (float64(j.Trained*was)+float64(trained*scale))/all
	j.Horizons += horizons
}

// tellLate keeps the truth of an earlier step for the next Begin.
func (n *Node) tellLate(ev Told) error {
	f := n.forecasting
	if !n.begun || ev.Time > n.time || n.time-ev.Time > uint64(n.plan.lateness()) {
		return fmt.Errorf("%w: node %d: the truth of step %d in step %d, want one of the %d before",
			ErrOrder, n.id, ev.Time, n.time, n.plan.lateness())
	}
	if !mat.Finite(ev.Truth) {
		return fmt.Errorf("%w: node %d: a truth of %v", ErrMalformed, n.id, ev.Truth)
	}
	at, found := slices.BinarySearchFunc(f.late, ev.Time, func(t PastTruth, time uint64) int { return cmp.Compare(t.Time, time) })
	if found {
		f.late[at].Value = ev.Truth
	} else {
		f.late = slices.Insert(f.late, at, PastTruth{ev.Time, ev.Truth})
	}
	return nil
}

// usualLateness is how many steps late truths may be, unless the rule says so.
const usualLateness = 12

// lateness returns how many steps ago a truth may be that is still learned from.
func (p *Plan) lateness() int {
	late := usualLateness
	if p.Season != nil && p.Rule.Delay > 0 {
		late = p.Rule.Delay
	}
	return p.furthest() + late
}

// dueTruths puts the steps whose targets are complete now among what the node was
// told, for rules that learn from all horizons of an answer at once: of step q that
// is when the truth of the furthest horizon is known, at q+max h. Times may have
// leapt since the step before, with which several become complete at once.
func (n *Node) dueTruths() {
	f, far := n.forecasting, uint64(n.plan.furthest())
	if f.sensor == nil || n.time < far {
		return
	}
	last := n.time - far
	first := last
	if f.stepped { // what was not complete in the step before, and was answered at all
		first, last = f.before+1-min(f.before+1, far), min(last, f.before)
	}
	for q := first; q <= last; q++ {
		given := n.Given(q)
		if given == nil {
			continue
		}
		target := mat.NewDense(1, len(n.output), nil)
		for c, h := range n.plan.Forecast.Horizons {
			target.Set(0, c, f.truthOf(q+uint64(h)))
		}
		if !loss.Known(target.Row(0)) {
			continue
		}
		f.compare(given, target.Row(0))
		n.told = append(n.told, Told{Time: q, Loss: n.plan.Cost.(loss.Regression).With(target, nil)})
	}
}

// truthOf returns what the world was at a step, NaN if nobody said so.
func (f *forecasting) truthOf(time uint64) float32 {
	if at := f.truths[time%uint64(len(f.truths))]; at.known && at.Time == time {
		return at.Value
	}
	return float32(math.NaN())
}

// compare counts how an answer turned out.
func (f *forecasting) compare(given *rule.Given, target []float32) {
	answer, answered, trained, horizons := given.Output(), 0.0, 0.0, 0
	for c, v := range target {
		if v == v {
			answered += math.Abs(float64(answer[c]) - float64(v))
			trained += math.Abs(float64(given.Base[c]) - float64(v))
			horizons++
		}
	}
	f.count(answered, trained, horizons)
}
