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
	knobMixing  = "mixing"  // its η: W = (1-η)I + ηW₀
	knobTold    = "told"    // share of the answers that nodes hear
	knobLiar    = "liar"    // about what one node lies
	knobDefence = "defence" // what nodes that mix do about it
)

// newton learns by second derivatives as heard does, and can mix: without gates, so
// that what mixing and lies do is to be seen. It stands last on the page alone.
var newton = recipe.LearnerSpec{ID: "newton", Kind: recipe.WideDeep, Mode: recipe.Distributed, Config: rule.Laplace()}

// knobs are how those who watch have set the demo. The zero value is the beginning,
// but for told.
type knobs struct {
	told    float64 // share of answers heard, 0 to 1
	lie     lie
	defence rule.Clip
}

// defences are what the choices of knobDefence are called, by rule.Clip.
var defences = []string{"none", "median", "trimmed"}

// knobControls are the knobs as a scene has them.
func (l *Live) knobControls() []live.Control {
	var names []string
	for _, k := range l.learners {
		names = append(names, k.name)
	}
	return []live.Control{
		{Name: knobLearner, Label: "Learner", Kind: live.KindChoice, Options: names, Low: 1, Value: float64(l.shown)},
		{
			Name: knobMixing, Label: "Mixing", Kind: live.KindRange, High: 1, Step: 0.01, Value: l.learners[l.shown].spec.Config.Mixing,
			Ends: []string{"own taps", "consensus"},
		},
		{Name: live.ControlDrop, Label: "Links lost", Kind: live.KindRange, High: 0.6, Step: 0.05, Ends: []string{"none", "most"}},
		{Name: knobTold, Label: "Answers heard", Kind: live.KindRange, High: 1, Step: 0.05, Value: 1, Ends: []string{"none", "all"}},
		{Name: knobLiar, Label: "Lying neighbour", Kind: live.KindChoice, Options: lieNames},
		{Name: knobDefence, Label: "Defence", Kind: live.KindChoice, Options: defences},
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
	case knobMixing:
		return l.learners[l.shown].spec.Config.Mixing
	case knobTold:
		return l.knobs.told
	case knobLiar:
		return float64(l.knobs.lie)
	case knobDefence:
		return float64(l.knobs.defence)
	}
	return nan
}

// turn sets a knob and says what that means.
func (l *Live) turn(c live.Command) error {
	at := float64(l.time)
	switch c.Name {
	case knobLearner:
		l.show(int(c.Value))
	case knobMixing:
		return l.mix(c.Value)
	case knobTold:
		l.knobs.told = c.Value
		l.hub.Mark(at, fmt.Sprintf("%.0f %% of answers heard", 100*c.Value),
			"Nodes hear %.0f %% of the answers, and learn from no other.", 100*c.Value)
	case knobLiar:
		l.lie(lie(c.Value))
	case knobDefence:
		return l.defend(rule.Clip(c.Value))
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

// mix lets the learner on show mix with strength η; where that never mixes, newton
// takes its place.
func (l *Live) mix(strength float64) error {
	k := l.learners[l.shown]
	if !k.mixes() {
		last := len(l.learners) - 1
		l.hub.Say(float64(l.time), "%s never mixes: its weights for neighbours mean nothing to others.", k.name)
		l.show(last)
		k = l.learners[last]
	}
	if err := k.tune(l, func(c *rule.Config) { c.Mixing = strength }); err != nil {
		return err
	}
	switch at, mark := float64(l.time), fmt.Sprintf("mixing %.0f %%", 100*strength); strength {
	case 0:
		l.hub.Mark(at, mark, "Nodes of %s keep their own taps and send none.", k.name)
	case 1:
		l.hub.Mark(at, mark, "Nodes of %s average their taps with their neighbours' at every signal: consensus.", k.name)
	default:
		l.hub.Mark(at, mark, "Nodes of %s move their taps %.0f %% of the way to the average with their neighbours.", k.name, 100*strength)
	}
	return nil
}

// defend says what nodes that mix do about neighbours that stand out.
func (l *Live) defend(how rule.Clip) error {
	l.knobs.defence = how
	for _, k := range l.learners {
		if k.mixes() {
			if err := k.tune(l, func(c *rule.Config) { c.Clip = how }); err != nil {
				return err
			}
		}
	}
	at := float64(l.time)
	switch how {
	case rule.ClipMedian:
		l.hub.Mark(at, "defence: median", "In a node that mixes no neighbour counts for more than is usual among them.")
	case rule.ClipTrimmed:
		l.hub.Mark(at, "defence: trimmed", "Nodes that mix leave out the quarter of their neighbours with the farthest taps.")
	default:
		l.hub.Mark(at, "no defence", "Nodes that mix believe everybody.")
	}
	if l.knobs.lie == tapsLie {
		l.forget()
	}
	return nil
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

// mixes says whether a learner can mix.
func (k *racer) mixes() bool {
	return k.spec.Mode == recipe.Distributed && k.spec.Config.Retrain != rule.RetrainHeard
}

// tune goes on with other settings where the learner was.
func (k *racer) tune(l *Live, set func(*rule.Config)) error {
	spec := k.spec
	set(&spec.Config)
	next, err := l.world.Learner(spec, l.shared)
	if err != nil {
		return err
	}
	if err := next.Restore(k.learner.Snapshot()); err != nil {
		return err
	}
	k.spec, k.learner = spec, next
	return nil
}

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
