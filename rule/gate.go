package rule

import (
	"errors"
	"fmt"
	"math"

	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
)

// Gate says when a node answers with what it learned, and when as it was trained.
// Its zero value is the default. With A what the answers of a node cost that were
// judged, and F what those of the model as trained would have cost on the same
// steps,
//
//	A ≤ (1+δ) F + c      c = Slack · u,  u the largest usual cost of the model as trained
//
// whatever the node learned and whatever the world does. doc/theory.md has the
// proof. u is a mean over about Window answers, so c is at most Slack/Window of F.
type Gate struct {
	// Margin is δ > 0; 0 means 0.05.
	Margin float64 `json:"margin,omitempty" yaml:"margin,omitempty"`

	// Slack is how many usual answers learning may cost in all before it has
	// gained anything; 0 means 15.
	Slack float64 `json:"slack,omitempty" yaml:"slack,omitempty"`

	// Window is over how many judged answers, about, a node looks back to see
	// whether what it learned is ahead; 0 means 30.
	Window int `json:"window,omitempty" yaml:"window,omitempty"`

	// Patience is for how many judged answers what was learned may stay behind
	// before the node begins again at 𝒜†; 0 means 100. An answer that it is ahead in
	// takes one off that count, and an update that is refused adds a tenth of it.
	Patience int `json:"patience,omitempty" yaml:"patience,omitempty"`
}

// Validate reports everything that is wrong with g.
func (g *Gate) Validate() error {
	var errs []error
	complain := func(format string, args ...any) { errs = append(errs, fmt.Errorf("rule: gate."+format, args...)) }
	if !(g.Margin >= 0) || math.IsInf(g.Margin, 0) {
		complain("margin is %v, want a number above 0, or 0 for %v", g.Margin, defaultMargin)
	}
	if !(g.Slack >= 0) || math.IsInf(g.Slack, 0) {
		complain("slack is %v, want a number above 0, or 0 for %v", g.Slack, float64(defaultSlack))
	}
	if g.Window < 0 || g.Window > maxAnswers {
		complain("window is %d, want 1 to %d answers, or 0 for %d", g.Window, maxAnswers, defaultLook)
	}
	if g.Patience < 0 || g.Patience > maxAnswers {
		complain("patience is %d, want 1 to %d answers, or 0 for %d", g.Patience, maxAnswers, defaultPatience)
	}
	return errors.Join(errs...)
}

const (
	defaultMargin   = 0.05
	defaultSlack    = 15
	defaultLook     = 30
	defaultPatience = 100

	// outlying is how many usual costs one answer counts for at most where the
	// gate asks what is usual and who is ahead: one answer that is far off must
	// not decide for long.
	outlying = 10

	// single is how many times Slack · Usual one answer may put at risk. After a stroke of
	// luck, or one target that nobody could have met, a node has a large budget;
	// what is usual says how much of it may be needed at once.
	single = 10
)

// filled returns g with its defaults.
func (g Gate) filled() Gate {
	if g.Margin == 0 {
		g.Margin = defaultMargin
	}
	if g.Slack == 0 {
		g.Slack = defaultSlack
	}
	if g.Window == 0 {
		g.Window = defaultLook
	}
	if g.Patience == 0 {
		g.Patience = defaultPatience
	}
	return g
}

// GateState is all that a gate remembers of a node.
type GateState struct {
	Open  bool   `json:"open"`  // the node answers with what it learned
	Since uint64 `json:"since"` // the step from which on it does, or does not

	Judged   uint64  `json:"judged"`   // answers that were
	Answered float64 `json:"answered"` // A, what they cost
	Frozen   float64 `json:"frozen"`   // F, what those of the model as trained would have cost
	Usual    float64 `json:"usual"`    // what one of these costs, of late
	Most     float64 `json:"most"`     // u, the largest Usual
	Ahead    float64 `json:"ahead"`    // by how much what was learned is better, of late
	Behind   int     `json:"behind"`   // judged answers that it was behind for

	// What bounds the cost of an answer near another: see [loss.Steep] and
	// [loss.Targeted]. 0 means that nothing is known; Blind that the world tells
	// slopes, and nobody knows what other answers would have cost.
	Steepness float64 `json:"steepness,omitempty"`
	Curvature float64 `json:"curvature,omitempty"`
	Blind     bool    `json:"blind,omitempty"`

	Refused uint64 `json:"refused,omitempty"` // updates that were
	Anew    uint64 `json:"anew,omitempty"`    // times that the node began again at 𝒜†
}

// valid reports whether s, which may come from outside, can be a state.
func (s *GateState) valid() bool {
	return s.Usual >= 0 && s.Most >= 0 && s.Steepness >= 0 && s.Curvature >= 0 && s.Behind >= 0
}

// gateNumbers is how many numbers there are of a gate in a State.
const gateNumbers = 14

// numbers appends them to list.
func (s *GateState) numbers(list []float64, next uint64) []float64 {
	return append(list, number(s.Open), float64(int64(s.Since-next)), float64(s.Judged), s.Answered, s.Frozen, s.Usual, s.Most, s.Ahead,
		float64(s.Behind), s.Steepness, s.Curvature, number(s.Blind), float64(s.Refused), float64(s.Anew))
}

// gate returns what numbers wrote.
func (r *reader) gate(next uint64) GateState {
	return GateState{
		Open: r.next() != 0, Since: next + uint64(int64(r.next())), Judged: r.whole(), Answered: r.next(), Frozen: r.next(),
		Usual: r.next(), Most: r.next(), Ahead: r.next(), Behind: r.count(), Steepness: r.next(), Curvature: r.next(),
		Blind: r.next() != 0, Refused: r.whole(), Anew: r.whole(),
	}
}

// Bound returns (1+δ) F + c, which Answered never exceeds.
func (g *Gate) Bound(s *GateState) float64 {
	f := g.filled()
	return float64(f.Slack*s.Most) - f.Excess(0, s.Frozen)
}

// Excess returns A - (1+δ) F: by how much answers that cost A are beyond what is
// always allowed where those of the model as trained cost F.
func (g *Gate) Excess(answered, frozen float64) float64 {
	return answered - float64((1+g.filled().Margin)*frozen)
}

// gate is a Gate at work at one node.
type gate struct {
	Gate
	state   GateState
	outputs int
	rate    float64 // 1/Window
	usual   float64 // u, where it is known beforehand: errors count up to seasonCap times it
	off     bool    // it counts, and keeps nothing back; where u is known beforehand
}

func newGate(c Gate, outputs int) gate {
	c = c.filled()
	return gate{Gate: c, outputs: outputs, rate: 1 / float64(c.Window)}
}

// budget returns what is left of the bound: (1+δ) F + c - A ≥ 0.
func (g *gate) budget() float64 { return max(g.Bound(&g.state)-g.state.Answered, 0) }

// allowed returns how much one answer may put at risk, if so much is put at risk
// by others that are not judged yet, and there may be room such answers in all.
func (g *gate) allowed(reserved float64, room int) float64 {
	b := g.budget()
	return max(min(b/float64(room), b-reserved, single*float64(g.Slack*g.state.Usual)), 0)
}

// bend returns (κ/2)(1+1/δ)C, what the square of a reach costs at most; 0 if that
// is not known.
func (g *gate) bend() float64 {
	return g.state.Curvature / 2 * (1 + 1/g.Margin) * float64(g.outputs)
}

// reach returns r: how far from y† an output may be, so that the answer costs no
// more than (1+δ) times y†, and the given risk. It is +Inf where no bound of the
// cost is known.
//
//	excess(r) = min(s r, (κ/2)(1+1/δ) C r²)
func (g *gate) reach(risk float64) float64 {
	s := &g.state
	if s.Blind {
		return s.Usual
	}
	if s.Steepness == 0 && s.Curvature == 0 {
		return math.Inf(1)
	}
	r := 0.0
	if s.Steepness > 0 {
		r = risk / s.Steepness
	}
	if s.Curvature > 0 {
		r = max(r, math.Sqrt(risk/g.bend()))
	}
	return r
}

// excess returns what an answer within reach of y† costs at most above (1+δ)
// times y†; 0 where no bound is known.
func (g *gate) excess(reach float64) float64 {
	s, e := &g.state, math.Inf(1)
	if s.Steepness > 0 {
		e = float64(s.Steepness * reach)
	}
	if s.Curvature > 0 {
		e = min(e, float64(g.bend()*float64(reach*reach)))
	}
	if s.Blind || math.IsInf(e, 1) {
		return 0
	}
	return e
}

// bounded says whether excess is a bound.
func (g *gate) bounded() bool { return g.state.Steepness > 0 || g.state.Curvature > 0 }

// know takes in what can be said of the cost j beforehand.
func (g *gate) know(j loss.Local) {
	s := &g.state
	s.Steepness, s.Curvature, s.Blind = 0, 0, false
	if _, ok := j.(Sloped); ok {
		s.Blind = true
		return
	}
	if k, ok := j.(loss.Steep); ok && mat.Finite(k.Steepness(g.outputs)) {
		s.Steepness = k.Steepness(g.outputs)
	}
	if k, ok := j.(interface{ Curvature(outputs int) float64 }); ok && mat.Finite(k.Curvature(g.outputs)) {
		s.Curvature = k.Curvature(g.outputs)
	}
}

// Sloped marks a cost of which only value and slope at the answer that was given
// are known: what another answer would have cost nobody can say.
type Sloped interface{ Sloped() }

// judge takes in what three answers cost, by row of j: the one that was given, that of
// the model as trained, and that which the learner would have given within its reach.
// Now is the step of the latest answer.
func (g *gate) judge(now uint64, given *Given, j loss.Local, row int) {
	g.know(j)
	if g.state.Blind {
		size := 0.0
		for _, v := range given.Base {
			size = max(size, math.Abs(float64(v)))
		}
		g.glance(now, size)
		return
	}
	frozen, learned := j.EvalNode(row, nil, given.Base), j.EvalNode(row, nil, given.Learned)
	answered := frozen
	if given.open {
		answered = learned
	}
	if !mat.Finite(answered, frozen, learned) {
		return
	}
	s := &g.state
	s.Judged++
	s.Answered += answered
	s.Frozen += frozen
	usual := max(frozen, 0)
	if s.Judged > uint64(g.Window) {
		usual = min(usual, outlying*s.Usual)
	}
	s.Usual += float64(g.rate * (usual - s.Usual))
	s.Most = max(s.Most, s.Usual)
	most := outlying * s.Usual
	ahead := min(max(frozen-learned, -most), most)
	s.Ahead += float64(g.rate * (ahead - s.Ahead))
	switch {
	case s.Ahead < 0:
		s.Behind++
	case s.Ahead > 0:
		s.Behind = max(s.Behind-1, 0)
	}
	g.turn(now, s.Ahead > 0)
}

// glance takes in a step of which only the slope is known, with the largest
// output of the model as trained: that is how far answers may be from it.
func (g *gate) glance(now uint64, size float64) {
	s := &g.state
	s.Judged++
	s.Usual = max(s.Usual, size)
	g.turn(now, true)
}

// turn opens or closes the gate, from the step after now on.
func (g *gate) turn(now uint64, open bool) {
	if s := &g.state; s.Open != open {
		s.Open, s.Since = open, now+1
	}
}

// capped takes in the errors of an answer and of that of the model as trained, where the
// usual one is known.
func (g *gate) capped(truth, answer, base float64) {
	most := float64(seasonCap * g.usual)
	g.state.Answered += min(math.Abs(truth-answer), most)
	g.state.Frozen += min(math.Abs(truth-base), most)
}

// opens says whether the next answer is what was learned, where the usual error is known.
func (g *gate) opens() bool { return g.off || g.state.Answered <= g.Bound(&g.state) }

// refuse counts an update that was refused. Ten of them are as bad as Patience
// answers behind.
func (g *gate) refuse() {
	g.state.Refused++
	g.state.Behind += (g.Patience + 9) / 10
}

// losing says whether what was learned has been behind for too long.
func (g *gate) losing() bool { return g.state.Behind >= g.Patience }

// anew says that the node begins again.
func (g *gate) anew() {
	g.state.Anew++
	g.state.Behind, g.state.Ahead = 0, 0
}
