package theory

import (
	"math"
	"testing"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/crown"
	"github.com/wdgnn/wdgnn/internal/vector"
	"github.com/wdgnn/wdgnn/mat"
)

// alike returns the costs of nodes that all want the same taps, and one step of
// learning from them.
func alike(t *testing.T, mixer *Mixer) ([]*Problem, []float64, ConsensusStep) {
	t.Helper()
	rng := newRand(130)
	p := randomProblem(rng, Quadratic, 1, 2, 3)
	p.Root = nil
	for i := range p.Rows {
		vector.Scale(p.Rows[i].Target, 30)
	}
	local := make([]*Problem, mixer.Nodes)
	for i := range local {
		local[i] = p
	}
	o, err := p.Optimum(make([]float64, p.Len()))
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewConsensusStep(local, o.W, mixer, 0)
	if err != nil {
		t.Fatal(err)
	}
	return local, o.W, s
}

// The sums of a mixing matrix in float32 are 1 to seven digits. Learned with in
// float64 such a matrix would lead past the optimum, by more than the bound once
// that has shrunk; with its diagonal computed in float64 the sums are 1.
//
// Reference: Theorem 3, Assumption 5.
func TestMixersSumToOne(t *testing.T) {
	random, err := graph.ErdosRenyi(12, 0.4, newRand(132))
	if err != nil {
		t.Fatal(err)
	}
	for name, g := range map[string]*graph.Graph{"random": random, "star": star(t, 11)} {
		w, err := graph.Metropolis(g)
		if err != nil {
			t.Fatal(err)
		}
		n := w.Rows
		m, err := NewMixer(w)
		if err != nil {
			t.Fatal(err)
		}
		rows, cols := sums(n, m.dense)
		if farthest(rows) > 1e-15 || farthest(cols) > 1e-15 || m.Skew > 1e-14 || !m.Symmetric {
			t.Errorf("%s: sums are off by %v and %v, want none", name, farthest(rows), farthest(cols))
		}
		given, _ := sums(n, crown.NewShift(w).Dense())
		if m.RowError != farthest(given) || m.RowError == 0 {
			t.Errorf("%s: the sums as given are off by %v, reported %v", name, farthest(given), m.RowError)
		}
		local, optimum, s := alike(t, m)
		start := make([][]float64, n)
		for i := range start {
			start[i] = make([]float64, len(optimum))
		}
		var all []ConsensusStep
		var costs [][]*Problem
		var mix []*Mixer
		for range 2000 {
			all, costs, mix = append(all, s), append(costs, local), append(mix, m)
		}
		gamma := s.SafeStep(n) / 2
		path := DescendTogether(costs, mix, start, gamma)
		first, _ := MeasureConsensus(start, optimum)
		bound := ConsensusBound(n, gamma, all, first)
		for k, at := range path {
			if _, worst := MeasureConsensus(at, optimum); worst > bound[k].Worst(n)+1e-13*vector.Norm(optimum) {
				t.Fatalf("%s, step %d: a node is %v away, bound %v", name, k, worst, bound[k].Worst(n))
			}
		}
		if end := bound[len(bound)-1].Worst(n); end > 1e-9 {
			t.Errorf("%s: the bound ends at %v: the test asks for nothing", name, end)
		}
	}
}

func star(t *testing.T, n int) *graph.Graph {
	t.Helper()
	var edges []graph.Edge
	for i := 1; i < n; i++ {
		edges = append(edges, graph.Edge{From: 0, To: i, Weight: 1})
	}
	g, err := graph.FromEdges(n, edges, false)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// Where rows sum to 1 and columns do not, mixing moves the mean of the nodes, by
// what columns are off times the disagreement at most, and the bound knows it.
//
// Reference: Theorem 3, doc/theory.md "Distributed learning with σ₂".
func TestConsensusBoundHoldsForRowStochastic(t *testing.T) {
	rng := newRand(131)
	for k := range 300 {
		n := 2 + rng.IntN(8)
		w := &mat.CSR{Rows: n, Cols: n, RowPtr: []int{0}}
		for i := range n {
			row, sum := make([]float64, n), 0.0
			for j := range row {
				if row[j] = rng.Float64(); j == i || rng.IntN(2) == 0 {
					sum += row[j]
				} else {
					row[j] = 0
				}
			}
			for j, v := range row {
				if v > 0 {
					w.Col, w.Val = append(w.Col, int32(j)), append(w.Val, float32(v/sum))
				}
			}
			w.RowPtr = append(w.RowPtr, len(w.Col))
		}
		m, err := NewMixer(w)
		if err != nil {
			t.Fatal(err)
		}
		pl := newPlay(t, rng, []*Mixer{m, m, m, m, m, m}, 2)
		bound := ConsensusBound(n, pl.gamma, pl.steps, pl.errors[0])
		for s, e := range pl.errors {
			if b := bound[s]; e.Mean > b.Mean*(1+1e-9)+1e-12 || e.Spread > b.Spread*(1+1e-9)+1e-12 {
				t.Fatalf("instance %d, %d nodes, step %d: measured %+v, bound %+v", k, n, s, e, b)
			}
		}
	}
	// Two nodes of which both take over the first: the mean goes to it.
	m, err := MixerOf(2, []float64{1, 0, 1, 0})
	if err != nil {
		t.Fatal(err)
	}
	flat := &Problem{Kind: Quadratic, Inputs: 1, Outputs: 1}
	path := DescendTogether([][]*Problem{{flat, flat}}, []*Mixer{m}, [][]float64{{1}, {-1}}, 1)
	e, _ := MeasureConsensus(path[1], []float64{0})
	first, _ := MeasureConsensus(path[0], []float64{0})
	if b := ConsensusBound(2, 1, []ConsensusStep{{Mixer: m}}, first)[1]; !near(e.Mean, 1, 1e-12) || !near(b.Mean, 1, 1e-12) {
		t.Errorf("got the mean at %v and a bound of %v, want 1 of both", e.Mean, b.Mean)
	}
}

// Nodes that round to float32 at every step do not arrive at the optimum, and the
// bound, with what they are beside the steps of eq. (9), ends no lower than they
// do.
//
// Reference: Theorem 3, doc/theory.md "Rounding".
func TestConsensusBoundKnowsRounding(t *testing.T) {
	w, err := graph.Metropolis(star(t, 11))
	if err != nil {
		t.Fatal(err)
	}
	m, err := NewMixer(w)
	if err != nil {
		t.Fatal(err)
	}
	local, optimum, s := alike(t, m)
	gamma := s.SafeStep(m.Nodes) / 2
	now := make([][]float64, m.Nodes)
	for i := range now {
		now[i] = make([]float64, len(optimum))
	}
	first, _ := MeasureConsensus(now, optimum)
	var steps, exact []ConsensusStep
	end := 0.0
	for range 3000 {
		next := together(local, m, now, gamma)
		for i := range next {
			for k, v := range next[i] {
				next[i][k] = float64(float32(v))
			}
		}
		exact = append(exact, s)
		s := s
		s.Rest, _ = ConsensusRest(local, m, now, next, gamma)
		steps = append(steps, s)
		now = next
		_, end = MeasureConsensus(now, optimum)
	}
	bound, without := ConsensusBound(m.Nodes, gamma, steps, first), ConsensusBound(m.Nodes, gamma, exact, first)
	if last := len(steps); end > bound[last].Worst(m.Nodes) || end <= without[last].Worst(m.Nodes) || bound[last].Worst(m.Nodes) > 1e-3 {
		t.Errorf("a node ends %v away, bound %v, and %v without what rounding adds; want it between",
			end, bound[last].Worst(m.Nodes), without[last].Worst(m.Nodes))
	}
}

// Each term of the bound is there, with its factor: with numbers that make the
// others small, it is what one step adds.
//
// Reference: doc/theory.md (a) to (d).
func TestTermsOfConsensusBound(t *testing.T) {
	m, err := MixerOf(2, []float64{0.75, 0.25, 0.25, 0.75}) // σ₂ = ½, λ₂ = λ_N = ½
	if err != nil {
		t.Fatal(err)
	}
	none := math.Inf(1)
	for _, c := range []struct {
		name  string
		step  ConsensusStep
		start ConsensusError
		want  ConsensusError
	}{
		{"e contracts", ConsensusStep{Global: Curvature{Smooth: 5, Convex: 1}, Slope: none}, ConsensusError{Mean: 1}, ConsensusError{Mean: 0.9}},
		{
			"e overshoots",
			ConsensusStep{Global: Curvature{Smooth: 19, Convex: 19}, Slope: none},
			ConsensusError{Mean: 1},
			ConsensusError{Mean: 0.9},
		},
		{
			"e drifts, and keeps what is left",
			ConsensusStep{Drift: 2, Left: 30, Slope: none, Rest: ConsensusError{Mean: 4}},
			ConsensusError{},
			ConsensusError{Mean: 2 + 3 + 4},
		},
		{
			"e is led astray by b",
			ConsensusStep{Root: 20, Slope: none},
			ConsensusError{Spread: 1},
			ConsensusError{Mean: 0.1 / 2 * 20, Spread: 0.5},
		},
		{
			"b mixes, and rounds",
			ConsensusStep{Slope: none, Rest: ConsensusError{Spread: 3}},
			ConsensusError{Spread: 1},
			ConsensusError{Spread: 0.5 + 3},
		},
		{"b is driven apart", ConsensusStep{Apart: 7, Slope: none}, ConsensusError{}, ConsensusError{Spread: 0.7}},
		{
			"b is driven apart, gradients bounded",
			ConsensusStep{Apart: 7, Slope: 5, Rest: ConsensusError{Spread: 3}},
			ConsensusError{},
			ConsensusError{Spread: 0.5 + 3},
		},
		{"b by e", ConsensusStep{Root: 20, Slope: none}, ConsensusError{Mean: 1}, ConsensusError{Mean: 1, Spread: 2}},
		{"b overshoots", ConsensusStep{Most: 15, Slope: none}, ConsensusError{Spread: 1}, ConsensusError{Spread: 1}}, // max(½, 1.5 - ½)
	} {
		c.step.Mixer = m
		got := ConsensusBound(2, 0.1, []ConsensusStep{c.step}, c.start)[1]
		if !near(got.Mean, c.want.Mean, 1e-12) || !near(got.Spread, c.want.Spread, 1e-12) {
			t.Errorf("%s: got %+v, want %+v", c.name, got, c.want)
		}
	}
	// (d): two steps whose own contraction is useless, and whose product is not.
	still, err := MixerOf(2, []float64{1, 0, 0, 1})
	if err != nil {
		t.Fatal(err)
	}
	steps := []ConsensusStep{
		{Mixer: still, Slope: 10, Rest: ConsensusError{Spread: 2}},
		{Mixer: still, Slope: 10, Rest: ConsensusError{Spread: 3}, Apart: 1e9, Window: []float64{0.5, 0.25}},
	}
	steps[0].Apart = 1e9
	if got, want := ConsensusBound(2, 0.1, steps, ConsensusError{Spread: 8})[2].Spread, 0.25*8+(1+3)+0.5*(1+2); !near(got, want, 1e-12) {
		t.Errorf("a window: got %v, want %v", got, want)
	}
}
