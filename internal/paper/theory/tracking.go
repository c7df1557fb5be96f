package theory

import (
	"context"
	"fmt"
	"math"

	"github.com/wdgnn/wdgnn/internal/vector"
)

// TrackStep is one step of a run that follows a moving optimum.
type TrackStep struct {
	Curvature
	Contraction float64 // m_t
	Drift       float64 // ‖𝒜*_{t+1} - 𝒜*_t‖; NaN at the last step

	// Left is γ‖∇J_t(𝒜*_t)‖: what is left of the gradient at an optimum that was
	// found to some precision only, or in the directions that data resolve.
	Left float64

	// Rest is ‖𝒜_{t+1} - (𝒜_t - γ∇J_t(𝒜_t))‖, computed in float64: how far the
	// step was from a gradient step, by rounding in float32 say; NaN at the last
	// step.
	Rest float64

	// Round bounds what float64 rounds of all that; see Problem.Rounds. It is NaN at
	// the last step.
	Round float64
}

// Tracking is Theorem 2 for a run of centralized online learning.
type Tracking struct {
	Steps    []TrackStep
	Optima   []Optimum
	Measured []float64 // ‖𝒜_t - 𝒜*_t‖
	Drift    float64   // C_B, the largest ‖𝒜*_{t+1} - 𝒜*_t‖
	Slowest  float64   // m̂, the largest m_t

	// Paper is the bound of eq. (15) with that C_B and m̂. PerStep is the
	// recursion from which it comes, each step with its own drift; it is never
	// larger and holds under the same assumptions:
	//
	//	b_{t+1} = m_t b_t + ‖𝒜*_{t+1} - 𝒜*_t‖ + γ‖∇J_t(𝒜*_t)‖ + Rest_t + Round_t
	//
	// The last terms make both true of any 𝒜*_t and of a run that rounds; Paper
	// takes their largest sum.
	Paper, PerStep []float64

	// Missing is the first step whose optimum does not exist, -1 if all do.
	// Bounds end there.
	Missing int
}

// Follow returns the optimum of every cost, the first one found from start and
// each other from the one before: where optima are not unique, the walk goes from
// each to the nearest of the next. It ends early where an optimum does not exist.
func Follow(costs []*Problem, start []float64) ([]Optimum, error) {
	var all []Optimum
	for t, p := range costs {
		o, err := p.Optimum(start)
		if err != nil {
			return nil, fmt.Errorf("step %d: %w", t, err)
		}
		if !o.Exists {
			break
		}
		all, start = append(all, o), o.W
	}
	return all, nil
}

// Track computes Theorem 2 for the costs J_t and the parameters w_t before each
// step, with step size γ. The optima are those of Follow, nil to find them. It ends
// with an error where ctx does.
func Track(ctx context.Context, costs []*Problem, optima []Optimum, path [][]float64, gamma float64) (*Tracking, error) {
	if len(costs) == 0 || len(path) < len(costs) {
		return nil, fmt.Errorf("theory: Track: %d costs for %d parameters, want as many", len(costs), len(path))
	}
	if optima == nil {
		var err error
		if optima, err = Follow(costs, path[0]); err != nil {
			return nil, err
		}
	}
	t := &Tracking{Missing: -1, Optima: optima}
	if len(optima) < len(costs) {
		t.Missing = len(optima)
	}
	for i, o := range optima {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		c, err := costs[i].Curvature()
		if err != nil {
			return nil, err
		}
		t.Steps = append(t.Steps, TrackStep{
			Curvature: c, Contraction: c.Contraction(gamma), Drift: math.NaN(), Left: gamma * vector.Norm(costs[i].Gradient(o.W)), Rest: math.NaN(),
			Round: math.NaN(),
		})
		t.Measured = append(t.Measured, distance(path[i], o.W))
		if i > 0 {
			d := distance(o.W, optima[i-1].W)
			t.Steps[i-1].Drift, t.Drift = d, max(t.Drift, d)
			t.Steps[i-1].Rest = distance(path[i], costs[i-1].Step(path[i-1], gamma))
			if t.Steps[i-1].Round, err = costs[i-1].Rounds(path[i-1], path[i], gamma, vector.Norm(o.W), 0); err != nil {
				return nil, err
			}
		}
	}
	t.bounds()
	return t, nil
}

// bounds computes both.
func (t *Tracking) bounds() {
	product, slowest, left := 1.0, 0.0, 0.0
	for i, m := range t.Measured {
		if i == 0 {
			t.Paper, t.PerStep = []float64{m}, []float64{m}
			continue
		}
		s := t.Steps[i-1]
		product *= s.Contraction
		slowest = max(slowest, s.Contraction)
		left = max(left, s.Left+s.Rest+s.Round)
		t.Paper = append(t.Paper, product*t.Measured[0]+geometric(slowest, i)*(t.Drift+left))
		t.PerStep = append(t.PerStep, s.Contraction*t.PerStep[i-1]+s.Drift+s.Left+s.Rest+s.Round)
		t.Slowest = slowest
	}
}

// geometric returns (1 - mⁿ)/(1 - m) = 1 + m + … + mⁿ⁻¹.
func geometric(m float64, n int) float64 {
	if math.Abs(1-m) < 1e-9 {
		return float64(n)
	}
	return (1 - math.Pow(m, float64(n))) / (1 - m)
}

// Limit returns C_B/(1 - m), where the bound of Theorem 2 ends for costs of
// curvature c that drift by at most drift per step; +Inf where m ≥ 1.
func (c Curvature) Limit(gamma, drift float64) float64 {
	if m := c.Contraction(gamma); m < 1 {
		return drift / (1 - m)
	}
	return math.Inf(1)
}

// Descend runs eq. (7) in float64 and returns w_0 … w_{T-1}, the parameters
// before each step.
func Descend(costs []*Problem, start []float64, gamma float64) [][]float64 {
	var path [][]float64
	w := append([]float64(nil), start...)
	for _, p := range costs {
		path = append(path, w)
		w = p.Step(w, gamma)
	}
	return path
}

// Step returns w - γ∇J(w).
func (p *Problem) Step(w []float64, gamma float64) []float64 {
	next := append([]float64(nil), w...)
	vector.Axpy(next, -gamma, p.Gradient(w))
	return next
}

// distance returns ‖a - b‖.
func distance(a, b []float64) float64 {
	d := make([]float64, len(a))
	for i := range d {
		d[i] = a[i] - b[i]
	}
	return vector.Norm(d)
}
