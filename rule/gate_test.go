package rule_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

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
		adapted := []float32{(p.base[s] + p.target[s]) / 2}
		a.Give(uint64(s), y[:], adapted, p.base[s:s+1], p.z[s])
		if b.Give(uint64(s), again[:], adapted, p.base[s:s+1], p.z[s]); y != again {
			t.Fatalf("step %d: restored answers give %v, want %v", s, again, y)
		}
		if s >= 3 {
			for _, one := range []*rule.Answers{a, b} {
				one.Judge(uint64(s-3), loss.MSE{Target: mat.NewDense(1, 1, p.target[s-3:s-2])}, 0)
			}
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
	if got, want := b.State(gateSteps), a.State(gateSteps); !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if !a.Gate().Open {
		t.Error("answers half way to the target leave the gate closed")
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
		"order":     func(s rule.State) rule.State { s[wait] = 0; return s },
		"risk":      func(s rule.State) rule.State { s[wait+2] = -1; return s },
		"inputs":    func(s rule.State) rule.State { s[wait+3] = 1; return s },
		"number":    func(s rule.State) rule.State { s[wait+4] = 1e39; return s },
		"cut":       func(s rule.State) rule.State { s[4]--; return s[:len(s)-1] },
		"a learner": func(s rule.State) rule.State { s[1], s[2] = s[2], 0; return s },
	} {
		if err := a.Restore(spoil(slices.Clone(good)), 3); err == nil {
			t.Errorf("%s: no error", name)
		}
		if !slices.Equal(a.State(3), good) {
			t.Errorf("%s: changed", name)
		}
	}
}

// A gate opens when what was learned is ahead, closes when it is behind, and asks
// for a new beginning when it stays behind.
func TestGateOpensClosesAndBeginsAgain(t *testing.T) {
	a := rule.NewAnswers(line(t, 1), &rule.Config{Gate: &rule.Gate{}}, nil)
	step, y := uint64(0), make([]float32, 1)
	play := func(steps int, adapted float32) {
		for range steps {
			a.Give(step, y, []float32{adapted}, []float32{1}, []float32{1})
			a.Judge(step, loss.MSE{Target: mat.NewDense(1, 1, []float32{2})}, 0)
			step++
		}
	}
	play(10, 1.5)
	if s := a.Gate(); !s.Open || s.Since != 1 || y[0] <= 1 {
		t.Errorf("better answers: got %+v and answer %v, want an open gate since step 1", s, y[0])
	}
	play(40, 0)
	if s := a.Gate(); s.Open || y[0] != 1 {
		t.Errorf("worse answers: got %+v and answer %v, want a closed gate and answers as trained", s, y[0])
	}
	if a.Losing() {
		t.Error("losing after 40 answers, want 100 of patience")
	}
	play(120, 0)
	if !a.Losing() {
		t.Errorf("not losing after 160 worse answers: %+v", a.Gate())
	}
	if a.Anew(); a.Losing() || a.Gate().Anew != 1 {
		t.Errorf("after a new beginning: %+v", a.Gate())
	}
}

// Where the world tells slopes alone, answers stay within the usual size of those
// of the model as trained.
func TestGateOfSlopes(t *testing.T) {
	a := rule.NewAnswers(line(t, 1), &rule.Config{Gate: &rule.Gate{}}, nil)
	y := make([]float32, 1)
	for s := range uint64(10) {
		a.Give(s, y, []float32{1e6}, []float32{-2}, []float32{1})
		a.Judge(s, sloped{}, 0)
	}
	if y[0] != 0 {
		t.Errorf("the answer is %v, want 0: -2 and the usual 2 towards 1e6", y[0])
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
			p, rng := drawProblem(k), random.Stream(2, "given", k)
			a := rule.NewAnswers(line(t, p.inputs), &rule.Config{Gate: &rule.Gate{}, Delay: delay}, nil)
			for s := range gateSteps {
				adapted := []float32{p.target[s] + 0.3*float32(rng.NormFloat64())}
				var said, given [1]float32
				a.Answer(uint64(s), said[:], adapted, p.base[s:s+1])
				a.Give(uint64(s), given[:], adapted, p.base[s:s+1], p.z[s])
				if said != given {
					t.Fatalf("delay %d, problem %d, step %d: gave %v, want %v, which it said it would", delay, k, s, given, said)
				}
				if at := s - delay; at >= 0 && rng.IntN(3) > 0 { // of a third nothing is heard
					a.Judge(uint64(at), loss.MSE{Target: mat.NewDense(1, 1, p.target[at:at+1])}, 0)
				}
			}
		}
	}
}
