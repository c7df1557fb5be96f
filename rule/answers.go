package rule

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/wdgnn/wdgnn/conformal"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
)

// Answers is the other side of a node, beside its learner: it gives what is
// answered, the adapted output or the one of the model as trained, and remembers
// it until it is judged, at most Config.Delay steps later. It is not safe for
// concurrent use.
type Answers struct {
	basis *Basis
	gate  *gate // nil: what was learned is always answered
	given []Given
	next  int       // the slot of the next
	now   uint64    // the time of the latest
	one   []float32 // a target

	sure   *conformal.Node // nil: answers have no sets or intervals
	config *conformal.Config
	scores [][]float64 // that they began with
}

// Given is an answer that waits to be judged, and what it was made with.
type Given struct {
	Time    uint64    `json:"time"`    // those of an earlier life end at -1, in two's complement
	Inputs  []float32 `json:"inputs"`  // z
	Base    []float32 `json:"base"`    // y†
	Learned []float32 `json:"learned"` // what the learner answers, within its reach
	Open    bool      `json:"open"`    // which of the two was answered
	Risk    float64   `json:"risk,omitempty"`
	Used    bool      `json:"used,omitempty"` // the slot holds an answer that was not judged

	Bounds []conformal.Bound `json:"bounds,omitempty"` // of its set or intervals
}

// Output returns what was answered. It belongs to the Answers.
func (g *Given) Output() []float32 {
	if g.Open {
		return g.Learned
	}
	return g.Base
}

// NewAnswers returns those of one node under the configuration, which must be
// valid.
func NewAnswers(f *Basis, c *Config) *Answers {
	a := &Answers{basis: f, given: make([]Given, c.Delay+1)}
	if c.Gate != nil {
		a.gate = newGate(*c.Gate, f.outputs)
	}
	a.config = c.Conformal
	a.unsure()
	return a
}

// Answer writes what the node answers to y, overwritten, and changes nothing:
// y† while the gate is closed, else the adapted output, or what lies within reach
// on the way to it.
//
//	y = y† + s (adapted - y†)      s ≤ 1, so that |y_c - y†_c| ≤ r for all c
//
// For a convex cost such an answer is better than y† if the adapted one is.
func (a *Answers) Answer(y, adapted, base []float32) {
	if a.gate == nil {
		copy(y, adapted)
		return
	}
	if !a.gate.state.Open {
		copy(y, base)
		return
	}
	a.within(y, adapted, base, a.next)
}

// within writes what lies within reach on the way from base to adapted, and
// returns what it puts at risk. The answer takes the given slot: what stands there
// can be judged no more.
func (a *Answers) within(y, adapted, base []float32, slot int) (risk float64) {
	g := a.gate
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
		if g := &a.given[k]; k != but && g.Used && g.Open {
			sum += g.Risk
		}
	}
	return sum
}

// Give is Answer, and keeps what the answer was made with under the given time,
// which ascends.
func (a *Answers) Give(time uint64, y, adapted, base, z []float32) {
	slot := a.next
	g := &a.given[slot]
	a.next = (slot + 1) % len(a.given)
	g.Used = false

	if a.basis.common == nil { // otherwise what was heard stands behind z
		z = z[:a.basis.inputs]
	}
	g.Inputs, g.Base = append(g.Inputs[:0], z...), append(g.Base[:0], base...)
	g.Learned = slices.Grow(g.Learned[:0], len(base))[:len(base)]
	g.Time, g.Open, g.Risk = time, true, 0
	a.now = time
	if a.gate == nil {
		copy(g.Learned, adapted)
	} else {
		g.Open, g.Risk = a.gate.state.Open, a.within(g.Learned, adapted, base, slot)
		if !mat.Finite(adapted...) {
			a.gate.state.Behind = a.gate.Patience
		}
	}
	g.Used, g.Bounds = true, append(g.Bounds[:0], a.Bounds()...)
	copy(y, g.Output())
}

// At returns the answer of the given time that waits to be judged, nil if there is
// none. It is valid until the next Give.
func (a *Answers) At(time uint64) *Given {
	for k := range a.given {
		if g := &a.given[k]; g.Used && g.Time == time {
			return g
		}
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
		if !a.carries(t, row) {
			return nil, false
		}
		a.assess(g, t)
	}
	if a.gate != nil {
		a.judge(g, j, row)
	}
	g.Used = false
	return g, true
}

// carries says whether a row of j carries a cost.
func (a *Answers) carries(j loss.Targeted, row int) bool {
	if n := j.TargetLen(a.basis.outputs); len(a.one) < n {
		a.one = make([]float32, n)
	}
	return j.TargetOf(row, a.one)
}

func (a *Answers) judge(g *Given, j loss.Local, row int) {
	a.gate.know(j)
	if a.gate.state.Blind {
		size := 0.0
		for _, v := range g.Base {
			size = max(size, math.Abs(float64(v)))
		}
		a.gate.glance(a.now, size)
		return
	}
	frozen, learned := j.EvalNode(row, nil, g.Base), j.EvalNode(row, nil, g.Learned)
	answered := frozen
	if g.Open {
		answered = learned
	}
	a.gate.judge(a.now, answered, frozen, learned)
}

// Refuse counts an update of the learner that was refused.
func (a *Answers) Refuse() {
	if a.gate != nil {
		a.gate.refuse()
	}
}

// Losing says that what was learned has been behind for so long, or refused so
// often, that the learner should begin again at 𝒜†; Anew says that it does. Without
// a gate nobody judges, and it never should.
func (a *Answers) Losing() bool { return a.gate != nil && a.gate.losing() }

// Anew counts that the learner begins again.
func (a *Answers) Anew() { a.gate.anew() }

// Gated says whether there is a gate.
func (a *Answers) Gated() bool { return a.gate != nil }

// State returns what the gate remembers, the zero state without one.
func (a *Answers) State() GateState {
	if a.gate == nil {
		return GateState{}
	}
	return a.gate.state
}

// AnswersMemory is everything that Answers remember between steps.
type AnswersMemory struct {
	Gate  *GateState `json:"gate,omitempty"`  // nil without one
	Given []Given    `json:"given,omitempty"` // answers that may still be judged, the oldest first

	Conformal *conformal.Memory `json:"conformal,omitempty"` // how sets or intervals turned out; nil without
}

// Memory returns a copy of what is remembered. Without a delay no answer waits
// between two steps.
func (a *Answers) Memory() AnswersMemory {
	var m AnswersMemory
	if a.gate != nil {
		s := a.gate.state
		m.Gate = &s
	}
	if a.sure != nil {
		sure := a.sure.Memory()
		m.Conformal = &sure
	}
	if len(a.given) == 1 {
		return m
	}
	for k := range a.given {
		if g := a.given[(a.next+k)%len(a.given)]; g.Used {
			g.Inputs, g.Base, g.Learned = a.basis.pack(g.Inputs), slices.Clone(g.Base), slices.Clone(g.Learned)
			g.Bounds = slices.Clone(g.Bounds)
			m.Given = append(m.Given, g)
		}
	}
	return m
}

// Restore gives the node the memory m, which may come from outside: an error says
// what does not fit, and leaves all as it was. A gate of which m says nothing
// begins anew, and so do sets and intervals. Of answers that wait, those are kept
// for which there is room.
func (a *Answers) Restore(m AnswersMemory) error {
	if err := a.Fits(m); err != nil {
		return err
	}
	a.Reset()
	if a.gate != nil && m.Gate != nil {
		a.gate.state = *m.Gate
	}
	if a.sure != nil && m.Conformal != nil {
		if err := a.sure.Restore(*m.Conformal); err != nil {
			return err
		}
	}
	for _, g := range m.Given[max(len(m.Given)-len(a.given), 0):] {
		g.Inputs, g.Base, g.Learned = a.basis.unpack(g.Inputs), slices.Clone(g.Base), slices.Clone(g.Learned)
		g.Used, g.Bounds = true, slices.Clone(g.Bounds)
		a.given[a.next], a.now = g, g.Time
		a.next = (a.next + 1) % len(a.given)
	}
	return nil
}

// Fits reports what keeps m from being restored.
func (a *Answers) Fits(m AnswersMemory) error {
	if m.Gate != nil && !m.Gate.valid() {
		return errors.New("rule: memory: the state of a gate is not one")
	}
	for k, g := range m.Given {
		if len(g.Inputs) != a.basis.packed() || len(g.Base) != a.basis.outputs || len(g.Learned) != a.basis.outputs {
			return fmt.Errorf("rule: memory: an answer of %d and %d outputs from %d inputs, want %d from %d",
				len(g.Base), len(g.Learned), len(g.Inputs), a.basis.outputs, a.basis.packed())
		}
		if !mat.Finite(g.Inputs...) || !mat.Finite(g.Base...) || !mat.Finite(g.Learned...) || !(g.Risk >= 0) || !mat.Finite(g.Risk) {
			return errors.New("rule: memory: a number of an answer is not finite")
		}
		if k > 0 && int64(g.Time) <= int64(m.Given[k-1].Time) { // those of an earlier life are below 0
			return fmt.Errorf("rule: memory: an answer of step %d after one of step %d", g.Time, m.Given[k-1].Time)
		}
	}
	return a.fitsSure(&m)
}

// Reset forgets everything but the scores of Begin.
func (a *Answers) Reset() {
	a.unsure()
	if a.gate != nil {
		a.gate.state = GateState{}
	}
	for k := range a.given {
		a.given[k].Used = false
	}
	a.next = 0
}
