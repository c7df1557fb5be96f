package theory

import (
	"testing"

	"github.com/wdgnn/wdgnn/internal/vector"
)

// collinear returns steps of a squared error on a ring whose signals are nearly
// constant, so that a signal and its shift are nearly the same column: one
// direction of the taps is flatter than what the optimum resolves, and its
// gradient is far from 0.
func collinear(nodes, steps int, ripple, residual float64) []*Problem {
	p := &Problem{Kind: Quadratic, Inputs: 2, Outputs: 1}
	rng := newRand(120)
	x := make([]float64, nodes)
	for i := range x {
		x[i] = 1 + ripple*(2*rng.Float64()-1)
	}
	for i := range x {
		shifted := (x[(i+1)%nodes] + x[(i+nodes-1)%nodes]) / 2
		target := residual
		if x[i] < shifted {
			target = -residual
		}
		p.Rows = append(p.Rows, Row{Input: []float64{x[i], shifted}, Base: []float64{0}, Target: []float64{target}, Share: 1 / float64(nodes)})
	}
	costs := make([]*Problem, steps)
	for t := range costs {
		costs[t] = p
	}
	return costs
}

// Columns that are nearly collinear leave a direction that the optimum does not
// resolve. Its gradient moves the taps all the same, and the bounds know it.
//
// Reference: Theorem 2, doc/theory.md "What is left of the gradient".
func TestTrackingWithCollinearShifts(t *testing.T) {
	costs := collinear(20, 500, 2e-6, 100)
	start := make([]float64, 2)
	c, _, track := tracked(t, costs, start)
	last := len(costs) - 1
	t.Logf("rank %d of %d, slope %.3g: measured %.4g, recursion %.4g, paper %.4g",
		c.Rank, c.Dim, track.Optima[0].Slope, track.Measured[last], track.PerStep[last], track.Paper[last])
	for i, e := range track.Measured {
		if limit := track.PerStep[i]*(1+1e-9) + 1e-12; e > limit || e > track.Paper[i]*(1+1e-9)+1e-12 {
			t.Fatalf("step %d: error %v, recursion %v, paper %v", i, e, track.PerStep[i], track.Paper[i])
		}
	}
	if c.Rank == c.Dim || track.Measured[last] < 1e-3 {
		t.Errorf("rank %d of %d, measured %v: the test asks for nothing", c.Rank, c.Dim, track.Measured[last])
	}
	if top := ceiling(track); track.Measured[last] > top {
		t.Errorf("measured %v, never above %v", track.Measured[last], top)
	}
}

// So do the bounds of distributed learning.
//
// Reference: Theorem 3, doc/theory.md "What is left of the gradient".
func TestConsensusWithCollinearShifts(t *testing.T) {
	const n, steps = 20, 500
	whole := collinear(n, 1, 2e-6, 100)[0]
	mixer, err := MixerOf(n, metropolis(n, func(i, j int) bool { return i == j+1 || i == n-1 && j == 0 }))
	if err != nil {
		t.Fatal(err)
	}
	local, start := make([]*Problem, n), make([][]float64, n)
	for i := range local {
		p := *whole
		row := whole.Rows[i]
		row.Share = 1
		p.Rows = []Row{row}
		local[i], start[i] = &p, make([]float64, 2)
	}
	o, err := Mean(local).Optimum(start[0])
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewConsensusStep(local, o.W, mixer, 0)
	if err != nil {
		t.Fatal(err)
	}
	var all []ConsensusStep
	var costs [][]*Problem
	var mix []*Mixer
	for range steps {
		all, costs, mix = append(all, s), append(costs, local), append(mix, mixer)
	}
	gamma := 0.1 / s.Most
	path := DescendTogether(costs, mix, start, gamma)
	first, _ := MeasureConsensus(path[0], o.W)
	bound := ConsensusBound(n, gamma, all, first)
	for k, at := range path {
		if e, worst := MeasureConsensus(at, o.W); e.Mean > bound[k].Mean*(1+1e-9)+1e-12 || worst > bound[k].Worst(n)*(1+1e-9)+1e-12 {
			t.Fatalf("step %d: measured %+v, worst %v, bound %+v", k, e, worst, bound[k])
		}
	}
	if want := vector.Norm(Mean(local).Gradient(o.W)); !near(s.Left, want, 1e-6) || s.Left < 1e-5 {
		t.Errorf("what is left of the gradient: got %v, want %v", s.Left, want)
	}
	// Nodes that agree and whose mean has no curvature in sight: the term is all
	// there is, and the bound adds it up.
	plain := ConsensusBound(1, 0.5, []ConsensusStep{{Mixer: mixer, Left: 2, Drift: 0.25}}, ConsensusError{})
	if plain[1].Mean != 0.25+0.5*2 {
		t.Errorf("one step: got %v, want the drift and γ times what is left", plain[1].Mean)
	}
}
