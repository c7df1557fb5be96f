package rule

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"github.com/wdgnn/wdgnn/conformal"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
)

// Answers is the other side of a node, beside its learner: it gives what is
// answered, the adapted output or the one of the model as trained, with its set or
// intervals, and remembers it until it is judged, at most Config.Delay steps later. It
// is not safe for concurrent use.
type Answers struct {
	outputs int
	inputs  int             // of z that are kept
	most    int             // and at most, of a node that hears its neighbours one by one
	gates   []gate          // one for all outputs, or one each where truths come one by one; none: what was learned is always answered
	apart   bool            // truths come one by one
	given   []Given         // by time modulo their number
	now     uint64          // the time of the latest
	one     []float32       // a target
	sure    *conformal.Node // nil: answers have no sets or intervals
	scores  [][]float64     // that they began with
}

// Given is an answer that waits to be judged, and what it was made with.
type Given struct {
	Time    uint64    // those of an earlier life end at -1, in two's complement
	Inputs  []float32 // z
	Base    []float32 // y†
	Learned []float32 // what the learner answers, within its reach
	Bounds  []conformal.Bound

	open bool // which of the two was answered
	risk float64
	used bool      // the slot holds an answer that was not judged
	told []bool    // by output, where truths come one by one
	kept []float64 // what the learner needs beside inputs
}

// Output returns what was answered. It belongs to the Answers.
func (g *Given) Output() []float32 {
	if g.open {
		return g.Learned
	}
	return g.Base
}

// NewAnswers returns those of one node under the configuration, which must be
// valid, with the scores of earlier answers, see NodeConfig; nil if it asks for none.
func NewAnswers(f *Basis, c *Config, scores [][]float64) *Answers {
	if c.AsLearned() {
		return nil
	}
	a := plainAnswers(f, c.Delay)
	a.scores = scores
	if c.Gate != nil {
		a.gates = []gate{newGate(*c.Gate, f.outputs)}
	}
	if c.Conformal != nil {
		a.sure = conformal.New(*c.Conformal, f.outputs)
	}
	a.begin()
	return a
}

// plainAnswers returns those of a node that always answers with what it learned.
func plainAnswers(f *Basis, delay int) *Answers {
	a := &Answers{outputs: f.outputs, inputs: f.inputs, most: f.inputs, given: make([]Given, delay+1), one: make([]float32, f.outputs)}
	if f.common != nil {
		a.most = max(MostHeard, f.inputs)
	}
	return a
}

// begin gives sets or intervals the scores that they begin with.
func (a *Answers) begin() {
	if a.sure == nil || len(a.scores) != len(a.sure.Bounds()) {
		return
	}
	for k, list := range a.scores {
		a.sure.Begin(k, list)
	}
}

// slot returns where the answer of a time stands.
func (a *Answers) slot(time uint64) int {
	n := int64(len(a.given))
	return int(((int64(time) % n) + n) % n)
}

// Answer writes what the node answers to y, overwritten, and changes nothing:
// y† while the gate is closed, else the adapted output, or what lies within reach
// on the way to it.
//
//	y = y† + s (adapted - y†)      s ≤ 1, so that |y_c - y†_c| ≤ r for all c
//
// For a convex cost such an answer is better than y† if the adapted one is.
func (a *Answers) Answer(time uint64, y, adapted, base []float32) {
	switch {
	case a.apart:
		a.each(y, adapted, base)
	case len(a.gates) == 0:
		copy(y, adapted)
	case !a.gates[0].state.Open:
		copy(y, base)
	default:
		a.within(y, adapted, base, a.slot(time))
	}
}

// each is Answer where every output has a gate of its own.
func (a *Answers) each(y, adapted, base []float32) {
	for c, v := range adapted {
		if v-v != 0 || !a.gates[c].opens() {
			v = base[c]
		}
		y[c] = v
	}
}

// within writes what lies within reach on the way from base to adapted, and
// returns what it puts at risk. The answer takes the given slot: what stands there
// can be judged no more.
func (a *Answers) within(y, adapted, base []float32, slot int) (risk float64) {
	g := &a.gates[0]
	far := distance(adapted, base)
	if far == 0 || !mat.Finite(far) {
		copy(y, base)
		return 0
	}
	most := g.allowed(a.reserved(slot), len(a.given))
	s := min(g.reach(most)/far, 1)
	for c, b := range base {
		step := float64(s * (float64(adapted[c]) - float64(b)))
		y[c] = float32(float64(b) + step)
		if math.Abs(float64(y[c])-float64(b)) > math.Abs(step) { // rounded out of reach
			y[c] = math.Nextafter32(y[c], b)
		}
	}
	risk = g.excess(distance(y, base))
	if g.bounded() && risk > most { // by rounding: outputs may be large and the reach small
		copy(y, base)
		return 0
	}
	return risk
}

// distance returns the largest |a_c - b_c|, NaN or +Inf if one is not finite.
func distance(a, b []float32) float64 {
	most := 0.0
	for c, v := range a {
		d := math.Abs(float64(v) - float64(b[c]))
		if d-d != 0 { // NaN or infinite
			return d
		}
		most = max(most, d)
	}
	return most
}

// reserved returns what answers put at risk that are not judged yet, but for that of
// a slot.
func (a *Answers) reserved(but int) float64 {
	sum := 0.0
	for k := range a.given {
		if g := &a.given[k]; k != but && g.used && g.open {
			sum += g.risk
		}
	}
	return sum
}

// Give is Answer, and keeps what the answer was made with under the given time,
// which ascends. What it returns is valid until the next Give.
func (a *Answers) Give(time uint64, y, adapted, base, z []float32) *Given {
	slot := a.slot(time)
	g := &a.given[slot]
	if a.most == a.inputs { // otherwise what was heard stands behind z
		z = z[:a.inputs]
	}
	g.Inputs, g.Base = append(g.Inputs[:0], z...), append(g.Base[:0], base...)
	g.Learned = slices.Grow(g.Learned[:0], len(base))[:len(base)]
	g.Time, g.open, g.risk, a.now = time, true, 0, time
	switch {
	case a.apart:
		a.each(g.Learned, adapted, base)
		clear(g.told)
	case len(a.gates) == 0:
		copy(g.Learned, adapted)
	default:
		gate := &a.gates[0]
		g.open, g.risk = gate.state.Open, a.within(g.Learned, adapted, base, slot)
		if !mat.Finite(adapted...) {
			gate.state.Behind = gate.Patience
		}
	}
	g.used, g.Bounds = true, append(g.Bounds[:0], a.Bounds()...)
	copy(y, g.Output())
	return g
}

// At returns the answer of the given time that waits to be judged, nil if there is
// none. It is valid until the next Give.
func (a *Answers) At(time uint64) *Given {
	if a == nil {
		return nil
	}
	if g := &a.given[a.slot(time)]; g.used && g.Time == time {
		return g
	}
	return nil
}

// Judge takes in what the answer of the given time cost: row of j. It returns what
// the answer was made with, for the learner, and false if there is no such answer,
// it was judged before, or the row carries no cost. What it returns is valid until
// the next Give.
func (a *Answers) Judge(time uint64, j loss.Local, row int) (*Given, bool) {
	g := a.At(time)
	if g == nil {
		return nil, false
	}
	if t, ok := j.(loss.Targeted); ok {
		n := t.TargetLen(a.outputs)
		if len(a.one) < n {
			a.one = make([]float32, n)
		}
		if !t.TargetOf(row, a.one) {
			return nil, false
		}
		if a.sure != nil && len(g.Bounds) == n {
			a.sure.Judge(g.Output(), g.Bounds, a.one[:n])
		}
	}
	if len(a.gates) > 0 {
		a.gates[0].judge(a.now, g, j, row)
	}
	g.used = false
	return g, true
}

// judgeOne takes in what output c of an answer should have been.
func (a *Answers) judgeOne(g *Given, c int, truth float32) {
	g.told[c] = true
	a.gates[c].capped(float64(truth), float64(g.Learned[c]), float64(g.Base[c]))
	if a.sure == nil {
		return
	}
	for k := range a.one {
		a.one[k] = float32(math.NaN())
	}
	a.one[c] = truth
	a.sure.Judge(g.Learned, g.Bounds, a.one)
}

// Gated says whether there is a gate.
func (a *Answers) Gated() bool { return a != nil && len(a.gates) > 0 }

// Refuse counts an update of the learner that was refused.
func (a *Answers) Refuse() {
	if a.Gated() {
		a.gates[0].refuse()
	}
}

// Losing says that what was learned has been behind for so long, or refused so
// often, that the learner should begin again at 𝒜†; Anew says that it does. Without
// a gate nobody judges, and it never should.
func (a *Answers) Losing() bool { return a.Gated() && a.gates[0].losing() }

// Anew counts that the learner begins again.
func (a *Answers) Anew() { a.gates[0].anew() }

// Gate returns what the gate remembers, the zero state without one.
func (a *Answers) Gate() GateState {
	if !a.Gated() {
		return GateState{}
	}
	return a.gates[0].state
}

// Bounds returns those of the next answer, see [conformal.Bound]; nil without a
// Config.Conformal. They belong to the Answers, and hold until Judge.
func (a *Answers) Bounds() []conformal.Bound {
	if a == nil || a.sure == nil {
		return nil
	}
	return a.sure.Bounds()
}

// Meter returns how often the sets or intervals of answers held the truth.
func (a *Answers) Meter() conformal.Meter {
	if a == nil || a.sure == nil {
		return conformal.Meter{}
	}
	return a.sure.Meter()
}

// State returns what is remembered, as that of a node without a learner.
func (a *Answers) State(next uint64) State { return newState(a.parts(next)) }

// Restore puts back what a State says of answers: an error says what does not fit, and
// changes nothing. Of what it does not speak begins anew, but for the scores that sets
// or intervals began with.
func (a *Answers) Restore(s State, next uint64) error {
	parts, err := s.parts()
	if err == nil && len(parts[learnerPart]) > 0 {
		err = errors.New("rule: state: that of a learner, want that of answers alone")
	}
	if err != nil {
		return err
	}
	to, err := a.restored(parts, next)
	if err == nil {
		*a = *to
	}
	return err
}

// Fits reports what keeps a State from being restored.
func (a *Answers) Fits(s State) error {
	to := *a
	return to.Restore(s, 0)
}

// Reset forgets everything but the scores that they began with.
func (a *Answers) Reset() { _ = a.Restore(nil, 0) } // nothing always fits

// What Answers remember, in a State: of every gate the numbers of GateState; of sets and
// intervals those of conformal.Node; and of every answer that waits
//
//	time, open, risk, n, z (n), y† (C), learned (C), number of bounds, bounds, told (C) and kept where truths come one by one

// notHeard stands for a value that was not heard, where NaN cannot be written.
const notHeard = math.MaxFloat32

// parts returns what is remembered as the parts of a State, with an empty one for the
// learner. Without a delay no answer waits between two steps.
func (a *Answers) parts(next uint64) (parts [stateParts][]float64) {
	for k := range a.gates {
		parts[gatesPart] = a.gates[k].state.numbers(parts[gatesPart], next)
	}
	if a.sure != nil {
		parts[setsPart] = a.sure.State(nil)
	}
	var waiting []*Given
	for k := range a.given {
		if g := &a.given[k]; g.used && len(a.given) > 1 && (!a.apart || slices.Contains(g.told, false)) {
			waiting = append(waiting, g)
		}
	}
	slices.SortFunc(waiting, func(a, b *Given) int { return cmp.Compare(int64(a.Time), int64(b.Time)) })
	for _, g := range waiting {
		parts[waitingPart] = g.numbers(parts[waitingPart], next)
	}
	return parts
}

func (g *Given) numbers(list []float64, next uint64) []float64 {
	list = append(list, float64(int64(g.Time-next)), number(g.open), g.risk, float64(len(g.Inputs)))
	for _, v := range g.Inputs {
		if v != v {
			v = notHeard
		}
		list = append(list, float64(v))
	}
	list = append(widen(widen(list, g.Base), g.Learned), float64(len(g.Bounds)))
	for _, b := range g.Bounds {
		list = append(list, b.Low, b.High)
	}
	for _, told := range g.told {
		list = append(list, number(told))
	}
	return append(list, g.kept...)
}

// restored returns Answers like a that remember what parts say, which may come from
// outside: an error says what does not fit. Of what they do not speak begins anew. Of
// answers that wait, those are kept for which there is room.
func (a *Answers) restored(parts [stateParts][]float64, next uint64) (*Answers, error) {
	to := *a
	to.now, to.gates, to.given = next-1, slices.Clone(a.gates), make([]Given, len(a.given))
	for k := range to.given {
		to.given[k].told, to.given[k].kept = make([]bool, len(a.given[k].told)), make([]float64, len(a.given[k].kept))
	}
	r := reader{rest: parts[gatesPart]}
	for k := range to.gates {
		s := GateState{Most: a.gates[k].usual}
		if len(parts[gatesPart]) > 0 {
			s = r.gate(next)
		}
		if to.gates[k].usual > 0 {
			s.Most = a.gates[k].usual
		}
		to.gates[k].state = s
		r.bad = r.bad || !s.valid()
	}
	if err := r.end("gates"); err != nil && len(to.gates) > 0 {
		return nil, err
	}
	var err error
	if a.sure != nil {
		if to.sure, err = a.sure.Restored(parts[setsPart]); len(parts[setsPart]) == 0 {
			to.sure = a.sure.Anew()
			to.begin()
		} else if err != nil {
			return nil, err
		}
	}
	r = reader{rest: parts[waitingPart]}
	for last := int64(math.MinInt64); len(r.rest) > 0 && !r.bad; {
		g := to.read(&r, next)
		if int64(g.Time) <= last {
			return nil, errors.New("rule: state: answers that wait are not in order")
		}
		last = int64(g.Time)
		to.given[to.slot(g.Time)] = g
	}
	return &to, r.end("answers that wait")
}

// read returns an answer that waits.
func (a *Answers) read(r *reader, next uint64) Given {
	g := Given{Time: next + uint64(int64(r.next())), open: r.next() != 0, risk: r.next(), used: true}
	if n := r.count(); n < a.inputs || n > a.most {
		r.bad = true
	} else {
		g.Inputs = make([]float32, n)
	}
	r.single(g.Inputs)
	for k, v := range g.Inputs {
		if v == notHeard && a.most > a.inputs {
			g.Inputs[k] = float32(math.NaN())
		}
	}
	g.Base, g.Learned = make([]float32, a.outputs), make([]float32, a.outputs)
	r.single(g.Base)
	r.single(g.Learned)
	bounds := r.count()
	if a.sure != nil && bounds != 0 && bounds != len(a.sure.Bounds()) {
		r.bad = true
	}
	for range min(bounds, len(r.rest)) {
		g.Bounds = append(g.Bounds, conformal.Bound{Low: r.next(), High: r.next()})
	}
	like := &a.given[0]
	for range like.told {
		g.told = append(g.told, r.next() != 0)
	}
	g.kept = slices.Clone(r.take(len(like.kept)))
	r.bad = r.bad || g.risk < 0
	return g
}
