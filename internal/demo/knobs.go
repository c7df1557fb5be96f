package demo

import (
	"fmt"
	"math/rand/v2"

	"github.com/wdgnn/wdgnn/internal/live"
	"github.com/wdgnn/wdgnn/internal/recipe"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/rule"
)

// Names of the knobs of a Live, beside live.ControlDrop.
const (
	knobLearner = "learner" // the one on show
	knobTold    = "told"    // share of the answers that nodes hear
	knobLiar    = "liar"    // about what one node lies
)

// own learns as neighbours does, without weights for single neighbours, and without a
// gate. It stands last on the page alone.
var own = recipe.LearnerSpec{ID: "own", Kind: recipe.WideDeep, Mode: recipe.Distributed, Config: rule.Own().Ungated()}

// knobs are how those who watch have set the demo. The zero value is the beginning,
// but for told.
type knobs struct {
	told float64 // share of answers heard, 0 to 1
	lie  lie
}

// knobControls are the knobs as a scene has them.
func (l *Live) knobControls() []live.Control {
	var names []string
	for _, k := range l.learners {
		names = append(names, k.name)
	}
	return []live.Control{
		{Name: knobLearner, Label: "Learner", Kind: live.KindChoice, Options: names, Low: 1, Value: float64(l.shown)},
		{Name: live.ControlDrop, Label: "Links lost", Kind: live.KindRange, High: 0.6, Step: 0.05, Ends: []string{"none", "most"}},
		{Name: knobTold, Label: "Answers heard", Kind: live.KindRange, High: 1, Step: 0.05, Value: 1, Ends: []string{"none", "all"}},
		{Name: knobLiar, Label: "Lying neighbour", Kind: live.KindChoice, Options: lieNames},
		{Name: live.ControlReset, Label: "Reset", Kind: live.KindButton},
	}
}

// setting returns the present value of a control, NaN if it has none.
func (l *Live) setting(control string) float64 {
	switch control {
	case live.ControlPause:
		if l.paused {
			return 1
		}
		return 0
	case live.ControlSpeed:
		return l.speed
	case live.ControlDrop:
		return l.world.p
	case knobLearner:
		return float64(l.shown)
	case knobTold:
		return l.knobs.told
	case knobLiar:
		return float64(l.knobs.lie)
	}
	return nan
}

// turn sets a knob and says what that means.
func (l *Live) turn(c live.Command) error {
	at := float64(l.time)
	switch c.Name {
	case knobLearner:
		l.show(int(c.Value))
	case knobTold:
		l.knobs.told = c.Value
		l.hub.Mark(at, fmt.Sprintf("%.0f %% of answers heard", 100*c.Value),
			"Nodes hear %.0f %% of the answers, and learn from no other.", 100*c.Value)
	case knobLiar:
		l.lie(lie(c.Value))
	case live.ControlReset:
		return l.restart()
	}
	return nil
}

// show puts a learner beside the frozen model.
func (l *Live) show(learner int) {
	if learner == l.shown {
		return
	}
	l.shown = learner
	name := l.learners[learner].name
	l.hub.Mark(float64(l.time), "on show: "+name, "%s is on show beside the frozen model. The others learn on.", name)
}

// restart puts everything back to the beginning but the speed: the same signals come
// again, and curves start here. Time goes on, so that a recording has what was before.
func (l *Live) restart() error {
	l.world.begin()
	if err := l.world.set(0, nil); err != nil {
		return err
	}
	l.learners = l.entrants()
	l.shown, l.knobs, l.touched, l.compared = firstShown, knobs{told: 1}, false, false
	l.begun, l.changed = l.time, l.time
	l.hub.Anew(float64(l.time), "reset", "Back to the beginning: all links, the taps trained offline, and the same signals again.")
	return l.enter()
}

// mixes says whether nodes of a learner mix what they send.
func (k *racer) mixes() bool { return k.spec.Mode == recipe.Distributed && k.spec.Config.Mixes() }

// hear returns what nodes hear of the truth, each answer with probability share. It
// draws a number for every label whatever the share, so that the share alone decides.
func hear(truth loss.CrossEntropy, share float64, rng *rand.Rand) loss.CrossEntropy {
	heard := make([]int32, len(truth.Labels))
	for i, label := range truth.Labels {
		heard[i] = loss.NoLabel
		if label != loss.NoLabel && rng.Float64() < share {
			heard[i] = label
		}
	}
	return loss.CrossEntropy{Labels: heard}
}
