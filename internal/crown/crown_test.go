package crown

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/internal/vector"
	"github.com/wdgnn/wdgnn/mat"
)

// doubted is a random model in float32 on a random graph, with a signal.
type doubted struct {
	model *gnn.WideDeep
	shift *mat.CSR
	x     mat.Dense
	node  int
}

// randomDoubted draws a model of up to three layers on n nodes; biases are large at
// times, so that what float32 rounds is not small beside what noise does.
func randomDoubted(t *testing.T, rng *rand.Rand, n, most int) *doubted {
	t.Helper()
	c := gnn.Config{In: 1 + rng.IntN(2), Features: 1 + rng.IntN(most), Outputs: rng.IntN(4)}
	kind := rng.IntN(4)
	if kind != 1 {
		c.Wide = &gnn.WideConfig{Order: rng.IntN(4)}
	}
	if kind != 0 {
		for range rng.IntN(3) {
			c.Deep = append(c.Deep, gnn.LayerConfig{Order: rng.IntN(3), Features: 1 + rng.IntN(most), Activation: gnn.Activation(rng.IntN(4))})
		}
		if most > 8 && len(c.Deep) > 1 { // three wide layers take their time
			c.Deep = c.Deep[:1]
		}
		c.Deep = append(c.Deep, gnn.LayerConfig{Order: rng.IntN(4), Features: c.Features, Activation: gnn.Activation(rng.IntN(4))})
	}
	m, err := gnn.NewRandom(c, rng)
	if err != nil {
		t.Fatal(err)
	}
	for i := range m.Params.Flat {
		m.Params.Flat[i] *= 2
	}
	if rng.IntN(4) == 0 {
		size := float32(math.Pow(10, 5*rng.Float64()))
		for l := range m.Params.Deep {
			for g := range m.Params.Deep[l].Bias {
				m.Params.Deep[l].Bias[g] *= size
			}
		}
	}
	d := &doubted{model: m, shift: sparse32(t, randomGraph(rng, n, rng.IntN(3) == 0), n), x: mat.NewDense(n, c.In, nil), node: rng.IntN(n)}
	for i := range d.x.Data {
		d.x.Data[i] = float32(rng.NormFloat64())
	}
	return d
}

// sparse32 returns a matrix of n×n by rows in float32.
func sparse32(t *testing.T, a []float64, n int) *mat.CSR {
	t.Helper()
	var entries []mat.Entry
	for i, v := range a {
		if v != 0 {
			entries = append(entries, mat.Entry{Row: i / n, Col: i % n, Val: float32(v)})
		}
	}
	s, err := mat.FromEntries(n, n, entries)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func mat32(a []float64, n int) mat.Dense {
	out := mat.NewDense(n, len(a)/n, nil)
	for i, v := range a {
		out.Data[i] = float32(v)
	}
	return out
}

// answer returns the outputs of the node in float32, noise added to the signal.
func (d *doubted) answer(noise []float64) []float32 {
	x := d.x.Clone()
	for i, v := range noise {
		x.Data[i] += float32(v)
	}
	y := mat.NewDense(x.Rows, d.model.Outputs(), nil)
	d.model.Predict(y, d.shift, x)
	return y.Row(d.node)
}

func (d *doubted) crown(norm Norm) *Crown {
	return NewCrown(NewNetwork(d.model), NewShift(d.shift), []int{d.node}, Noise{Norm: norm})
}

// outputs returns those of a node with nothing unknown.
func (k *Case) outputs(node int) []float64 {
	n := k.crown.net.Outputs
	return k.Output[node*n : (node+1)*n]
}

// randomNoise draws a point of the ball: at its rim mostly, at a corner at times.
func randomNoise(rng *rand.Rand, norm Norm, n int, size float64) []float64 {
	v := randomSignal(rng, n)
	size *= 1 - 1e-6 // what float32 makes of signal and noise together stays inside
	if norm == L2 {
		vector.Scale(v, size/norm2(v))
		return v
	}
	for i := range v {
		v[i] = math.Copysign(size, v[i])
	}
	return v
}

func norm2(v []float64) float64 { return math.Sqrt(vector.Dot(v, v)) }

// No noise that was drawn moves an answer in float32 out of its bounds: of 10,000
// small networks, and of 200 with 30 to 60 nodes and up to 16 features a layer at
// 25 signals each, with large biases at times.
func TestCrownHolds(t *testing.T) {
	t.Parallel()
	rng := newRand(31)
	for k := range instances() {
		n, most, signals := 2+rng.IntN(7), 4, 1
		if k%50 == 0 {
			n, most, signals = 30+rng.IntN(31), 16, 25
		}
		d := randomDoubted(t, rng, n, most)
		norm := Norm(rng.IntN(2))
		crown := d.crown(norm)
		for range signals {
			for i := range d.x.Data {
				d.x.Data[i] = float32(rng.NormFloat64())
			}
			size := math.Pow(10, -3+4*rng.Float64())
			bounds := crown.Case(Signal(d.x)).Bounds(d.node, size)
			for range 4 {
				for c, y := range d.answer(randomNoise(rng, norm, len(d.x.Data), size)) {
					if b := bounds[c]; !(b.Low <= float64(y) && float64(y) <= b.High) {
						t.Fatalf("instance %d, %d nodes, %v noise of %.3g: output %d is %v, want within [%v, %v]", k, n, norm, size, c, y, b.Low, b.High)
					}
				}
			}
		}
	}
}

// Every corner of a box, 2ⁿ of them, lies within the bounds, and for one layer of
// ReLUs that do not change sides the bounds are reached.
func TestCrownOnAllCorners(t *testing.T) {
	rng := newRand(33)
	for k := range 60 {
		n := 2 + rng.IntN(4)
		d := randomDoubted(t, rng, n, 4)
		kase := d.crown(LInf).Case(Signal(d.x))
		const size = 0.3
		bounds := kase.Bounds(d.node, size)
		noise := make([]float64, len(d.x.Data))
		for corner := range 1 << len(noise) {
			for i := range noise {
				noise[i] = size * (1 - 1e-6) * float64(1-2*(corner>>i&1))
			}
			for c, y := range d.answer(noise) {
				if float64(y) < bounds[c].Low || float64(y) > bounds[c].High {
					t.Fatalf("instance %d: corner %b: output %d is %v, want within %v", k, corner, c, y, bounds[c])
				}
			}
		}
	}
}

// One ReLU, by hand: y = relu(2x + 1) on one node, x = 0, noise of up to 1: h is in
// [-1, 3], the upper line 3/4 (h + 1), the lower line h, as 3 > 1. So y ≥ -1 by the
// line and y ≤ 3.
func TestCrownByHand(t *testing.T) {
	net := &Network{In: 1, Features: 1, Outputs: 1, GainWide: 1, GainDeep: 1, Deep: []Layer{
		{Filter{In: 1, Out: 1, Taps: [][]float64{{2}}, Bias: []float64{1}}, gnn.ReLU},
	}}
	s := shiftOf(1, []float64{0})
	kase := NewCrown(net, s, nil, Noise{}).Case([]float64{0})
	if b := kase.Bounds(0, 1)[0]; !near(b.Low, -1, 1e-5) || !near(b.High, 3, 1e-5) || b.Low > -1 || b.High < 3 {
		t.Errorf("bounds %v, want [-1, 3] and what float32 rounds", b)
	}
	// behind a second layer, relu(-y + 2): y ∈ [-1, 3] as bounded, so h₂ ∈ [-1, 3]
	// again, with the upper line 3/4 (h₂ + 1), and -y ≤ -h, hence the output at most
	// 3/4 (3 - h) with h ≥ -1: 3.
	net.Deep = append(net.Deep, Layer{Filter{In: 1, Out: 1, Taps: [][]float64{{-1}}, Bias: []float64{2}}, gnn.ReLU})
	kase = NewCrown(net, s, nil, Noise{}).Case([]float64{0})
	if b := kase.Bounds(0, 1)[0]; !near(b.High, 3, 1e-5) || b.High < 3 {
		t.Errorf("upper bound behind two layers %v, want 3", b.High)
	}
}

// What float32 rounds is inside the bounds of a signal without noise, and the
// bounds are not wider than a thousand times that in the median.
func TestRoundingIsCovered(t *testing.T) {
	rng := newRand(36)
	var ratios []float64
	for k := range 300 {
		d := randomDoubted(t, rng, 20+rng.IntN(20), 8)
		kase := d.crown(L2).Case(Signal(d.x))
		for c, y := range d.answer(nil) {
			b, exact := kase.Bounds(d.node, 0)[c], kase.Output[d.node*d.model.Outputs()+c]
			if float64(y) < b.Low || float64(y) > b.High {
				t.Fatalf("instance %d: float32 gives %v, want within %v", k, y, b)
			}
			if e := math.Abs(float64(y) - exact); e > 0 {
				ratios = append(ratios, (b.High-b.Low)/2/e)
			}
		}
	}
	if m := median(ratios); m > 1000 {
		t.Errorf("bounds allow %v times what float32 rounds, want at most 1000", m)
	} else {
		t.Logf("bounds allow %.0f times what float32 rounds, in the median", m)
	}
}

// What float32 adds to the pre-activations of two layers on one node, by hand: with
// x = 3 and noise of up to 1, h₁ = 2x + 10 and h₂ = -h₁ + 5 within their intervals.
func TestErrorsByHand(t *testing.T) {
	net := &Network{In: 1, Features: 1, Outputs: 1, GainWide: 1, GainDeep: 1, Deep: []Layer{
		{Filter{In: 1, Out: 1, Taps: [][]float64{{2}}, Bias: []float64{10}}, gnn.ReLU},
		{Filter{In: 1, Out: 1, Taps: [][]float64{{-1}}, Bias: []float64{50}}, gnn.ReLU},
	}}
	crown := NewCrown(net, shiftOf(1, []float64{0}), nil, Noise{})
	kase := crown.Case([]float64{3})
	kase.Bounds(0, 1)
	first, second := kase.box(1).layers[0], kase.box(1).layers[1]
	e1 := crown.round.gamma[0] * (10 + 2*(3+1))
	if !near(first.error[0], e1, 1e-12) || !near(first.most[0], 18+e1, 1e-12) {
		t.Errorf("layer 1 errs by %v with outputs up to %v, want %v and %v", first.error[0], first.most[0], e1, 18+e1)
	}
	e2 := crown.round.gamma[1] * (50 + 18 + e1)
	// h₂ is least where h₁ is largest, and both errors add up; it is never below 0.
	if want := 36 + e1 + e2; !near(second.error[0], e2, 1e-12) || !near(second.most[0], want, 1e-12) {
		t.Errorf("layer 2 errs by %v with outputs up to %v, want %v and %v", second.error[0], second.most[0], e2, want)
	}
	low := relax(gnn.ReLU, 32-e1-e2, 36+e1+e2)
	if second.lines[0] != low {
		t.Errorf("lines of layer 2 %+v, want %+v", second.lines[0], low)
	}
	b := kase.Bounds(0, 1)[0]
	last := crown.round.last * (36 + e1 + e2)
	if !near(b.Low, 32-e1-e2-last, 1e-12) || !near(b.High, 36+e1+e2+last, 1e-12) {
		t.Errorf("bounds %v, want [%v, %v]", b, 32-e1-e2-last, 36+e1+e2+last)
	}
}

// Taps that nodes have of their own, as GiveTaps gives them, are part of a case, of
// its bounds and of the attack.
func TestCrownOfOwnTaps(t *testing.T) {
	rng := newRand(38)
	for k := range 50 {
		n := 3 + rng.IntN(5)
		net := randomNetwork(rng)
		f := randomFilter(rng, "wide", net.In, net.Features, 2, true)
		net.Wide = &f
		node := rng.IntN(n)
		net.GiveTaps(node, randomSignal(rng, (3*net.In+1)*net.Outputs))
		s, x := shiftOf(n, randomGraph(rng, n, false)), randomSignal(rng, n*net.In)
		kase := NewCrown(net, s, []int{node}, Noise{}).Case(x)
		want := net.Forward(s, x)[node*net.Outputs : (node+1)*net.Outputs]
		_, found := kase.attack(node).outputs(make([]float64, len(x)))
		for c, b := range kase.Bounds(node, 0) {
			if got := kase.outputs(node)[c]; !near(got, want[c], 1e-9) || !near(found[c], want[c], 1e-9) || want[c] < b.Low || want[c] > b.High {
				t.Fatalf("instance %d: output %d is %v and, attacked, %v within %v, want %v", k, c, got, found[c], b, want[c])
			}
		}
	}
}

// Lines stand around activations where float32 may put them: on the interval of the first
// layer, widened by what it rounds. And a margin is the least over all other classes.
func TestPartsOfCrown(t *testing.T) {
	rng := newRand(76)
	kinks, margins, inner := 0, 0, 0
	for k := range 60 {
		d := randomDoubted(t, rng, 3+rng.IntN(5), 4)
		c := d.crown(L2)
		kase := c.Case(Signal(d.x))
		size := []float64{0, 0.1}[k%2]
		if layers := len(c.net.Deep); layers > 0 {
			b := kase.box(size)
			kase.bound(b, 1, firstOf(c.first))
			node, out := firstOf(c.first), c.net.Deep[0].Out
			for g := range out {
				at := node*out + g
				v, e, r := kase.pre[0][at], b.layers[0].error[at], size*c.first[node][g]
				if want := relax(c.net.Deep[0].Activation, v-r-e, v+r+e); b.layers[0].lines[at] != want || !(e > 0) && v != 0 {
					t.Fatalf("model %d, unit %d: got %+v, want %+v with an error of %v", k, g, b.layers[0].lines[at], want, e)
				}
				kinks++
			}
			if layers > 1 {
				inner += deepLines(t, kase, b, layers, d.node)
			}
		}
		q := make([]float64, c.net.Outputs)
		if len(q) < 3 {
			continue
		}
		class := argmax(kase.outputs(d.node))
		least, last := math.Inf(1), 0.0
		for o := range q {
			if o != class {
				clear(q)
				q[class], q[o] = 1, -1
				last = kase.least(d.node, q, size)
				least = min(least, last)
			}
		}
		if least > 0 && least < last {
			margins++
			if got := kase.Margin(d.node, class, size); got != least {
				t.Fatalf("model %d: got a margin of %v, want %v, the least", k, got, least)
			}
		}
	}
	if kinks == 0 || margins == 0 || inner == 0 {
		t.Errorf("%d units, %d of the last of several layers, and %d margins: the test asks for nothing", kinks, inner, margins)
	}
}

// deepLines checks the lines of the last layer of several at a node, and returns how
// many of them have an error of float32 in them.
func deepLines(t *testing.T, kase *Case, b *box, layer, node int) (rounded int) {
	t.Helper()
	c := kase.crown
	kase.bound(b, layer, node)
	a, out := c.inner[layer-1][node], c.net.Deep[layer-1].Out
	w := make([]float64, out)
	for g, e := range c.errors(a, layer, b.layers[layer-2].most) {
		w[g] = 1
		low := kase.half(b, a, layer, w) - e
		w[g] = -1
		high := -kase.half(b, a, layer, w) + e
		w[g] = 0
		in, at := &b.layers[layer-1], node*out+g
		if want := relax(c.net.Deep[layer-1].Activation, low, high); in.lines[at] != want || in.error[at] != e {
			t.Fatalf("unit %d of layer %d: got %+v, want %+v, on [%v, %v] with an error of %v", g, layer, in.lines[at], want, low, high, e)
		}
		if e > 0 {
			rounded++
		}
	}
	return rounded
}

// firstOf returns the smallest node of a map.
func firstOf(m map[int][]float64) int {
	least := math.MaxInt
	for i := range m {
		least = min(least, i)
	}
	return least
}

// How often a term is rounded, counted by hand: three nodes in a row, two filters of order
// 2 and 1 and a wide one of order 1.
func TestRoundsOfTerms(t *testing.T) {
	s := shiftOf(3, []float64{0, 1, 0, 1, 0, 1, 0, 1, 0}) // two heard at most, and one more for a liar
	rng := newRand(77)
	wide := randomFilter(rng, "wide", 2, 4, 1, false)
	net := &Network{In: 2, Features: 4, Outputs: 4, GainWide: 1, GainDeep: 1, Wide: &wide, Deep: []Layer{
		{randomFilter(rng, "deep 1", 2, 5, 2, false), gnn.ReLU}, {randomFilter(rng, "deep 2", 5, 4, 1, false), gnn.ReLU},
	}}
	r := NewCrown(net, s, []int{0}, Noise{}).round
	// 12 are for gains, storing and tanh: doc/theory.md, (t)
	first, second, last := 2*4+3*2+12, 1*4+2*5+12+2, 4+12+1*4+2*2+12 // node 0 and the one it hears are within a hop
	for name, c := range map[string]struct {
		got float64
		ops int
	}{"layer 1": {r.gamma[0], first}, "layer 2": {r.gamma[1], second}, "output": {r.last, last}} {
		if want := Gamma(c.ops, unit32); c.got != want {
			t.Errorf("%s: got γ = %v, want %v of %d roundings", name, c.got, want, c.ops)
		}
	}
	if want := float64(3) * unit32 / (1 - 3*unit32); Gamma(3, unit32) != want || !math.IsInf(Gamma(1<<24, unit32), 1) {
		t.Errorf("γ_3 is %v, want %v, and none of 2²⁴", Gamma(3, unit32), want)
	}
}

// What float32 adds to the output of a node with terms and a bias of its own: γ of the
// sizes of all that it sums, by hand.
//
// Reference: doc/theory.md, (t).
func TestSlackOfTerms(t *testing.T) {
	s := shiftOf(3, []float64{0, -2, 0, -2, 0, 3, 0, 3, 0})
	wide := Filter{Name: "wide", In: 1, Out: 1, Taps: [][]float64{{-5}, {7}}, Bias: []float64{-11}}
	net := &Network{In: 1, Features: 1, Outputs: 1, GainWide: -0.5, Wide: &wide}
	net.GiveTerms(0, []Term{{0, 1, []float64{-13}}, {1, 1, []float64{17}}}, []float64{-19})
	c := NewCrown(net, s, []int{0}, Noise{})
	got := c.slack(c.read[0], []float64{1, 10, 100}, nil)[0]
	shared := 0.5 * (11 + 5*1 + 7*2*10)
	own := 13*(2*10) + 17*(2*1+3*100) + 19.0
	if want := c.round.last * (shared + own); !near(got, want, 1e-12) {
		t.Errorf("got %v, want %v: γ times %v and %v", got, want, shared, own)
	}

	// And what float64 does, if its unit were that large: of the sizes that a signal
	// has, and of those that noise adds.
	signal, size := []float64{1, -10, 100}, 0.5
	exact := c.Case(signal).least(0, []float64{-2}, size)
	c.round.tiny = 0.01
	grown := 0.5*(5+7*2) + 13*2 + 17*(2+3) // noise of 1 everywhere
	if got, want := exact-c.Case(signal).least(0, []float64{-2}, size), 2*0.01*(shared+own+size*grown); !near(got, want, 1e-9) {
		t.Errorf("in float64: got %v, want %v", got, want)
	}
}
