package theory

import (
	"context"
	"math"
	"testing"

	"github.com/wdgnn/wdgnn/internal/vector"
)

// drifting returns T quadratics whose optimum moves by a step of the given
// length in a random direction, and which are strongly convex.
func drifting(seed uint64, steps int, drift float64) ([]*Problem, []float64) {
	rng := newRand(seed)
	base := randomProblem(rng, Quadratic, 4, 2, 12)
	truth := randomSignal(rng, base.Len())
	start := randomSignal(rng, base.Len())
	y, scratch := make([]float64, 2), make([]float64, 2)
	var costs []*Problem
	for range steps {
		p := *base
		p.Rows = append([]Row(nil), base.Rows...)
		for i := range p.Rows {
			p.output(y, &p.Rows[i], truth, scratch)
			p.Rows[i].Target = append([]float64(nil), y...)
		}
		costs = append(costs, &p)
		step := randomSignal(rng, base.Len())
		vector.Axpy(truth, drift/vector.Norm(step), step)
	}
	return costs, start
}

// On a quadratic whose optimum drifts by a known amount the error stays below
// the bound at every step, C_B is the drift, and the bound is not vacuous.
//
// Reference: Theorem 2.
func TestTrackingOfKnownDrift(t *testing.T) {
	costs, start := drifting(40, 200, 0.05)
	c, err := costs[0].Curvature()
	if err != nil {
		t.Fatal(err)
	}
	gamma := 2 / (c.Smooth + c.Convex)
	track, err := Track(context.Background(), costs, nil, Descend(costs, start, gamma), gamma)
	if err != nil {
		t.Fatal(err)
	}
	if !near(track.Drift, 0.05, 1e-6) {
		t.Errorf("C_B: got %v, want 0.05", track.Drift)
	}
	last := len(costs) - 1
	if limit := c.Limit(gamma, 0.05); !near(track.Paper[last], limit, 1e-3) {
		t.Errorf("after %d steps the bound is %v, want its limit %v", last, track.Paper[last], limit)
	}
	if ratio := track.PerStep[last] / track.Measured[last]; ratio < 1 || ratio > 100 {
		t.Errorf("bound over measured: got %v, want between 1 and 100", ratio)
	}
}

// tracked follows the optima of costs with the step 1/C_s of the first.
func tracked(t *testing.T, costs []*Problem, start []float64) (c Curvature, gamma float64, track *Tracking) {
	t.Helper()
	c, err := costs[0].Curvature()
	if err != nil {
		t.Fatal(err)
	}
	gamma = 1 / c.Smooth
	track, err = Track(context.Background(), costs, nil, Descend(costs, start, gamma), gamma)
	if err != nil {
		t.Fatal(err)
	}
	return c, gamma, track
}

// With C_B = 0 the error falls at the linear rate m, as gradient descent does.
//
// Reference: Theorem 2.
func TestStaticOptimumIsReachedLinearly(t *testing.T) {
	costs, start := drifting(41, 300, 0)
	c, gamma, track := tracked(t, costs, start)
	m := c.Contraction(gamma)
	for i, e := range track.Measured {
		want := math.Pow(m, float64(i)) * track.Measured[0]
		if e > want*(1+1e-6)+1e-9 || math.Abs(track.PerStep[i]-want) > 1e-6*want+1e-9 {
			t.Fatalf("step %d: got %v, bound %v, want %v at most", i, e, track.PerStep[i], want)
		}
	}
	// Late in the run the slowest direction alone is left, and its rate is m.
	if rate := track.Measured[299] / track.Measured[298]; !near(rate, m, 1e-3) {
		t.Errorf("rate: got %v, want %v", rate, m)
	}
}

// Random costs that change as they like, both kinds, with and without ridge: the
// error is never above either bound, and the recursion never above the paper's.
//
// Reference: Theorem 2.
func TestTrackingBoundHolds(t *testing.T) {
	rng := newRand(42)
	held := 0
	for held < instances() {
		kind := Kind(held % 2)
		inputs, outputs, steps := 1+rng.IntN(2), 2+rng.IntN(2), 2+rng.IntN(5)
		var costs []*Problem
		worst := 0.0
		ridge := 0.05 + rng.Float64()
		for range steps {
			p := randomProblem(rng, kind, inputs, outputs, 1+rng.IntN(5))
			if kind == CrossEntropy || rng.IntN(2) == 0 {
				p.Ridge = ridge
			}
			c, err := p.Curvature()
			if err != nil {
				t.Fatal(err)
			}
			worst = max(worst, c.Smooth)
			costs = append(costs, p)
		}
		gamma := (0.05 + 1.9*rng.Float64()) / worst
		track, err := Track(context.Background(), costs, nil, Descend(costs, randomSignal(rng, inputs*outputs), gamma), gamma)
		if err != nil {
			t.Fatal(err)
		}
		for i, e := range track.Measured {
			if above(e, track.PerStep[i]) || track.PerStep[i] > track.Paper[i]*(1+1e-9) {
				t.Fatalf("instance %d, step %d: error %v, recursion %v, paper %v", held, i, e, track.PerStep[i], track.Paper[i])
			}
		}
		held++
	}
}

// Where a sample has no optimum, tracking ends and says so.
//
// Reference: Assumption 1.
func TestTrackingEndsWithoutOptimum(t *testing.T) {
	rng := newRand(43)
	p := randomProblem(rng, CrossEntropy, 5, 3, 2)
	track, err := Track(context.Background(), []*Problem{p, p}, nil, Descend([]*Problem{p, p}, make([]float64, p.Len()), 0.1), 0.1)
	if err != nil || track.Missing != 0 || len(track.Measured) != 0 {
		t.Errorf("got %+v, %v; want that the first optimum is missing", track, err)
	}
}

// The limiting error grows without bound as γ → 0, because nothing is tracked,
// and as γ → 2/C_s, because steps overshoot; in between there is a best γ.
//
// Reference: Theorem 2.
func TestLimitAgainstStepSize(t *testing.T) {
	c := Curvature{Smooth: 2, Convex: 0.5}
	best := c.Limit(2/(c.Smooth+c.Convex), 0.1)
	for _, gamma := range []float64{1e-6, 0.1, 0.5, 0.95, 0.999999} {
		if got := c.Limit(gamma, 0.1); got < best {
			t.Errorf("γ = %v: got a limit of %v, below %v", gamma, got, best)
		}
	}
	if got := c.Limit(1.0, 0.1); !math.IsInf(got, 1) {
		t.Errorf("γ = 2/C_s: got %v, want no limit", got)
	}
	if c.SafeStep() != 1 {
		t.Errorf("safe step: got %v, want 1", c.SafeStep())
	}
}
