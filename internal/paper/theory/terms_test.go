package theory

import (
	"math"
	"slices"
	"testing"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/internal/crown"
	"github.com/wdgnn/wdgnn/internal/vector"
)

// A bound that is many times above what is measured holds with a term missing. The
// tests of this file ask for its terms.

// The direct certificate is, term by term, that of doc/theory.md.
//
// Reference: doc/theory.md "The direct certificate".
func TestTermsOfCertificate(t *testing.T) {
	c := Certificate{Wide: 3, Behind: 2, Layers: []LayerNorm{
		{Change: 5, Norm: 7},                        // reads X, ‖X‖ = 1
		{Change: 11, Norm: 0.5, After: 13, Size: 4}, // Rest is 0: 11·7 beats 11·(4 + 7)
		{Change: 17, After: 19, Rest: 1000, Size: 0.25},
	}}
	e1 := 5.0
	e2 := 11*7 + 13*e1
	e3 := 17*(0.25+7*0.5) + 19*e2 // 1000 + 17·3.5 is more
	if got, want := c.Bound(1), 3+2*e3; !near(got, want, 1e-12) {
		t.Errorf("any signal: got %v, want %v", got, want)
	}
	in := Inputs{Size: []float64{1, 6, 90}, Away: []float64{1, 2, 3}}
	e2 = 11*2 + 13*e1
	e3 = 1000 + 17*3 + 19*e2 // 17·90 is more than 1051
	if got, want := c.ForSignal(10, in), 3*10+2*e3; !near(got, want, 1e-12) {
		t.Errorf("one signal: got %v, want %v", got, want)
	}
	in.Size[1] = 1.5 // now 11·1.5 beats 11·2
	e2 = 11*1.5 + 13*e1
	if got, want := c.ForSignal(10, in), 3*10+2*(1000+17*3+19*e2); !near(got, want, 1e-12) {
		t.Errorf("one signal, smaller than it is far from rest: got %v, want %v", got, want)
	}
}

// What the certificate is made of: norms of the filters of each layer, where they
// are asked for, and the answer to X = 0.
func TestPartsOfCertificate(t *testing.T) {
	rng := newRand(150)
	n := 6
	a := randomGraph(rng, n, false)
	p := mustPair(t, a, perturb(rng, a, n, false), n)
	net := &crown.Network{
		In: 1, Features: 2, Outputs: 2, GainDeep: -3, Readout: []float64{2, 0, 0, 1}, Offset: make([]float64, 2),
		Deep: []crown.Layer{
			{Filter: randomFilter(rng, "deep 1", 1, 3, 2, true), Activation: gnn.ReLU},
			{Filter: randomFilter(rng, "deep 2", 3, 2, 2, true), Activation: gnn.Tanh},
		},
	}
	c := NewStability(net, p).Direct
	rest := net.Layers(p.Shift, make([]float64, n))
	second := &net.Deep[1].Filter
	moved := vector.Norm(difference(second.Apply(p.Perturbed, rest[1], false), second.Apply(p.Shift, rest[1], false)))
	first, last := c.Layers[0], c.Layers[1]
	if first.Rest != 0 || first.After != 0 || first.Size != 0 ||
		!near(first.Norm, filterNorm(&net.Deep[0].Filter, p.Shift, p.shiftT, p.Values), 1e-12) {
		t.Errorf("layer 1: got %+v, want no rest and ‖H(S)‖", first)
	}
	if !near(last.Rest, moved, 1e-12) || !near(last.Size, vector.Norm(rest[1]), 1e-12) || last.Norm != 0 ||
		!near(last.After, filterNorm(second, p.Perturbed, p.perturbedT, p.PerturbedValues), 1e-12) {
		t.Errorf("layer 2: got %+v, want rest %v of %v and ‖H(Ŝ)‖", last, moved, vector.Norm(rest[1]))
	}
	if c.Wide != 0 || !near(c.Behind, 6, 1e-12) {
		t.Errorf("behind the layers: got %v, want |α_D| ‖R‖ = 6", c.Behind)
	}
}

// Theorem 1 for a network as it is, written out for two layers with biases.
//
// Reference: Theorem 1, eq. (13); Stability.Extended.
func TestTermsOfExtended(t *testing.T) {
	rng := newRand(151)
	n := 7
	p := loopedPair(t, rng, n, 1.5)
	wide := randomFilter(rng, "wide", 2, 2, 2, true)
	net := &crown.Network{
		In: 2, Features: 2, Outputs: 3, Wide: &wide, GainWide: -0.7, GainDeep: 1.3, Readout: randomSignal(rng, 6), Offset: make([]float64, 3),
		Deep: []crown.Layer{
			{Filter: randomFilter(rng, "deep 1", 2, 4, 2, true), Activation: gnn.ReLU},
			{Filter: randomFilter(rng, "deep 2", 4, 2, 2, true), Activation: gnn.ReLU},
		},
	}
	s := NewStability(net, p)
	const signal = 2.5
	root := math.Sqrt(float64(n))
	bias := 0.0
	for _, v := range net.Deep[0].Bias {
		bias += math.Abs(v)
	}
	w, one, two := s.Filters[0], s.Filters[1], s.Filters[2]
	for name, c := range map[string]struct{ got, delta float64 }{
		"δ = 8": {s.Extended(signal), 8}, "δ measured": {s.Sharper(signal), min(p.Relative.Misalignment, 8)},
	} {
		kappa := 2 * (1 + c.delta*root) * p.Relative.Size
		s0 := math.Sqrt2 * signal
		d1, s1 := 4*kappa*one.Pair*s0, 4*one.Gain*s0+root*bias
		want := spectralNorm(net.Readout, 2, 3) * math.Sqrt2 * (0.7*kappa*w.Pair*s0 + 1.3*(kappa*two.Pair*s1+two.Gain*d1))
		if !near(c.got, want, 1e-12) {
			t.Errorf("%s: got %v, want %v", name, c.got, want)
		}
	}
	if s.Sharper(signal) >= s.Extended(signal) {
		t.Errorf("with δ measured the bound is %v, want it below %v", s.Sharper(signal), s.Extended(signal))
	}
}

// The interval of frequencies holds both spectra, whichever reaches farther at
// either end, and no more.
func TestIntervalHoldsBothSpectra(t *testing.T) {
	diagonal := func(low, high float64) []float64 { return []float64{low, 0, 0, high} }
	for _, c := range [][4]float64{{-1, 2, -3, 1}, {-3, 1, -1, 2}, {-1, 1, -2, 2}, {-2, 2, -1, 1}} {
		p := mustPair(t, diagonal(c[0], c[1]), diagonal(c[2], c[3]), 2)
		if want := (Interval{min(c[0], c[2]), max(c[1], c[3])}); p.Over != want {
			t.Errorf("spectra of %v: got %v, want %v", c, p.Over, want)
		}
	}
}

// A change that lies where λ_i + λ_j = 0 by a millionth of it or less is rounding;
// by more, no E makes it.
//
// Reference: Section 4, eq. (10).
func TestUnreachableShare(t *testing.T) {
	s := []float64{0, 1, 1, 0} // λ = ±1: diag(δ, -δ) is out of reach, t S is not
	for _, c := range []struct {
		delta  float64
		exists bool
	}{{0, true}, {0.5e-7, true}, {2e-7, false}, {0.1, false}} {
		const way = 0.1
		r := mustPair(t, s, []float64{c.delta, 1 + way, 1 + way, -c.delta}, 2).Relative
		want := c.delta / math.Hypot(c.delta, way)
		if r.Exists != c.exists || math.Abs(r.Unreachable-want) > 1e-9 || math.IsInf(r.Size, 1) == c.exists ||
			c.exists && !near(r.Size, way/2, 1e-6) {
			t.Errorf("δ = %v: got %+v, want a share of %v, and E: %v", c.delta, r, want, c.exists)
		}
	}
	if r := mustPair(t, s, s, 2).Relative; !r.Exists || r.Size != 0 || r.Unreachable != 0 {
		t.Errorf("no change: got %+v, want E = 0", r)
	}
}

// J falls for ever in a direction in which no right score loses and one gains, by
// more than rounding; the direction's length does not matter.
//
// Reference: Assumption 1.
func TestFalls(t *testing.T) {
	// Two rows that read one number each, 10 and 1, with the right answers 0 and 1.
	p := &Problem{Kind: CrossEntropy, Inputs: 2, Outputs: 2, Rows: []Row{
		{Input: []float64{10, 0}, Base: make([]float64, 2), Label: 0, Share: 0.5},
		{Input: []float64{0, 1}, Base: make([]float64, 2), Label: 1, Share: 0.5},
	}}
	direction := func(first, second float64) []float64 { // what the rows gain
		return []float64{first / 20, -first / 20, -second / 2, second / 2}
	}
	for _, c := range []struct {
		first, second float64
		want          bool
	}{
		{1, 1, true},
		{1, 0, true},
		{0, 1, true},
		{0, 0, false},
		{-1, -1, false},
		{1, -1, false},
		{1, -1e-6, false},
		{1, -1e-10, true}, // rounding
		{-1e-6, 1, false},
	} {
		for _, length := range []float64{1e-12, 1, 1e5} {
			d := direction(c.first, c.second)
			vector.Scale(d, length)
			if got := p.falls(d); got != c.want {
				t.Errorf("rows gain %v and %v, times %v: got %v, want %v", c.first, c.second, length, got, c.want)
			}
		}
	}
	// Nor does it matter how large the inputs are.
	small := *p
	small.Rows = slices.Clone(p.Rows)
	for i := range small.Rows {
		small.Rows[i].Input = slices.Clone(small.Rows[i].Input)
		vector.Scale(small.Rows[i].Input, 1e-10)
	}
	if !small.falls(direction(1, 1)) {
		t.Error("inputs of 1e-9: got false, want true")
	}
	// A direction that is long and gains next to nothing proves nothing.
	d := direction(1e-9, 0)
	for k := range 2 { // both scores of row 2 alike
		d[2+k] += 1
	}
	for _, length := range []float64{1, 1e6} {
		vector.Scale(d, length)
		if p.falls(d) {
			t.Errorf("a gain of 1e-9 of the direction's length, times %v: got true, want false", length)
		}
	}
}

// C_d is the longest absence of a link, the ends of the record included.
//
// Reference: Assumption 4.
func TestGapOfLinks(t *testing.T) {
	one := func(on bool) *Mixer {
		v := 0.0
		if on {
			v = 0.5
		}
		m, err := MixerOf(2, []float64{1 - v, v, v, 1 - v})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	for _, c := range []struct {
		seen []int // of 6 steps
		want int
	}{
		{[]int{0, 1, 2, 3, 4, 5}, 1},
		{[]int{0}, 6},
		{[]int{5}, 6},
		{[]int{0, 1}, 5},
		{[]int{4, 5}, 5},
		{[]int{0, 4, 5}, 4},
		{[]int{1, 3, 5}, 2},
		{[]int{2, 3}, 3},
	} {
		var mix []*Mixer
		for step := range 6 {
			mix = append(mix, one(slices.Contains(c.seen, step)))
		}
		s, err := CheckSequence(mix, 1)
		if err != nil || s.Gap != c.want || !s.Connected {
			t.Errorf("seen at %v of 6 steps: got C_d = %d, connected %v, %v; want %d", c.seen, s.Gap, s.Connected, err, c.want)
		}
	}
}

// Both bounds of a run that follows a moving optimum, term by term.
//
// Reference: Theorem 2, eq. (15); doc/theory.md "What is left of the gradient" and "Rounding".
func TestTermsOfTracking(t *testing.T) {
	track := Tracking{Measured: []float64{2, 9, 9}, Drift: 7, Steps: []TrackStep{
		{Contraction: 0.5, Drift: 3, Left: 5, Rest: 7, Round: 11},
		{Contraction: 0.25, Drift: 7, Left: 1, Rest: 2, Round: 3},
		{},
	}}
	track.bounds()
	first := 0.5*2 + 3 + 5 + 7 + 11
	if want := []float64{2, first, 0.25*first + 7 + 1 + 2 + 3}; !slices.Equal(track.PerStep, want) {
		t.Errorf("step by step: got %v, want %v", track.PerStep, want)
	}
	most := 5 + 7 + 11.0 // of what is left at any step
	if want := []float64{2, 0.5*2 + 7 + most, 0.5*0.25*2 + 1.5*(7+most)}; !slices.Equal(track.Paper, want) {
		t.Errorf("as eq. (15): got %v, want %v", track.Paper, want)
	}
	if track.Slowest != 0.5 {
		t.Errorf("m̂: got %v, want 0.5", track.Slowest)
	}
}
