package theory

import (
	"math"
	"testing"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/crown"
	"github.com/wdgnn/wdgnn/internal/vector"
	"github.com/wdgnn/wdgnn/mat"
)

// The network of this package, in float64, is the model of package gnn.
//
// Reference: Section 2, eq. (2).
func TestNetworkIsTheModel(t *testing.T) {
	rng := newRand(1)
	m, err := gnn.NewRandom(gnn.Config{
		In: 2, Features: 4, Outputs: 3, Wide: &gnn.WideConfig{Order: 3},
		Deep:  []gnn.LayerConfig{{Order: 2, Features: 5, Activation: gnn.Tanh}, {Order: 3, Features: 4, Activation: gnn.LeakyReLU}},
		Gains: gnn.Gains{Wide: 0.7, Deep: -1.2, Bias: 0.3},
	}, rng)
	if err != nil {
		t.Fatal(err)
	}
	g, err := graph.ErdosRenyi(20, 0.3, rng)
	if err != nil {
		t.Fatal(err)
	}
	s, err := graph.ShiftSpectral.Of(g)
	if err != nil {
		t.Fatal(err)
	}
	x := mat.NewDense(20, 2, nil)
	for i := range x.Data {
		x.Data[i] = float32(rng.NormFloat64())
	}
	z := mat.NewDense(20, 2*(m.InputOrder()+1), nil)
	var shifter gnn.Shifter
	shifter.Shift(z, s, x)
	y := mat.NewDense(20, 3, nil)
	m.Forward(y, &gnn.Input{Shift: s, Shifted: z}, new(gnn.Tape))
	got := crown.NewNetwork(m).Forward(crown.NewShift(s), crown.Signal(x))
	for i, v := range y.Data {
		if math.Abs(got[i]-float64(v)) > 1e-5 {
			t.Fatalf("output %d: got %v, want %v", i, got[i], v)
		}
	}
}

// Whatever happens to a graph, symmetric or not, by little or by much, no
// output of any network changes by more than the direct certificate says, nor
// where nodes have taps of their own.
//
// Reference: Theorem 1, doc/theory.md "The direct certificate".
func TestDirectCertificateHolds(t *testing.T) {
	t.Parallel()
	rng, taps := newRand(2), newRand(102)
	directed, own := 0, 0
	for k := range instances() {
		n := randomNodes(rng)
		oneWay := k%10 == 9
		a := randomGraph(rng, n, oneWay)
		p := mustPair(t, a, perturb(rng, a, n, oneWay), n)
		net := randomNetwork(rng)
		if net.Wide != nil && k%3 == 0 {
			own++
			for i := range n {
				if taps.IntN(2) == 0 {
					net.GiveTaps(i, randomSignal(taps, (len(net.Wide.Taps)*net.In+1)*net.Outputs))
				}
			}
		}
		s := newStability(net, p, sometimes(k), nil)
		m := s.Measure(p, randomSignal(rng, n*net.In))
		if limit := m.Known*(1+1e-9) + 1e-12*(1+m.Output); m.Change > limit {
			t.Fatalf("instance %d, %d nodes: the output changed by %v, the certificate of the signal says %v", k, n, m.Change, m.Known)
		}
		if m.Known > m.Any*(1+1e-9) {
			t.Fatalf("instance %d: the bound of one signal, %v, exceeds that of all, %v", k, m.Known, m.Any)
		}
		if !p.Symmetric {
			directed++
			if s.Checks[0].Holds || !math.IsNaN(s.Paper(1)) {
				t.Fatalf("instance %d: Theorem 1 claims %v for a directed graph", k, s.Paper(1))
			}
		}
	}
	if own < instances()/10 {
		t.Errorf("got %d networks whose nodes have taps of their own, want a fifth", own)
	}
	if directed < instances()/20 {
		t.Errorf("got %d directed graphs, want a tenth", directed)
	}
}

// For ε → 0 the change of the output is at most what the theorem says for the
// network as it is: the part that is left out, O(ε²), vanishes.
//
// Reference: Theorem 1, eq. (13).
func TestTheoremHoldsForSmallPerturbations(t *testing.T) {
	t.Parallel()
	rng := newRand(3)
	asserted := 0
	for asserted < instances() {
		n := randomNodes(rng)
		a := randomGraph(rng, n, false)
		for i := range n {
			a[i*n+i] += 0.1 + rng.Float64() // no eigenvalues of opposite sign but equal size
		}
		p := mustPair(t, a, perturb(rng, a, n, false), n)
		if !p.Relative.Exists || p.Relative.Size == 0 {
			continue
		}
		near, err := p.Moved(1e-5 / p.Relative.Size)
		if err != nil {
			t.Fatal(err)
		}
		if got := near.Relative.Size; math.Abs(got-1e-5) > 1e-8 {
			t.Fatalf("got ε = %v, want 1e-5", got)
		}
		net := randomNetwork(rng)
		s := newStability(net, near, effort{}, nil)
		m := s.Measure(near, randomSignal(rng, n*net.In))
		for _, b := range []float64{s.Sharper(m.Signal), s.Extended(m.Signal)} {
			if b < m.Change*(1-1e-3)-1e-13*m.Output {
				t.Fatalf("%d nodes: the output changed by %v, the bound is %v (δ = %v)", n, m.Change, b, near.Relative.Misalignment)
			}
		}
		asserted++
	}
}

// On the way to the perturbed graph the change of the output divided by ε tends
// to a constant, and so the bound is of the right order.
//
// Reference: Theorem 1, eq. (13).
func TestChangeIsOfFirstOrder(t *testing.T) {
	rng := newRand(4)
	n := 12
	a := randomGraph(rng, n, false)
	for i := range n {
		a[i*n+i] += 1.5
	}
	p := mustPair(t, a, perturb(rng, a, n, false), n)
	net := randomNetwork(rng)
	for l := range net.Deep {
		net.Deep[l].Activation = gnn.Tanh
	}
	x := randomSignal(rng, n*net.In)
	var slopes []float64
	for _, step := range []float64{1e-3, 1e-4, 1e-5} {
		q, err := p.Moved(step)
		if err != nil {
			t.Fatal(err)
		}
		s := newStability(net, q, effort{}, nil)
		slopes = append(slopes, s.Measure(q, x).Change/q.Relative.Size)
	}
	if !near(slopes[1], slopes[2], 1e-2) || math.Abs(slopes[1]-slopes[2]) > math.Abs(slopes[0]-slopes[2]) {
		t.Errorf("change over ε: got %v at ε → 0, want a limit", slopes)
	}
}

// Where every hypothesis holds, what we compute for networks as they are is the
// formula of the paper, but for C_L in the form of eq. (12).
//
// Reference: Theorem 1, eq. (13).
func TestExtendedIsThePapersBound(t *testing.T) {
	rng := newRand(5)
	n := 10
	p := loopedPair(t, rng, n, 1)
	f := crown.Filter{In: 1, Out: 1, Taps: [][]float64{{0.2}, {0.1}}} // a(λ) = 0.2 + 0.1 λ: both forms of C_L are 0.1 λmax
	net := &crown.Network{In: 1, Features: 1, Outputs: 1, Wide: &f, GainWide: -0.5, GainDeep: 1}
	s := NewStability(net, p)
	if !near(s.Paper(3), s.Extended(3), 1e-12) {
		t.Errorf("got %v, want %v", s.Extended(3), s.Paper(3))
	}
	want := 2 * s.IntegralLipschitz * 0.5 * (1 + 8*math.Sqrt(10)) * 3 * p.Relative.Size
	if !near(s.Paper(3), want, 1e-12) {
		t.Errorf("got %v, want %v", s.Paper(3), want)
	}
}

// A single tap does not see the graph: C_L = 0 and nothing changes.
//
// Reference: Theorem 1.
func TestSingleTapIsStable(t *testing.T) {
	rng := newRand(6)
	n := 8
	a := randomGraph(rng, n, false)
	p := mustPair(t, a, perturb(rng, a, n, false), n)
	f := randomFilter(rng, "wide", 2, 3, 0, true)
	net := &crown.Network{In: 2, Features: 3, Outputs: 3, Wide: &f, GainWide: 1}
	s := NewStability(net, p)
	if m := s.Measure(p, randomSignal(rng, 2*n)); s.IntegralLipschitz != 0 || m.Change != 0 || m.Known != 0 {
		t.Errorf("got C_L %v, change %v, certificate %v, want 0", s.IntegralLipschitz, m.Change, m.Known)
	}
}

// Bounds of norms that are too large to be written out are above the norm, and
// by a few per cent only.
func TestOperatorNorm(t *testing.T) {
	rng := newRand(7)
	for range 20 {
		n := denseNorm + 1 + rng.IntN(60)
		a := randomGraph(rng, n, rng.IntN(2) == 0)
		p := mustPair(t, a, perturb(rng, a, n, true), n)
		f := randomFilter(rng, "", 1+rng.IntN(2), 1+rng.IntN(2), 3, false)
		got := changeNorm(&f, p)
		tr := f.Transposed()
		want := denseOperatorNorm(linear{
			n * f.In, n * f.Out,
			func(x []float64) []float64 {
				return difference(f.Apply(p.Perturbed, x, false), f.Apply(p.Shift, x, false))
			},
			func(y []float64) []float64 {
				return difference(tr.Apply(p.perturbedT, y, false), tr.Apply(p.shiftT, y, false))
			},
		})
		if got < want*(1-1e-9) || got > 1.06*want {
			t.Errorf("%d nodes: got %v, want %v to 1.06 of it", n, got, want)
		}
	}
}

// Where steps end before all is found, the margin for it is part of the norm: with n
// numbers and m steps η = (ln(1.648 √n/p)/(2m - 1))².
func TestMarginOfOperatorNorm(t *testing.T) {
	const n = 200
	diagonal := func(x []float64) []float64 {
		y := make([]float64, n)
		for i, v := range x {
			y[i] = v * math.Sqrt(float64(i+1)) // squared norms 1, …, n
		}
		return y
	}
	m := linear{n, n, diagonal, diagonal}
	theta, exact, steps := lanczos(m)
	eta := math.Pow(math.Log(1.648*math.Sqrt(n)/FailureProb)/float64(2*steps-1), 2)
	if exact || steps != lanczosSteps || theta > n*(1+1e-12) || theta < 0.99*n {
		t.Errorf("after %d steps got %v, exact %v; want nearly %d after %d", steps, theta, exact, n, lanczosSteps)
	}
	if got, want := operatorNorm(m), math.Sqrt(theta/(1-eta)); !near(got, want, 1e-12) || got < 1.01*math.Sqrt(n) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// The norm with own taps, and with weights of neighbours that are heard on one graph or
// on both, is that of the map written out, for small networks and for those that
// Lanczos' method sees.
func TestNormOfOwnTaps(t *testing.T) {
	rng := newRand(8)
	for k, n := range []int{2, 5, 12, denseNorm, denseNorm + 40} {
		a := randomGraph(rng, n, k%2 == 0)
		p := mustPair(t, a, perturb(rng, a, n, k%2 == 0), n)
		f := randomFilter(rng, "wide", 2, 3, 2, true)
		net := &crown.Network{In: 2, Features: 3, Outputs: 2, Wide: &f, GainWide: 0.7, Readout: randomSignal(rng, 6), Offset: make([]float64, 2)}
		other := *net
		for i := range n {
			taps := randomSignal(rng, (3*2+1)*2)
			net.GiveTaps(i, taps)
			other.GiveTaps(i, taps)
			if i%2 == 0 && k > 0 { // of itself and two neighbours, who differ from graph to graph
				for _, on := range []*crown.Network{net, &other} {
					on.GiveTerms(i, []crown.Term{
						{Node: i, Hop: 2, Weights: randomSignal(rng, 4)},
						{Node: rng.IntN(n), Hop: 1, Weights: randomSignal(rng, 4)},
						{Node: rng.IntN(n), Hop: 2, Weights: randomSignal(rng, 4)},
					}, randomSignal(rng, 2))
				}
			}
		}
		if k > 0 {
			net.Perturbed = &other
		}
		columns := make([]float64, 0, 2*n*2*n)
		zero := make([]float64, 2*n)
		rest := difference(net.OnPerturbed().Forward(p.Perturbed, zero), net.Forward(p.Shift, zero))
		for j := range zero {
			x := make([]float64, 2*n)
			x[j] = 1
			columns = append(columns, difference(difference(net.OnPerturbed().Forward(p.Perturbed, x), net.Forward(p.Shift, x)), rest)...)
		}
		want := spectralNorm(columns, 2*n, 2*n)
		c := NewStability(net, p).Direct
		if got := c.Wide; got < want*(1-1e-9) || got > 1.06*want || 2*n <= denseNorm && !near(got, want, 1e-9) {
			t.Errorf("%d nodes: got %v, want %v", n, got, want)
		}
		if !near(c.Biases, vector.Norm(rest), 1e-9) || (k > 0) != (c.Biases > 0) || !near(c.Bound(3), c.Biases+3*c.Wide, 1e-12) {
			t.Errorf("%d nodes: biases change by %v, want %v, and both in a bound of %v", n, c.Biases, vector.Norm(rest), c.Bound(3))
		}
	}
}

// The network of Section 6.1 on 50 nodes, all of Theorem 1.
func BenchmarkStability(b *testing.B) {
	rng := newRand(81)
	m, err := gnn.NewRandom(gnn.Config{
		In: 1, Features: 32, Outputs: 5, Wide: &gnn.WideConfig{Order: 5},
		Deep: []gnn.LayerConfig{{Order: 5, Features: 32}, {Order: 5, Features: 32}},
	}, rng)
	if err != nil {
		b.Fatal(err)
	}
	a := randomGraph(rng, 50, false)
	s, sHat := shiftOf(50, a), shiftOf(50, perturb(rng, a, 50, false))
	for b.Loop() {
		p, err := NewPair(s, sHat)
		if err != nil {
			b.Fatal(err)
		}
		NewStability(crown.NewNetwork(m), p)
	}
}
