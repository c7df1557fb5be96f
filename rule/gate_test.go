package rule_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/wdgnn/wdgnn/conformal"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/rule"
)

// Whatever a learner says, the answers of a gated node cost at most
// (1+δ)F + c, at every step: also those of one that knows the target and says the
// opposite, that lures with good answers first, that says nonsense, and with costs
// that come late.
func TestGateBoundHoldsAgainstAnyone(t *testing.T) {
	adversaries := map[string]func(rng *rand.Rand, step int, base, target float64) float64{
		"opposite":     func(_ *rand.Rand, _ int, base, target float64) float64 { return base + 100*(base-target) },
		"a bit off":    func(_ *rand.Rand, _ int, base, target float64) float64 { return base + 0.1*(base-target) },
		"lures":        lure,
		"noise":        func(rng *rand.Rand, _ int, base, _ float64) float64 { return base + math.Abs(base)*rng.NormFloat64() },
		"huge":         func(rng *rand.Rand, _ int, _, _ float64) float64 { return 1e30 * rng.NormFloat64() },
		"no number":    func(*rand.Rand, int, float64, float64) float64 { return math.NaN() },
		"not finite":   func(*rand.Rand, int, float64, float64) float64 { return math.Inf(1) },
		"sees through": func(_ *rand.Rand, _ int, _, target float64) float64 { return target },
	}
	problems := 60
	if testing.Short() {
		problems = 6
	}
	for name, adversary := range adversaries {
		for _, j := range []loss.Regression{loss.MSE{}, loss.SmoothL1{}, loss.Huber{}} {
			for _, delay := range []int{0, 3} {
				for k := range problems {
					p, rng := drawProblem(k), random.Stream(1, name, k)
					gate := &rule.Gate{}
					a := rule.NewAnswers(line(t, p.inputs), &rule.Config{Gate: gate, Delay: delay}, nil)
					paid := 0.0
					for s := range gateSteps {
						adapted := []float32{float32(adversary(rng, s, float64(p.base[s]), float64(p.target[s])))}
						var y [1]float32
						a.Give(uint64(s), y[:], adapted, p.base[s:s+1], p.z[s])
						if s < delay {
							continue
						}
						at := s - delay
						cost := j.With(mat.NewDense(1, 1, p.target[at:at+1]), nil)
						g := a.At(uint64(at))
						paid += cost.EvalNode(0, nil, g.Output())
						if _, told := a.Judge(uint64(at), cost, 0); !told {
							t.Fatalf("step %d: no answer of step %d waits", s, at)
						}
						if _, again := a.Judge(uint64(at), cost, 0); again || a.At(uint64(at)) != nil {
							t.Fatalf("step %d: the answer of step %d is judged twice", s, at)
						}
						state := a.Gate()
						if bound := gate.Bound(&state); !(paid <= bound*(1+1e-9)) {
							t.Fatalf("%s, %T, delay %d, problem %d, step %d: the answers cost %v, want at most %v", name, j, delay, k, s, paid, bound)
						}
						if state.Answered != paid {
							t.Fatalf("the gate counts %v, the answers cost %v", state.Answered, paid)
						}
						if a.Losing() {
							a.Anew()
						}
					}
				}
			}
		}
	}
}

// lure gives the best answers there are until much is at stake.
func lure(_ *rand.Rand, step int, base, target float64) float64 {
	if step%50 < 40 {
		return target
	}
	return base + 1000*(base-target)
}

// The same for classes.
func TestGateBoundOfClasses(t *testing.T) {
	const classes = 5
	f, err := rule.NewBasis(rule.BasisConfig{Inputs: 1, Features: classes, Gain: 1})
	if err != nil {
		t.Fatal(err)
	}
	for k := range 100 {
		rng, gate := random.Stream(2, "gate classes", k), &rule.Gate{}
		a := rule.NewAnswers(f, &rule.Config{Gate: gate}, nil)
		base, adapted, y := make([]float32, classes), make([]float32, classes), make([]float32, classes)
		sure := math.Pow(10, 3*rng.Float64()-1)
		for s := range 300 {
			label := rng.IntN(classes)
			for c := range classes {
				base[c] = float32(sure * rng.NormFloat64())
				adapted[c] = float32(50 * rng.NormFloat64())
			}
			if s%100 < 70 {
				adapted[label] += 100
			} else {
				adapted[label] -= 100
			}
			a.Give(uint64(s), y, adapted, base, []float32{1})
			a.Judge(uint64(s), loss.CrossEntropy{Labels: []int32{int32(label)}}, 0)
			if state := a.Gate(); !(state.Answered <= gate.Bound(&state)*(1+1e-9)) {
				t.Fatalf("problem %d, step %d: the answers cost %v, want at most %v", k, s, state.Answered, gate.Bound(&state))
			}
		}
	}
}

// A gate and its answers by the equations of their doc comments: whatever was learned, also
// where nothing is known of a cost, its kind changes, it is endless, or updates are refused.
func TestGateByTheEquations(t *testing.T) {
	const late, room = 1, 3 // steps until truths come, and answers that could wait
	inf, nan, limited := math.Inf(1), float32(math.NaN()), 0
	for k := range 60 {
		gate := []rule.Gate{{}, {Margin: 0.25, Slack: 3, Window: 20, Patience: 210}}[k%2]
		full := []rule.Gate{{Margin: 0.05, Slack: 15, Window: 30, Patience: 100}, gate}[k%2]
		p, rng := drawProblem(k), random.Stream(5, "gate equations", k)
		a := rule.NewAnswers(line(t, p.inputs), &rule.Config{Gate: &gate, Delay: room - 1}, nil)
		var want rule.GateState
		var open [gateSteps]bool
		var risks [gateSteps]float64
		for s := range gateSteps {
			base, far := p.base[s], []float64{0.5, 1.5, -0.25, 20, -3}[rng.IntN(3)+s/60%2*2]*float64(p.target[s]-p.base[s])
			if s < 4 {
				far = 0
			}
			adapted := base + float32(far)
			if rng.IntN(100) == 0 {
				adapted, want.Behind = nan, full.Patience
			}
			left := max(float64((1+full.Margin)*want.Frozen)+float64(full.Slack*want.Most)-want.Answered, 0)
			most := max(min(left/room, left-risks[max(s-1, 0)], 10*full.Slack*want.Usual), 0)
			reach, bend := inf, want.Curvature/2*(1+1/full.Margin)
			if want.Curvature > 0 {
				reach = math.Sqrt(most / bend)
			}
			if want.Steepness > 0 {
				reach = most / want.Steepness
				if want.Curvature > 0 {
					reach = max(reach, math.Sqrt(most/bend))
				}
			}
			learned := float64(base)
			if far = float64(adapted) - float64(base); far != 0 && far-far == 0 {
				learned += far * min(reach/math.Abs(far), 1)
			}
			y := make([]float32, 1)
			g := a.Give(uint64(s), y, []float32{adapted}, []float32{base}, p.z[s])
			if math.Abs(float64(g.Learned[0])-learned) > 1e-6*(math.Abs(float64(base))+math.Abs(learned)) || y[0] != g.Output()[0] ||
				!want.Open && y[0] != base || want.Open && y[0] != g.Learned[0] {
				t.Fatalf("problem %d, step %d: learned %v, answers %v, want %v of %v under %+v", k, s, g.Learned[0], y[0], learned, adapted, want)
			}
			if open[s] = want.Open; open[s] { // what it puts at risk
				d, e := math.Abs(float64(g.Learned[0])-float64(base)), inf
				if want.Steepness > 0 {
					e = want.Steepness * d
				}
				if want.Curvature > 0 {
					e = min(e, float64(bend*float64(d*d)))
				}
				if e < inf {
					risks[s] = e
				}
				if reach < math.Abs(far) {
					limited++
				}
			}
			if s < late {
				continue
			}
			at := s - late
			target := mat.NewDense(1, 1, []float32{p.target[at]})
			if at%97 == 50 {
				target.Data[0] = float32(inf)
			} else if at == full.Window-1 {
				target.Data[0] *= 1e3 // more than what counts
			}
			all := []loss.Local{loss.MSE{Target: target}, loss.Huber{Target: target, Delta: 2}, loss.L1{Target: target}, userCost{target}}
			j := all[(k+at/150)%4]
			kind := [][2]float64{{0, 2}, {2, 1}, {1, 0}, {}}[(k+at/150)%4]
			want.Steepness, want.Curvature, risks[at] = kind[0], kind[1], 0
			g = a.At(uint64(at))
			paid, frozen, better := j.EvalNode(0, nil, g.Output()), j.EvalNode(0, nil, g.Base), j.EvalNode(0, nil, g.Learned)
			if mat.Finite(paid, frozen, better) {
				want.Judged, want.Answered, want.Frozen = want.Judged+1, want.Answered+paid, want.Frozen+frozen
				usual := frozen
				if want.Judged > uint64(full.Window) {
					usual = min(usual, 10*want.Usual)
				}
				rate := 1 / float64(full.Window)
				want.Usual += float64(rate * (usual - want.Usual))
				want.Most = max(want.Most, want.Usual)
				want.Ahead += float64(rate * (min(max(frozen-better, -10*want.Usual), 10*want.Usual) - want.Ahead))
				if want.Ahead < 0 {
					want.Behind++
				} else if want.Ahead > 0 && want.Behind > 0 {
					want.Behind--
				}
				if now := want.Ahead > 0; now != want.Open {
					want.Open, want.Since = now, uint64(s)+1
				}
			}
			if _, ok := a.Judge(uint64(at), j, 0); !ok {
				t.Fatalf("step %d: not judged", s)
			}
			if rng.IntN(20) == 0 {
				a.Refuse()
				want.Refused, want.Behind = want.Refused+1, want.Behind+(full.Patience+9)/10
			}
			if losing := want.Behind >= full.Patience; losing != a.Losing() {
				t.Fatalf("problem %d, step %d: losing %v, want %v", k, s, a.Losing(), losing)
			} else if losing {
				a.Anew()
				want.Anew, want.Behind, want.Ahead = want.Anew+1, 0, 0
			}
			if got := a.Gate(); got != want {
				t.Fatalf("problem %d, step %d:\n%+v, want\n%+v", k, s, got, want)
			}
		}
	}
	if limited < 300 {
		t.Errorf("%d answers were limited, want 300", limited)
	}
}

// An answer that the gate limits is y† only where the reach is below one float32
// step at y†, however far from 0 that lies: rounding does not undo what was learned.
func TestGateLimitsButDoesNotUndo(t *testing.T) {
	for _, off := range []float64{0, 1e2, 1e4} { // where y† lies, in typical errors
		limited, undone := 0, 0
		for k := range 200 {
			rng := random.Stream(3, "gate limits", k)
			n, scale := 1+k%5, math.Pow(10, 8*rng.Float64()-4)
			cost := []loss.Regression{loss.MSE{}, loss.SmoothL1{}, loss.Huber{}}[k%3]
			f := must[*rule.Basis](t)(rule.NewBasis(rule.BasisConfig{Inputs: 1, Features: n, Gain: 1}))
			a := rule.NewAnswers(f, &rule.Config{Gate: &rule.Gate{}}, nil)
			base, adapted, target, y := make([]float32, n), make([]float32, n), mat.NewDense(1, n, nil), make([]float32, n)
			far, zero, reach := make([]float32, n), make([]float32, n), make([]float32, n)
			for c := range far {
				far[c] = 1e30
			}
			for s := range 100 {
				for c := range n {
					base[c] = float32(scale * (off + rng.NormFloat64()))
					target.Data[c] = base[c] + float32(scale*rng.NormFloat64())
					adapted[c] = base[c] + 30*(target.Data[c]-base[c])*float32(rng.Float64())
				}
				a.Answer(uint64(s), reach, far, zero) // as far from 0 as the gate lets it
				a.Give(uint64(s), y, adapted, base, []float32{1})
				same, most, can := true, 0.0, false
				for c, b := range base {
					d := math.Abs(float64(adapted[c]) - float64(b))
					if d > most { // the output that goes as far as the reach
						step := math.Abs(float64(math.Nextafter32(b, adapted[c])) - float64(b))
						most, can = d, float64(reach[c]) >= step
					}
					same = same && y[c] == b
				}
				if a.Gate().Open && most > float64(reach[0])*(1+1e-6) {
					if limited++; same && can {
						undone++
					}
				}
				a.Judge(uint64(s), cost.With(target, nil), 0)
			}
		}
		if undone > 0 || limited < 1000 {
			t.Errorf("y† at %v errors from 0: %d of %d limited answers are y† within reach of another, want 0 of 1000 or more", off, undone, limited)
		}
	}
}

// c is at most Slack/Window of F: nobody who states a bound hides a large constant
// in it.
func TestGateSlackIsAShareOfFrozen(t *testing.T) {
	for k := range 100 {
		p, gate := drawProblem(k), &rule.Gate{}
		a := rule.NewAnswers(line(t, p.inputs), &rule.Config{Gate: gate}, nil)
		for s := range gateSteps {
			a.Give(uint64(s), make([]float32, 1), p.base[s:s+1], p.base[s:s+1], p.z[s])
			a.Judge(uint64(s), loss.MSE{Target: mat.NewDense(1, 1, p.target[s:s+1])}, 0)
			state := a.Gate()
			if c := gate.Bound(&state) - 1.05*state.Frozen; !(c <= 15.0/30*state.Frozen*(1+1e-9)) {
				t.Fatalf("problem %d, step %d: c is %v with %v of the model as trained, want at most half of it", k, s, c, state.Frozen)
			}
		}
	}
}

// Answers, their gate and those that wait go through JSON and on with the same
// bits.
func TestAnswersRestore(t *testing.T) {
	p, config := drawProblem(4), &rule.Config{Gate: &rule.Gate{}, Delay: 3}
	f := line(t, p.inputs)
	a, b := rule.NewAnswers(f, config, nil), rule.NewAnswers(f, config, nil)
	for s := range gateSteps {
		var y, again [1]float32
		adapted, z := []float32{(p.base[s] + p.target[s]) / 2}, append(p.z[s], 9) // inputs end where those of the basis do
		for _, one := range []*rule.Answers{a, b} {                               // also a truth that comes between two answers
			if s >= 3 {
				one.Judge(uint64(s-3), loss.MSE{Target: mat.NewDense(1, 1, p.target[s-3:s-2])}, 0)
			}
		}
		a.Give(uint64(s), y[:], adapted, p.base[s:s+1], z)
		if b.Give(uint64(s), again[:], adapted, p.base[s:s+1], z); y != again {
			t.Fatalf("step %d: restored answers give %v, want %v", s, again, y)
		}
		text, err := json.Marshal(b.State(uint64(s) + 1))
		if err != nil {
			t.Fatal(err)
		}
		var m rule.State
		if err := json.Unmarshal(text, &m); err != nil {
			t.Fatal(err)
		}
		b = rule.NewAnswers(f, config, nil)
		if err := b.Restore(m, uint64(s)+1); err != nil {
			t.Fatal(err)
		}
	}
	state, ok := a.State(0).Gate()
	if got, want := b.State(gateSteps), a.State(gateSteps); !slices.Equal(got, want) || state != b.Gate() || !ok {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if !a.Gate().Open {
		t.Error("answers half way to the target leave the gate closed")
	}
}

// An open gate lets an answer go as far as what it may put at risk, to the bit: its share of
// what is left, and what other open answers leave of it.
func TestAnswerRisksWhatItMay(t *testing.T) {
	below := math.Nextafter(1, 0)
	for k, c := range []struct {
		left         float64 // of the bound
		open, risk   float64 // of an answer that waits
		slope, bends float64 // of the cost
		far          float32
		want         float32
		risks        float64
	}{
		{2, 0, 0, 1, 0, 4, 1, 1},
		{2, 0, 1.5, 1, 0, 4, 1, 1},
		{2, 1, 0.5, 1, 0, 4, 1, 1},
		{2, 1, 1.5, 1, 0, 4, 0.5, 0.5},
		{2, 1, 3, 1, 0, 4, 0, 0},
		{400, 0, 0, 1, 0, 4e3, 10, 10}, // ten usual costs
		{2, 0, 0, 1, 0, 0.25, 0.25, 0.25},
		{2, 0, 0, 1, 0, 0, 0, 0},
		{0, 0, 0, 1, 0, 0, 0, 0},
		{2 * below, 0, 0, 1, 0, 3, 0, 0}, // 3 (below/3) is 1
		{8, 0, 0, 0, 1, 9, 2, 4},
		{8, 0, 0, 8, 1, 9, 2, 4},
		{8, 0, 0, 0.5, 1, 9, 8, 4},
		{8, 0, 0, 0, 0, 9, 9, 0}, // nobody knows
		{2 * below, 0, 0, 0, 1, 3, 0, 0},
	} {
		gates := []float64{1, 0, 1 << 53, 0, 0, 1, c.left, 0, 0, c.slope, c.bends, 0, 0, 0}
		s := slices.Concat(rule.State{1, 0, 14, 0, 8}, gates, []float64{-1, c.open, c.risk, 1, 7, 0, 1, 0})
		a := rule.NewAnswers(line(t, 1), &rule.Config{Gate: &rule.Gate{Margin: 1, Slack: 1}, Delay: 1}, nil)
		if err := a.Restore(s, 5); err != nil {
			t.Fatal(err)
		}
		y := []float32{9}
		a.Give(5, y, []float32{c.far}, []float32{0}, []float32{7})
		if risk := a.State(6)[5+14+8+2]; y[0] != c.want || risk != c.risks {
			t.Errorf("row %d: answered %v with a risk of %v, want %v and %v", k, y[0], risk, c.want, c.risks)
		}
	}
}

// A state of other answers means what it can: of gates, sets and answers that wait, those
// which both have.
func TestAnswersOfAnotherConfiguration(t *testing.T) {
	f := line(t, 1)
	var all []*rule.Answers
	for k := range 8 {
		c := &rule.Config{Delay: k / 4 * 2}
		if k&1 > 0 {
			c.Gate = &rule.Gate{}
		}
		if k&2 > 0 {
			c.Conformal = &conformal.Config{Coverage: 0.5}
		}
		if a := rule.NewAnswers(f, c, nil); a != nil {
			all = append(all, a)
		} else if a.At(0) != nil || a.Gated() || a.Losing() || a.Bounds() != nil || a.Meter() != (conformal.Meter{}) || k > 0 {
			t.Errorf("answers %d: there are none, and they say something", k)
		}
	}
	for _, a := range all {
		for s := range uint64(9) {
			a.Give(s, make([]float32, 1), []float32{1.5}, []float32{1}, []float32{1})
			if s < 7 {
				a.Judge(s, told(float64(s)), 0)
			}
		}
	}
	for from, a := range all {
		s := a.State(9)
		for to, old := range all {
			b := *old
			b.Reset()
			if err := b.Restore(s, 9); err != nil {
				t.Fatalf("%d to %d: %v", from, to, err)
			}
			fresh := *old
			fresh.Reset()
			if b.Gated() && (a.Gated() && b.Gate() != a.Gate() || !a.Gated() && b.Gate() != fresh.Gate()) {
				t.Errorf("%d to %d: gate %+v, want %+v", from, to, b.Gate(), a.Gate())
			}
			if want := a.Meter(); b.Bounds() != nil && b.Meter() != want {
				t.Errorf("%d to %d: meter %+v, want %+v", from, to, b.Meter(), want)
			}
			before := b.Meter().Judged
			for at := uint64(7); at < 9; at++ {
				g, ok := b.Judge(at, told(2), 0)
				if want := from >= 3 && a.At(at) != nil && (to >= 3 || at == 8); ok != want || ok && g.Output()[0] != a.At(at).Output()[0] {
					t.Errorf("%d to %d: an answer that waits is judged: %v, want %v", from, to, ok, want)
				}
				if ok && a.Bounds() != nil && b.Bounds() != nil {
					before++
				}
			}
			if b.Meter().Judged != before {
				t.Errorf("%d to %d: %d answers judged, want %d", from, to, b.Meter().Judged, before)
			}
		}
	}
}

// A state that does not fit is refused and changes nothing.
func TestAnswersRefuseOtherStates(t *testing.T) {
	a := rule.NewAnswers(line(t, 2), &rule.Config{Gate: &rule.Gate{}, Delay: 2}, nil)
	for s := range uint64(3) {
		a.Give(s, make([]float32, 1), []float32{2}, []float32{1}, []float32{1, 2})
		a.Judge(s-2, told(1), 0)
	}
	good := a.State(3)
	gate, wait := 5, 5+14
	for name, spoil := range map[string]func(s rule.State) rule.State{
		"usual":     func(s rule.State) rule.State { s[gate+5] = -1; return s },
		"judged":    func(s rule.State) rule.State { s[gate+2] = 0.5; return s },
		"gate":      func(s rule.State) rule.State { s[2]--; return append(s[:gate:gate], s[gate+1:]...) },
		"most":      func(s rule.State) rule.State { s[gate+6] = -1; return s },
		"many":      func(s rule.State) rule.State { s[gate+2] = 1 << 54; return s },
		"steepness": func(s rule.State) rule.State { s[gate+9] = -1; return s },
		"curvature": func(s rule.State) rule.State { s[gate+10] = -1; return s },
		"order":     func(s rule.State) rule.State { s[wait] = s[wait+9]; return s },
		"risk":      func(s rule.State) rule.State { s[wait+2] = -1; return s },
		"less":      func(s rule.State) rule.State { s[4]--; s[wait+3] = 1; return slices.Delete(s, wait+4, wait+5) },
		"more":      func(s rule.State) rule.State { s[4]++; s[wait+3] = 3; return slices.Insert(s, wait+4, 1) },
		"bounds":    func(s rule.State) rule.State { s[wait+8] = 2; return s },
		"number":    func(s rule.State) rule.State { s[wait+4] = 1e39; return s },
		"cut":       func(s rule.State) rule.State { s[4]--; return s[:len(s)-1] },
		"a learner": func(s rule.State) rule.State { s[1] = 1; return slices.Insert(s, gate, 0) },
	} {
		bad := spoil(slices.Clone(good))
		if err := a.Restore(bad, 3); err == nil || a.Fits(bad) == nil {
			t.Errorf("%s: no error", name)
		}
		if !slices.Equal(a.State(3), good) {
			t.Errorf("%s: changed", name)
		}
	}
}

// Where the world tells slopes alone, answers stay within the usual size of those
// of the model as trained.
func TestGateOfSlopes(t *testing.T) {
	a := rule.NewAnswers(line(t, 1), &rule.Config{Gate: &rule.Gate{}}, nil)
	y := make([]float32, 1)
	for s := range uint64(10) {
		a.Give(s, y, []float32{1e6}, []float32{-0.5}, []float32{1})
		a.Judge(s, sloped{}, 0)
	}
	if math.Abs(float64(y[0])) > 1e-9 || a.Gate().Judged != 10 {
		t.Errorf("the answer is %v after %d, want 0 after 10: -0.5 and the usual 0.5 towards 1e6", y[0], a.Gate().Judged)
	}
}

// sloped is a cost of which only the slope is known.
type sloped struct{}

func (sloped) EvalNode(int, []float32, []float32) float64 { return 0 }
func (sloped) Sloped()                                    {}

// line returns the basis of one output.
func line(t *testing.T, inputs int) *rule.Basis {
	t.Helper()
	return must[*rule.Basis](t)(rule.NewBasis(rule.BasisConfig{Inputs: inputs, Features: 1, Gain: 1}))
}

// What is answered is what would have been said, also after answers that nobody
// judged: a prediction in one process and an answer of an agent are the same.
func TestAnswerIsWhatIsGiven(t *testing.T) {
	for _, delay := range []int{0, 3} {
		for k := range 20 {
			p, rng, config := drawProblem(k), random.Stream(2, "given", k), &rule.Config{Gate: &rule.Gate{}, Delay: delay}
			if k%4 == 3 {
				config.Gate, config.Conformal = nil, &conformal.Config{}
			}
			a := rule.NewAnswers(line(t, p.inputs), config, nil)
			for s := range gateSteps {
				adapted := []float32{p.target[s] + 0.3*float32(rng.NormFloat64())}
				var said, given [1]float32
				a.Answer(uint64(s), said[:], adapted, p.base[s:s+1])
				a.Give(uint64(s), given[:], adapted, p.base[s:s+1], p.z[s])
				if said != given || config.Gate == nil && given[0] != adapted[0] || s > delay && a.At(uint64(s-delay-1)) != nil {
					t.Fatalf("delay %d, problem %d, step %d: gave %v, want %v, which it said it would", delay, k, s, given, said)
				}
				if at := s - delay; at >= 0 && rng.IntN(3) > 0 { // of a third nothing is heard
					a.Judge(uint64(at), loss.MSE{Target: mat.NewDense(1, 1, p.target[at:at+1])}, 0)
				}
			}
		}
	}
}
