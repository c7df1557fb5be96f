package theory

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/wdgnn/wdgnn/internal/vector"
	"github.com/wdgnn/wdgnn/rule"
)

// schedule draws step sizes that decay, or a share of 2/C_s of each cost.
func schedule(t *testing.T, rng *rand.Rand, costs []*Problem, smooth float64) []float64 {
	if rng.IntN(2) == 1 {
		s := rule.StepSize{Schedule: rule.Decaying, Value: (0.05 + 1.9*rng.Float64()) / smooth, Steps: 0.5 + 5*rng.Float64()}
		return StepSizes(s, len(costs))
	}
	share := 0.05 + 0.9*rng.Float64()
	sizes := make([]float64, len(costs))
	for i, p := range costs {
		sizes[i] = 2 * share / smoothBound(t, p)
	}
	return sizes
}

func smoothBound(t *testing.T, p *Problem) float64 {
	t.Helper()
	bound, err := p.SmoothBound()
	if err != nil {
		t.Fatal(err)
	}
	return bound
}

// With step sizes that decay, that follow the curvature or that jump about, the
// error is never above the recursion with the m_t of every step, nor above its
// ceiling.
//
// Reference: Theorem 2, doc/theory.md "Step sizes that change".
func TestTrackingBoundHoldsForSchedules(t *testing.T) {
	rng := newRand(90)
	var ratios []float64
	for k := range instances() {
		kind := Kind(k % 2)
		inputs, outputs := 1+rng.IntN(2), 2+rng.IntN(2)
		ridge, smooth := 0.05+rng.Float64(), 0.0
		var costs []*Problem
		for range 2 + rng.IntN(6) {
			p := randomProblem(rng, kind, inputs, outputs, 1+rng.IntN(5))
			p.Ridge = ridge
			c, err := p.Curvature()
			if err != nil {
				t.Fatal(err)
			}
			smooth = max(smooth, c.Smooth)
			costs = append(costs, p)
		}
		sizes := schedule(t, rng, costs, smooth)
		if k%3 == 0 {
			for i := range sizes {
				sizes[i] = 1.9 * rng.Float64() / smooth
			}
		}
		scaled := make([]*Problem, len(costs))
		for i, p := range costs {
			scaled[i] = p.Scaled(sizes[i])
		}
		start := randomSignal(rng, inputs*outputs)
		optima, err := Follow(costs, start)
		if err != nil {
			t.Fatal(err)
		}
		path := [][]float64{start} // by hand: eq. (7) with γ_t
		for i, p := range costs {
			next := append([]float64(nil), path[i]...)
			vector.Axpy(next, -sizes[i], p.Gradient(path[i]))
			path = append(path, next)
		}
		track, err := Track(context.Background(), scaled, optima, path, 1)
		if err != nil {
			t.Fatal(err)
		}
		ceiling := ceiling(track)
		for i, e := range track.Measured {
			if above(e, track.PerStep[i]) || above(e, ceiling) || track.PerStep[i] > ceiling*(1+1e-9) {
				t.Fatalf("instance %d, step %d: error %v, bound %v, ceiling %v", k, i, e, track.PerStep[i], ceiling)
			}
			c, err := costs[i].Curvature()
			if err != nil {
				t.Fatal(err)
			}
			if m := track.Steps[i].Contraction; !near(m, c.Contraction(sizes[i]), 1e-9) {
				t.Fatalf("instance %d, step %d: m = %v, want that of γ_t = %v, %v", k, i, m, sizes[i], c.Contraction(sizes[i]))
			}
		}
		if last := len(costs) - 1; track.Measured[last] > 0 {
			ratios = append(ratios, track.PerStep[last]/track.Measured[last])
		}
	}
	staysUseful(t, ratios, 2.9)
}

// SmoothBound is never below C_s, with one row no more than that, and without
// rows 0.
func TestSmoothBound(t *testing.T) {
	rng := newRand(93)
	for k := range instances() {
		p := randomProblem(rng, Kind(k%2), 1+rng.IntN(3), 2+rng.IntN(2), 1+rng.IntN(5))
		p.Ridge = rng.Float64()
		c, err := p.Curvature()
		if err != nil {
			t.Fatal(err)
		}
		if bound := smoothBound(t, p); bound < c.Smooth*(1-1e-12) || len(p.Rows) == 1 && !near(bound, c.Smooth, 1e-9) {
			t.Fatalf("instance %d, %d rows: C_s = %v is bounded by %v", k, len(p.Rows), c.Smooth, bound)
		}
		p.Rows = nil
		if bound := smoothBound(t, p); bound != 0 {
			t.Fatalf("instance %d: without rows the bound is %v, want 0", k, bound)
		}
	}
}

// A step size that decays as γ/√(1+t/τ) reaches an optimum that stands still, but
// not at a linear rate: at exp(-C_c Σγ) or faster. One that drifts it loses: the
// limit of the bound grows as √t.
//
// Reference: Theorem 2, doc/theory.md "Step sizes that change".
func TestDecayingSteps(t *testing.T) {
	for _, drift := range []float64{0, 0.02} {
		costs, start := drifting(91, 600, drift)
		c, err := costs[0].Curvature()
		if err != nil {
			t.Fatal(err)
		}
		size := rule.StepSize{Schedule: rule.Decaying, Value: 1 / c.Smooth, Steps: 5}
		sizes, scaled := StepSizes(size, len(costs)), stepped(size, costs)
		track, err := Track(context.Background(), scaled, nil, Descend(scaled, start, 1), 1)
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for i, e := range track.Measured {
			still := math.Exp(-c.Convex*sum) * track.Measured[0]
			if drift == 0 && e > still*(1+1e-6)+1e-9 {
				t.Fatalf("step %d: error %v, want exp(-C_c Σγ) e_0 = %v at most", i, e, still)
			}
			if limit := max(track.Measured[0], drift/(c.Convex*sizes[max(i-1, 0)])); drift > 0 && e > limit*(1+1e-6) {
				t.Fatalf("step %d: error %v, want C_B/(γ_t C_c) = %v at most", i, e, limit)
			}
			sum += sizes[i]
		}
		early, late := c.Limit(sizes[95], 1), c.Limit(sizes[395], 1) // 1 + t/τ = 20 and 80
		if !near(late, 2*early, 1e-9) {
			t.Errorf("four times as late the limit is %v after %v, want twice as much", late, early)
		}
	}
}

// Nodes with step sizes of their own stay within the bound of their scaled costs.
// They follow the optimum of the mean of γ_i J_i, which is that of the mean of J_i
// if all have the same γ.
//
// Reference: Theorem 3, doc/theory.md "Step sizes that change".
func TestConsensusBoundHoldsForSchedules(t *testing.T) {
	t.Parallel()
	rng := newRand(92)
	var ratios []float64
	for held := 0; held < instances(); {
		n := randomNodes(rng)
		mix := mixers(t, rng, n, 2+rng.IntN(5))
		for range 10 {
			own := rng.IntN(2) == 0 // every node its own step size
			kind := Kind(rng.IntN(2))
			inputs, outputs := 1+rng.IntN(2), 2
			ridge := 0.05 + rng.Float64()
			scaled := make([][]*Problem, len(mix))
			first := randomSignal(rng, inputs*outputs)
			start := make([][]float64, n)
			for i := range start {
				start[i] = first
			}
			optimum := make([]float64, len(first))
			var steps []ConsensusStep
			var errors []ConsensusError
			var worst []float64
			for s := range mix {
				common := 0.1 * rng.Float64()
				var local []*Problem
				for range n {
					p := randomProblem(rng, kind, inputs, outputs, 1+rng.IntN(2))
					p.Root, p.Ridge = nil, ridge
					gamma := common
					if own {
						gamma = (0.1 + 0.6*rng.Float64()) / smoothBound(t, p)
					}
					local, scaled[s] = append(local, p), append(scaled[s], p.Scaled(gamma))
				}
				of := local // with one γ the optimum is that of the costs as they are
				if own {
					of = scaled[s]
				}
				o, err := Mean(of).Optimum(optimum)
				if err != nil {
					t.Fatal(err)
				}
				if s > 0 {
					steps[s-1].Drift = distance(o.W, optimum)
				}
				optimum = o.W
				step, err := NewConsensusStep(scaled[s], optimum, mix[s], 0)
				if err != nil {
					t.Fatal(err)
				}
				if s%2 == 1 {
					step.Window = Products(mix[s-1 : s+1])
				}
				steps = append(steps, step)
				e, w := MeasureConsensus(DescendTogether(scaled[:s], mix, start, 1)[s], optimum)
				errors, worst = append(errors, e), append(worst, w)
			}
			bound := ConsensusBound(n, 1, steps, errors[0])[:len(errors)]
			for s, b := range bound {
				if e := errors[s]; above(e.Mean, b.Mean) || above(e.Spread, b.Spread) || above(worst[s], b.Worst(n)) {
					t.Fatalf("instance %d, %d nodes, step %d: measured %+v, worst %v, bound %+v", held, n, s, e, worst[s], b)
				}
			}
			last := len(bound) - 1
			ratios = append(ratios, bound[last].Worst(n)/max(worst[last], 1e-12))
			held++
		}
	}
	staysUseful(t, ratios, 5.6)
}
