package rule_test

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/rule"
)

// pupil is a node that learns by second derivatives, with observations for it.
type pupil struct {
	t       testing.TB
	basis   *rule.Basis
	config  rule.Config
	node    *rule.Node
	heard   *rule.Heard
	y, base mat.Dense
	z       mat.Dense
}

// newPupil returns one for taps of so many inputs behind a readout.
func newPupil(t testing.TB, inputs int, bias bool, readout mat.Dense, moment *rule.SecondMoment, how rule.Newton) *pupil {
	t.Helper()
	f, err := rule.NewBasis(rule.BasisConfig{
		Inputs: inputs, Features: readout.Rows, Gain: 1, Bias: bias, Readout: readout, Newton: true, Moment: moment,
	})
	if err != nil {
		t.Fatal(err)
	}
	p := &pupil{t: t, basis: f, config: rule.Config{Newton: &how}}
	p.node = rule.NewNode(rule.NodeConfig{Basis: f, Config: &p.config, Rows: 1})
	p.heard = &rule.Heard{Weights: []float32{1}, Rows: []int32{0}}
	p.y, p.base, p.z = mat.NewDense(1, readout.Cols, nil), mat.NewDense(1, readout.Cols, nil), mat.NewDense(1, inputs, nil)
	return p
}

var firstRow = []int32{0}

// learn takes one step on j.
func (p *pupil) learn(j loss.Loss) {
	p.t.Helper()
	if err := p.node.Check(j); err != nil {
		p.t.Fatal(err)
	}
	p.node.Observe(p.z, p.base, firstRow, j)
	if err := p.node.Step(p.heard); err != nil {
		p.t.Fatal(err)
	}
	p.node.Commit()
}

// draw fills the inputs and base outputs.
func (p *pupil) draw(rng *rand.Rand) {
	for e := range p.z.Data {
		p.z.Data[e] = float32(rng.NormFloat64())
	}
	for e := range p.base.Data {
		p.base.Data[e] = float32(rng.NormFloat64())
	}
}

func randomReadout(rng *rand.Rand, features, outputs int) mat.Dense {
	r := mat.NewDense(features, outputs, nil)
	for e := range r.Data {
		r.Data[e] = float32(rng.NormFloat64())
	}
	return r
}

// momentOf returns the moment of normal inputs with some correlation.
func momentOf(inputs int) *rule.SecondMoment {
	m := &rule.SecondMoment{Inputs: inputs, Count: 1, Mean: make([]float64, (inputs+1)*(inputs+1))}
	for a := range inputs + 1 {
		for b := range inputs + 1 {
			m.Mean[a*(inputs+1)+b] = math.Pow(0.5, math.Abs(float64(a-b)))
		}
	}
	return m
}

// The implicit step minimises ½|X - X_t|²_{P⁻¹} + w J: after the first answer, with
// P = τI and w = 1, the new outputs y' solve y' = y - τ|z̃|² ∇J(y').
func TestNewtonStepIsImplicit(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 7))
	for range 50 {
		const inputs, outputs = 3, 4
		p := newPupil(t, inputs, false, randomReadout(rng, 6, outputs), nil, rule.Newton{Prior: 30})
		p.draw(rng)
		for _, j := range []loss.Loss{
			loss.CrossEntropy{Labels: []int32{rng.Int32N(outputs)}},
			loss.SmoothL1{Target: mat.NewDense(1, outputs, []float32{1, -5, 0.2, 3})},
			loss.Huber{Target: mat.NewDense(1, outputs, []float32{1, -5, 0.2, 3})},
			userCost{mat.NewDense(1, outputs, []float32{1, 2, 3, 4})},
		} {
			p.node.Reset()
			p.learn(j)
			p.node.Predict(p.y.Row(0), p.base.Row(0), p.z.Row(0))
			dy := make([]float32, outputs)
			j.(loss.Local).EvalNode(0, dy, p.y.Row(0))
			for c, y := range p.y.Row(0) { // features of mean square 1: |z̃|² is their number
				want := float64(p.base.Data[c]) - 30*inputs*float64(dy[c])
				if math.Abs(float64(y)-want) > 1e-3*(1+math.Abs(want)) {
					t.Errorf("%T: output %d after the step is %v, want %v", j, c, y, want)
				}
			}
		}
	}
}

// userCost is a cost of one's own of which nobody knows second derivatives: the
// pseudo-Huber cost.
type userCost struct{ target mat.Dense }

func (u userCost) Eval(dy, y mat.Dense) float64 { return loss.Mean(dy, y, u) }

func (u userCost) EvalNode(i int, dy, y []float32) float64 {
	sum := 0.0
	for c, v := range y {
		d := float64(v) - float64(u.target.At(i, c))
		root := math.Sqrt(1 + d*d)
		sum += root - 1
		if dy != nil {
			dy[c] = float32(d / root)
		}
	}
	return sum
}

// classes teaches a node labels that depend on its inputs, after which it names
// more of them than before; wrong ones are among them.
func classes(t testing.TB, p *pupil, rng *rand.Rand, steps int, wrong float64) (right int) {
	outputs := p.base.Cols
	for k := range steps {
		p.draw(rng)
		p.base.Zero()
		best, label := float32(-9), int32(0)
		for c := range outputs {
			if v := p.z.Data[c%p.z.Cols] * float32(1+c); v > best {
				best, label = v, int32(c)
			}
		}
		p.node.Predict(p.y.Row(0), p.base.Row(0), p.z.Row(0))
		if k >= steps/2 && mat.Argmax(p.y.Row(0)) == int(label) {
			right++
		}
		if rng.Float64() < wrong {
			label = rng.Int32N(int32(outputs))
		}
		p.learn(loss.CrossEntropy{Labels: []int32{label}})
	}
	return right
}

func TestNewtonLearnsLabels(t *testing.T) {
	for _, doubt := range []float64{0, 0.2} {
		rng := rand.New(rand.NewPCG(8, 9))
		p := newPupil(t, 4, true, randomReadout(rng, 8, 4), momentOf(4), rule.Newton{Doubt: doubt, Fresh: 100})
		if got := classes(t, p, rng, 600, 0.1); got < 250 {
			t.Errorf("doubt %v: %d of 300 labels are right, want 250", doubt, got)
		}
	}
}

// A node that was stopped and restored goes on with the same bits, through JSON
// too, with a newcomer beside it and links of which it knows.
func TestNewtonState(t *testing.T) {
	run := func(stop bool) []float32 {
		rng := rand.New(rand.NewPCG(10, 11))
		p := newPupil(t, 3, true, randomReadout(rng, 6, 3), momentOf(3), rule.Newton{Doubt: 0.1, Fresh: 7, Restart: true})
		for k := range 40 {
			p.node.Relink([]int32{int32(k / 17)})
			classes(t, p, rng, 1, 0.3)
			if stop && k%5 == 0 {
				text, err := json.Marshal(p.node.State(0))
				if err != nil {
					t.Fatal(err)
				}
				var m rule.State
				if err := json.Unmarshal(text, &m); err != nil {
					t.Fatal(err)
				}
				p.node = rule.NewNode(rule.NodeConfig{Basis: p.basis, Config: &p.config, Rows: 1})
				if err := p.node.Restore(m, 0); err != nil {
					t.Fatal(err)
				}
			}
		}
		return append([]float32(nil), p.node.Params()...)
	}
	got, want := run(true), run(false)
	for e := range want {
		if got[e] != want[e] {
			t.Fatalf("parameter %d is %v, want %v", e, got[e], want[e])
		}
	}
}

// A state that does not fit is refused, and changes nothing.
func TestNewtonStateRefused(t *testing.T) {
	rng := rand.New(rand.NewPCG(12, 13))
	p := newPupil(t, 3, true, randomReadout(rng, 6, 3), momentOf(3), rule.Newton{Fresh: 3})
	classes(t, p, rng, 10, 0)
	good := p.node.State(0)
	first := len(good) - int(good[1]) + 3 + p.basis.Len() // whom it hears, and what it knows
	for name, spoil := range map[string]func(s rule.State) rule.State{
		"short":          func(s rule.State) rule.State { s[1]--; return s[:len(s)-1] },
		"long":           func(s rule.State) rule.State { s[1]++; return append(s, 1) },
		"only a head":    func(s rule.State) rule.State { s[1] -= float64(len(s) - first - 3); return s[:first+3] },
		"nan":            func(s rule.State) rule.State { s[first+20] = math.NaN(); return s },
		"a scale of 0":   func(s rule.State) rule.State { s[first+1] = 0; return s },
		"a prior of 0":   func(s rule.State) rule.State { s[first+2] = 0; return s },
		"hears, no more": func(s rule.State) rule.State { s[1] = float64(first + 2 - 5); return append(s[:first:first], 1, 7) },
		"only a newcomer": func(rule.State) rule.State {
			s := rule.NewNode(rule.NodeConfig{Basis: p.basis, Config: &p.config, Rows: 1}).State(0)
			s[first+4] = 0
			return s
		},
		"hears somebody": func(s rule.State) rule.State { s[first] = 1; return s },
		"links":          func(s rule.State) rule.State { s[first+8] = 1e300; return s },
		"size":           func(s rule.State) rule.State { s[first+9] = 1e9; return s },
		"another size":   func(s rule.State) rule.State { s[first+9]++; return s },
		"no variance":    func(s rule.State) rule.State { s[len(s)-1] = 0; return s },
	} {
		if err := p.node.Restore(spoil(slices.Clone(good)), 0); err == nil || !slices.Equal(p.node.State(0), good) {
			t.Errorf("%s: got error %v, or it changed", name, err)
		}
	}
	if err := p.node.Restore(nil, 0); err != nil || p.node.Learned() || len(p.node.State(0)) != first+10 {
		t.Errorf("restored from nothing it remembers %v, error %v", p.node.State(0), err)
	}
	plain := rule.NewNode(rule.NodeConfig{Basis: p.basis, Config: &rule.Config{}, Rows: 1})
	if err := plain.Restore(good, 0); err == nil {
		t.Error("a node that takes gradient steps took the state of one that does not")
	}
}

// Newcomers, and links that change, by plain nodes side by side: the bits are those of
// the first of all, until one that began later is ahead; and of one that begins when links
// change, beside which what was learned longest stays, and comes back with its world.
func TestChangeOverByPlainNodes(t *testing.T) {
	const fresh, outputs = 40, 3
	rng := rand.New(rand.NewPCG(14, 15))
	p := newPupil(t, 4, true, randomReadout(rng, 6, outputs), momentOf(4), rule.Newton{Fresh: fresh, Restart: true})
	changes := 0
	for _, labels := range []bool{true, false} {
		p.node.Reset() // of links it still knows
		begin := func() *pupil {
			q := &pupil{t: t, config: rule.Config{Newton: &rule.Newton{}}, heard: p.heard, y: p.y, base: p.base, z: p.z}
			q.node = rule.NewNode(rule.NodeConfig{Basis: p.basis, Config: &q.config, Rows: 1})
			return q
		}
		first, second := begin(), (*pupil)(nil)
		told, age, tookOver, cameBack := 0, 0, 0, 0
		costs, knows := [2]float64{}, map[*pupil]int{}
		for k := range 1200 {
			world := (k + 75) / 150 % 2 // links change twice, and not with the world
			for range map[int]int{0: 2, 5: 1, 110: 1}[k%150] {
				if labels && k == 0 { // it knows nobody before step 5
					break
				}
				anew := p.node.Relink(make([]int32, changes))
				if want := k > 0 && changes > 0; anew != want || anew && p.basis.Distance(p.node.Params(), nil) != 0 {
					t.Fatalf("step %d: begins again %v at %v, want %v", k, anew, p.node.Params(), want)
				}
				changes++
				state := p.node.State(0)
				p.node = rule.NewNode(rule.NodeConfig{Basis: p.basis, Config: &p.config, Rows: 1})
				if err := p.node.Restore(state, 0); err != nil {
					t.Fatal(err)
				}
				if !anew {
					break
				}
				if second == nil || knows[second] < knows[first] {
					second = first
				}
				first, told, age, costs = begin(), 0, 0, [2]float64{}
			}
			p.draw(rng)
			p.base.Zero()
			target, best := mat.NewDense(1, outputs, nil), int32(0)
			for c := range target.Data {
				target.Data[c] = p.z.Data[(c+world)%4] + 0.05*float32(rng.NormFloat64())
				if target.Data[c] > target.Data[best] {
					best = int32(c)
				}
			}
			var j loss.Loss = loss.MSE{Target: target}
			if labels {
				j = loss.CrossEntropy{Labels: []int32{best}}
			}
			if told > 0 && told%fresh == 0 {
				second, age, costs = begin(), 0, [2]float64{}
			}
			if k%9 == 4 { // an update that is not made, and one that nothing was told for
				before := p.node.State(0)
				p.node.Observe(p.z, p.base, firstRow, j)
				err := p.node.Step(p.heard)
				p.node.Cancel()
				p.node.Observe(mat.Dense{}, mat.Dense{}, nil, j)
				if err = errors.Join(err, p.node.Step(p.heard)); err != nil {
					t.Fatal(err)
				}
				if p.node.Commit(); !slices.Equal(p.node.State(0)[6:], before[6:]) {
					t.Fatalf("step %d: changed by nothing", k)
				}
			}
			told++
			p.learn(j)
			for e, q := range []*pupil{first, second} {
				if q != nil {
					q.node.Predict(p.y.Row(0), p.base.Row(0), p.z.Row(0))
					costs[e] += j.(loss.Local).EvalNode(0, nil, p.y.Row(0))
					q.learn(j)
					knows[q]++
				}
			}
			if labels { // costs of labels know how sure a learner is
				copy(costs[:], p.node.State(0)[13+p.basis.Len():])
			}
			if age++; second != nil && rule.Ahead(age, costs[0], costs[1], labels) {
				if tookOver++; knows[second] > told {
					cameBack++
				}
				first, second = second, nil
			}
			if !slices.Equal(p.node.Params(), first.node.Params()) {
				t.Fatalf("labels %v, step %d: %v, want %v", labels, k, p.node.Params(), first.node.Params())
			}
		}
		if t.Logf("labels %v: %d took over, %d of them came back", labels, tookOver, cameBack); tookOver < 10 || cameBack == 0 {
			t.Errorf("labels %v: %d took over, %d of them came back, want 10 and some", labels, tookOver, cameBack)
		}
	}
	for _, c := range []struct {
		age      int
		old, new float64
		labels   bool
		want     bool
	}{
		{9, 100, 0, true, false},
		{10, 3, 0, true, true},
		{10, 2.99, 0, true, false},
		{10, math.Exp(0.601), 1, false, true},
		{10, math.Exp(0.599), 1, false, false},
		{10, 1, 0, false, true},
		{10, 1, -1, false, false},
		{10, 0, 0, false, false},
	} {
		if got := rule.Ahead(c.age, c.old, c.new, c.labels); got != c.want {
			t.Errorf("%+v: ahead is %v", c, got)
		}
	}
}

// Numbers without bounds are refused one by one: what was learned stays.
func TestNewtonRefuses(t *testing.T) {
	rng := rand.New(rand.NewPCG(16, 17))
	p := newPupil(t, 2, false, randomReadout(rng, 4, 2), nil, rule.Newton{})
	p.config.Limit = 100
	for k := range 30 {
		p.draw(rng)
		target := mat.NewDense(1, 2, []float32{1, -1})
		if k == 20 {
			target.Data[0] = 3e38
		}
		if k == 25 {
			p.z.Data[0] = float32(math.NaN())
		}
		before := append([]float32(nil), p.node.Params()...)
		p.learn(loss.MSE{Target: target})
		refused := 0
		if k == 20 || k == 25 {
			refused = 1
			for e, v := range p.node.Params() {
				if v != before[e] {
					t.Errorf("parameter %d moved from %v to %v", e, before[e], v)
				}
			}
		}
		if got := p.node.Refused(); got != refused {
			t.Errorf("step %d: %d answers refused, want %d", k, got, refused)
		}
	}
}

// The bits are those of every architecture, and of both levels of amd64.
func TestNewtonBits(t *testing.T) {
	h := fnv.New64a()
	for _, fresh := range []int{0, 20} {
		rng := rand.New(rand.NewPCG(18, 19))
		readout := mat.NewDense(4, 3, nil)
		for e := range readout.Data {
			readout.Data[e] = rng.Float32() - 0.5
		}
		p := newPupil(t, 3, true, readout, nil, rule.Newton{Doubt: 0.2, Fresh: fresh, Forget: 0.999})
		for k := range 200 {
			for e := range p.z.Data {
				p.z.Data[e] = rng.Float32() - 0.5
			}
			var j loss.Loss = loss.CrossEntropy{Labels: []int32{rng.Int32N(3)}}
			if k%3 == 2 {
				j = loss.SmoothL1{Target: mat.NewDense(1, 3, []float32{rng.Float32(), rng.Float32(), rng.Float32()})}
			}
			p.learn(j)
			p.node.Predict(p.y.Row(0), p.base.Row(0), p.z.Row(0))
			for _, v := range append(p.y.Row(0), p.node.Params()...) {
				h.Write(binary.LittleEndian.AppendUint32(nil, math.Float32bits(v)))
			}
		}
	}
	if got, want := h.Sum64(), uint64(0x1ee8bd916880ddb9); got != want {
		t.Errorf("hash %#x, want %#x", got, want)
	}
}

// P is one matrix over all of X up to 128 numbers, otherwise and for squared errors one of
// the features; τ is that of the kind of cost, and both stay when another kind comes.
func TestNewtonBeginsByTheCost(t *testing.T) {
	for _, c := range []struct {
		inputs, outputs int
		labels          bool
		side, prior     float64
	}{
		{32, 4, true, 128, 30},
		{43, 3, true, 43, 30},
		{33, 4, true, 33, 30},
		{4, 4, false, 4, 0.02},
		{5, 1, false, 5, 0.005},
		{2, 2, true, 4, 30},
	} {
		rng := rand.New(rand.NewPCG(24, 25))
		p := newPupil(t, c.inputs, false, randomReadout(rng, c.outputs, c.outputs), momentOf(c.inputs), rule.Newton{})
		first := 5 + 3 + p.basis.Len()
		labels, errs := loss.Loss(loss.CrossEntropy{Labels: []int32{0}}), loss.Loss(loss.MSE{Target: p.base})
		for k := range 4 {
			p.draw(rng)
			if j := []loss.Loss{errs, labels}[k%2]; c.labels {
				p.learn([]loss.Loss{labels, errs}[k%2])
			} else if c.outputs > 1 || k%2 == 0 {
				p.learn(j)
			}
			s := p.node.State(0)
			if s[first+9] != c.side || math.Abs(s[first+2]-c.prior) > 1e-12 {
				t.Errorf("%+v: P has %v rows, a prior of %v", c, s[first+9], s[first+2])
			}
			p.node = rule.NewNode(rule.NodeConfig{Basis: p.basis, Config: &p.config, Rows: 1})
			if err := p.node.Restore(s, 0); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// A step allocates nothing.
func TestNewtonAllocates(t *testing.T) {
	rng := rand.New(rand.NewPCG(20, 21))
	p := newPupil(t, 6, true, randomReadout(rng, 8, 5), momentOf(6), rule.Newton{Doubt: 0.2, Fresh: 10})
	labels := loss.CrossEntropy{Labels: []int32{2}}
	var j loss.Loss = labels
	for range 20 {
		p.draw(rng)
		p.learn(j)
	}
	if n := testing.AllocsPerRun(100, func() {
		p.node.Predict(p.y.Row(0), p.base.Row(0), p.z.Row(0))
		p.learn(j)
	}); n != 0 {
		t.Errorf("%v allocations a step, want 0", n)
	}
}

func BenchmarkNewton(b *testing.B) {
	for _, c := range []struct {
		name            string
		inputs, outputs int
		fresh           int
	}{{"taps+bias", 6, 5, 0}, {"taps+bias, fresh", 6, 5, 100}, {"one matrix of 28, fresh", 27, 5, 100}} {
		b.Run(c.name, func(b *testing.B) {
			rng := rand.New(rand.NewPCG(22, 23))
			p := newPupil(b, c.inputs, true, randomReadout(rng, 8, c.outputs), momentOf(c.inputs), rule.Newton{Doubt: 0.2, Fresh: c.fresh})
			draws := mat.NewDense(997, c.inputs, nil)
			for e := range draws.Data {
				draws.Data[e] = float32(rng.NormFloat64())
			}
			labels := []int32{0}
			var j loss.Loss = loss.CrossEntropy{Labels: labels}
			k := 0
			b.ReportAllocs()
			for b.Loop() {
				copy(p.z.Data, draws.Row(k%draws.Rows))
				labels[0] = int32(mat.Argmax(p.z.Data[:c.outputs]))
				k++
				p.learn(j)
			}
		})
	}
}
