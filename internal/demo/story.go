package demo

import (
	"math"
	"slices"

	"github.com/wdgnn/wdgnn/internal/live"
	"github.com/wdgnn/wdgnn/internal/recipe"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/online"
)

// pulse returns Sᵏδ_s for k = 0 … t, where s is the source of a community: how a
// signal spread, without its noise.
func (w *world) pulse(community, t int) []live.Floats {
	n := w.all.Nodes()
	x := mat.NewDense(n, 1, nil)
	x.Set(w.Net.Sources[community], 0, 1)
	list := []live.Floats{slices.Clone(x.Data)}
	for range t {
		y := mat.NewDense(n, 1, nil)
		mat.Serial.SpMM(y, w.Net.Shift, x)
		x = y
		list = append(list, slices.Clone(x.Data))
	}
	return list
}

// trial is the latest signal with all answers to it, nil before the first.
func (l *Live) trial() *live.Trial {
	w, n := l.world, l.world.all.Nodes()
	if w.now.Rows == 0 {
		return nil
	}
	t := &live.Trial{Source: int32(w.Net.Sources[w.label]), Truth: w.label, Hops: w.pulse(int(w.label), int(w.spread)), Shown: int32(l.shown)}
	last := t.Hops[len(t.Hops)-1]
	for i := range n {
		last[i] = w.now.At(i, 0)
	}
	for _, k := range l.learners {
		said := make([]int32, n)
		for i := range said {
			said[i] = -1
		}
		for _, i := range w.Net.Detectors {
			if !slices.Contains(w.down, i) {
				said[i] = int32(mat.Argmax(k.y.Row(i)))
			}
		}
		t.Answers = append(t.Answers, said)
	}
	return t
}

// Bounds of a story, in signals.
const (
	settled       = 30  // before the first pulse of a story
	slowPulse     = 4   // steps that it spreads at least
	seenPulse     = 1   // steps that the one after the break does
	heardPulse    = 2   // steps that those do by which a node is opened
	afterBreak    = 60  // among which the one with most mistakes is told
	leastUpdates  = 12  // between the mistake of a node and its right answer
	mostUpdates   = 300 // after which any node is good enough
	updatesInTale = 5   // that are told of a node
)

// teller keeps the story of a Live while it happens: see live.Story.
type teller struct {
	story   live.Story
	broken  int                   // signals since links were first lost
	worst   *live.Moment          // of these
	updates map[int][]live.Update // by detector, since then
	shown   int                   // the learner that they are of
	over    bool
}

// look returns the taps of the detectors before they learn, nil where nobody
// needs to know.
func (t *teller) look(l *Live) map[int]live.Floats {
	c, ok := l.learners[l.shown].learner.(*online.Consensus)
	if t.over || t.story.Before == nil || len(l.world.out) == 0 || !ok {
		return nil
	}
	taps, a := map[int]live.Floats{}, make([]float32, c.Basis().TapsLen())
	for _, i := range l.world.Net.Detectors {
		c.Taps(a, i)
		taps[i] = l.scores(a)
	}
	return taps
}

// scores returns 𝒜 Ω of taps 𝒜, (K+1)×C by rows: what a unit of [SᵏX]_i adds to the
// score of a community, Ω being the gain and the readout behind the taps.
func (l *Live) scores(taps []float32) live.Floats {
	m := l.world.Models[recipe.WideDeep].Network
	rows, features, outputs := m.Config.Wide.Order+1, m.Config.Features, m.Outputs() // a signal has one feature
	out := make(live.Floats, rows*outputs)
	for k := range rows {
		for o := range outputs {
			sum := 0.0
			for g := range features {
				sum += float64(taps[k*features+g]) * float64(m.Params.Readout.Weight.At(g, o))
			}
			out[k*outputs+o] = float32(sum * float64(m.Params.Gain[0]))
		}
	}
	return out
}

// add takes in the latest signal, with the taps before it, and says whether there
// is more to tell than before. Of signals while a node is down or lies it tells nothing.
func (t *teller) add(l *Live, taps map[int]live.Floats) (more bool) {
	if t.over || len(l.world.down) > 0 || l.knobs.lie != noLie {
		return false
	}
	if len(l.world.out) == 0 {
		t.broken, t.worst, t.updates = 0, nil, nil // links are back: what follows is another loss
		return t.addBefore(l)
	}
	if t.story.Before == nil {
		return false
	}
	if t.shown != l.shown || t.updates == nil { // another learner has taps of its own
		t.shown, t.updates = l.shown, map[int][]live.Update{}
	}
	if t.broken++; taps != nil {
		for _, i := range l.world.Net.Detectors {
			t.updates[i] = append(t.updates[i], l.update(i, taps[i]))
		}
	}
	more = t.addAfter(l)
	return t.addOpened(l) || more
}

// moment is now.
func (l *Live) moment() *live.Moment {
	m := &live.Moment{Time: float64(l.time), Out: l.world.out, Trial: l.trial()}
	for _, k := range l.learners {
		m.Shares = append(m.Shares, k.accuracy())
	}
	return m
}

// wrong counts the wrong answers of a learner.
func wrong(t *live.Trial, learner int) (count int) {
	for _, a := range t.Answers[learner] {
		if a >= 0 && a != t.Truth {
			count++
		}
	}
	return count
}

// addBefore keeps the first slow pulse that all tell right.
func (t *teller) addBefore(l *Live) bool {
	if t.story.Before != nil || l.world.spread < slowPulse || l.time < settled {
		return false
	}
	m := l.moment()
	if wrong(m.Trial, 0) > 0 || wrong(m.Trial, l.shown) > 0 {
		return false
	}
	t.story.Before = m
	return true
}

// addAfter keeps the signal after the break that the frozen model tells worst, the
// first of equals, and says when it is found.
func (t *teller) addAfter(l *Live) bool {
	if t.story.Before == nil || t.broken > afterBreak {
		return false
	}
	if m := l.moment(); t.worst == nil || l.world.spread >= seenPulse && wrong(m.Trial, 0) > wrong(t.worst.Trial, 0) {
		t.worst = m
	}
	if t.broken == afterBreak {
		t.story.After = t.worst
	}
	return t.broken == afterBreak
}

// update is what the latest signal brought to a node.
func (l *Live) update(i int, taps live.Floats) live.Update {
	u := live.Update{Moment: *l.moment(), Taps: taps}
	for _, j := range l.world.neighbors(i) {
		u.Heard = append(u.Heard, live.Heard{From: j, Value: l.world.now.At(int(j), 0)})
	}
	labels := make([]int32, l.world.all.Nodes())
	labels[i] = l.world.label
	for _, k := range []int{0, l.shown} {
		y := l.learners[k].y.Row(i)
		u.Belief = append(u.Belief, softmax(y))
		u.Error = append(u.Error, loss.CrossEntropy{Labels: labels}.EvalNode(i, nil, y))
	}
	return u
}

// neighbors are those that a node still hears.
func (w *world) neighbors(i int) (list []int32) {
	col, _ := w.shift.Row(i)
	for _, j := range col {
		if int(j) != i {
			list = append(list, j)
		}
	}
	return list
}

// softmax returns the probabilities that scores stand for.
func softmax(y []float32) live.Floats {
	most, sum := slices.Max(y), 0.0
	p := make(live.Floats, len(y))
	for _, v := range y {
		sum += math.Exp(float64(v - most))
	}
	for c, v := range y {
		p[c] = float32(math.Exp(float64(v-most)) / sum)
	}
	return p
}

// addOpened opens the first node that answers a signal wrong, as the frozen model
// does, and later one of the same community right where the frozen model does not.
// If none does in a while, the first detector is opened.
func (t *teller) addOpened(l *Live) bool {
	if t.story.After == nil || len(t.updates) == 0 {
		return false
	}
	for _, i := range l.world.Net.Detectors {
		if from, to, ok := turn(t.updates[i], i, l.shown); ok {
			t.open(l, i, t.updates[i][from:to+1])
			return true
		}
	}
	if t.broken < mostUpdates {
		return false
	}
	first := l.world.Net.Detectors[0]
	t.open(l, first, t.updates[first])
	return true
}

// turn finds the updates between which a node came to know better.
func turn(list []live.Update, node, shown int) (from, to int, ok bool) {
	hit := func(u *live.Update, learner int) bool { return u.Trial.Answers[learner][node] == u.Trial.Truth }
	to = len(list) - 1
	last := &list[to]
	if hit(last, 0) || !hit(last, shown) || len(last.Trial.Hops) <= heardPulse {
		return 0, 0, false
	}
	from = slices.IndexFunc(list, func(u live.Update) bool {
		return u.Trial.Truth == last.Trial.Truth && len(u.Trial.Hops) > heardPulse && !hit(&u, 0) && !hit(&u, shown)
	})
	return from, to, from >= 0 && to-from >= leastUpdates
}

// open tells some of the updates of a node, the first and the last among them.
func (t *teller) open(l *Live, node int, list []live.Update) {
	trained := l.world.Models[recipe.WideDeep].Network.Params.Flat // begins with the wide taps
	o := &live.Opened{Node: int32(node), Columns: int32(l.world.World.Communities), Trained: l.scores(trained)}
	told := min(updatesInTale, len(list))
	for k := range told {
		o.Updates = append(o.Updates, list[k*(len(list)-1)/max(told-1, 1)])
	}
	t.story.Opened, t.over, t.updates = o, true, nil
}

// tell adds the latest signal to the story, and tells it again if that is news.
func (l *Live) tell(taps map[int]live.Floats) error {
	if !l.story.add(l, taps) {
		return nil
	}
	now := l.story.story
	return l.hub.Tell(&now)
}
