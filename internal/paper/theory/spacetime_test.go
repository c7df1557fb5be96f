package theory

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/crown"
	"github.com/wdgnn/wdgnn/internal/vector"
	"github.com/wdgnn/wdgnn/mat"
)

// randomSequence draws the shifts of a few steps of a network whose links come
// and go, and another sequence: links lost, the same one step late, or other
// weights.
func randomSequence(rng *rand.Rand, n, steps int) (shifts, perturbed []*mat.CSR) {
	kind := rng.IntN(3)
	for t := range steps {
		a := randomGraph(rng, n, rng.IntN(4) == 0)
		b := perturb(rng, a, n, true)
		shifts, perturbed = append(shifts, csrOf(n, a)), append(perturbed, csrOf(n, b))
		if kind == 0 {
			perturbed[t] = shifts[max(t-1, 0)]
		}
	}
	return shifts, perturbed
}

// csrOf returns a matrix of n×n elements by rows as it is stored in a model.
func csrOf(n int, dense []float64) *mat.CSR {
	s := &mat.CSR{Rows: n, Cols: n, RowPtr: []int{0}}
	for i := range n {
		for j, v := range dense[i*n : (i+1)*n] {
			if v != 0 {
				s.Col, s.Val = append(s.Col, int32(j)), append(s.Val, float32(v))
			}
		}
		s.RowPtr = append(s.RowPtr, len(s.Col))
	}
	return s
}

// A model with delayed filters on a sequence of graphs is the same network on the
// sequence's space-time shift.
//
// Reference: Section 6.2, eq. (24).
func TestNetworkOnSpaceTimeIsDelayed(t *testing.T) {
	rng := newRand(95)
	const n, steps = 7, 9
	m, err := gnn.NewRandom(gnn.Config{
		In: 2, Features: 3, Outputs: 2, Wide: &gnn.WideConfig{Order: 3},
		Deep: []gnn.LayerConfig{{Order: 2, Features: 4, Activation: gnn.Tanh}, {Order: 1, Features: 3, Activation: gnn.ReLU}},
	}, rng)
	if err != nil {
		t.Fatal(err)
	}
	shifts, _ := randomSequence(rng, n, steps)
	x := mat.NewDense(steps*n, 2, nil)
	for i := range x.Data {
		x.Data[i] = float32(rng.NormFloat64())
	}
	got := crown.NewNetwork(m).Forward(crown.NewShift(graph.SpaceTime(shifts)), crown.Signal(x))
	delayed := gnn.Delayed{Model: m}
	y := mat.NewDense(n, 2, nil)
	for step, s := range shifts {
		delayed.Predict(y, s, x.View(step*n, 0, n, 2))
		delayed.Advance()
		for i, v := range y.Data {
			if d := math.Abs(got[step*n*2+i] - float64(v)); d > 1e-5 {
				t.Fatalf("step %d, output %d: got %v, want %v", step, i, got[step*n*2+i], v)
			}
		}
	}
}

// Whatever happens to a sequence of graphs, the outputs of delayed filters over
// all its steps change by no more than the direct certificate of its space-time
// shift says, and Theorem 1 claims nothing.
//
// Reference: Theorem 1, eq. (24), doc/theory.md "Delayed filters".
func TestDirectCertificateHoldsForSequences(t *testing.T) {
	t.Parallel()
	rng := newRand(96)
	var ratios []float64
	for k := range instances() {
		n, steps := 2+rng.IntN(4), 2+rng.IntN(4)
		if rng.IntN(200) == 0 {
			n, steps = 20+rng.IntN(20), 6
		}
		a, b := randomSequence(rng, n, steps)
		p, err := NewPair(crown.NewShift(graph.SpaceTime(a)), crown.NewShift(graph.SpaceTime(b)))
		if err != nil {
			t.Fatal(err)
		}
		net := randomNetwork(rng)
		s := newStability(net, p, sometimes(k), nil)
		m := s.Measure(p, randomSignal(rng, steps*n*net.In))
		if limit := m.Known*(1+1e-9) + 1e-12*(1+m.Output); m.Change > limit || m.Known > m.Any*(1+1e-9) {
			t.Fatalf("instance %d, %d steps of %d nodes: the output changed by %v, the certificate says %v, and %v for all signals",
				k, steps, n, m.Change, m.Known, m.Any)
		}
		if moved := vector.Norm(difference(p.Perturbed.Dense(), p.Shift.Dense())) > 0; moved && (s.Checks[0].Holds || !math.IsNaN(s.Paper(1))) {
			t.Fatalf("instance %d: Theorem 1 claims %v for a sequence", k, s.Paper(1))
		}
		if m.Change > 0 {
			ratios = append(ratios, m.Known/m.Change)
		}
	}
	staysUseful(t, ratios, 5.1)
}

// A space-time shift is nilpotent: all its eigenvalues are 0, where λ a'(λ) is 0
// for every filter. Read for 𝒟, Theorem 1 would promise that outputs do not
// change. They do: its proof needs eigenvectors, and 𝒟 has too few.
//
// Reference: Theorem 1, eq. (24).
func TestTheorem1IsNotAboutSequences(t *testing.T) {
	link, none := csrOf(2, []float64{0, 1, 1, 0}), csrOf(2, make([]float64, 4))
	p, err := NewPair(crown.NewShift(graph.SpaceTime([]*mat.CSR{link, link})), crown.NewShift(graph.SpaceTime([]*mat.CSR{link, none})))
	if err != nil {
		t.Fatal(err)
	}
	f := crown.Filter{Name: "wide", In: 1, Out: 1, Taps: [][]float64{{0}, {1}}}
	if c, _ := Responses(&f)[0].IntegralLipschitz(Interval{0, 0}); c != 0 {
		t.Errorf("C_L over the spectrum {0}: got %v, want 0", c)
	}
	s := NewStability(&crown.Network{In: 1, Features: 1, Outputs: 1, Wide: &f, GainWide: 1}, p)
	m := s.Measure(p, []float64{1, 0, 0, 0})
	if m.Change != 1 || m.Known < 1 || !math.IsNaN(s.Paper(1)) {
		t.Errorf("got a change of %v, certificate %v, Theorem 1 %v; want 1, 1 or more, nothing", m.Change, m.Known, s.Paper(1))
	}
}
