package theory

import (
	"fmt"
	"math"

	"github.com/wdgnn/wdgnn/rule"
)

// Scaled returns γJ, whose gradient step of size 1 is the step of size γ on J:
//
//	w - ∇(γJ)(w) = w - γ ∇J(w)
//
// Curvature, gradients and L are γ times those of J, and so m = max(|1 - γC_s|,
// |1 - γC_c|); the optimum is the same. It is how bounds that know one step size
// hold for step sizes that change from step to step, and from node to node: Track
// and ConsensusBound of scaled costs, with γ = 1. A γ of 0 gives a cost without
// rows. Rows share their vectors with those of p.
func (p *Problem) Scaled(gamma float64) *Problem {
	if !(gamma >= 0) || math.IsInf(gamma, 0) {
		panic(fmt.Sprintf("theory: Scaled: a step size of %v", gamma))
	}
	q := *p
	q.Ridge, q.Rows = gamma*p.Ridge, nil
	if gamma == 0 {
		return &q
	}
	for _, r := range p.Rows {
		r.Share *= gamma
		q.Rows = append(q.Rows, r)
	}
	return &q
}

// SmoothBound returns the bound of C_s by which package rule chooses an automatic
// step size, with mean ‖z‖² in place of λmax(M):
//
//	κ Σ share ‖z‖² λmax(Γ) + λ      κ = 2/C of a Quadratic, ½ of a CrossEntropy
//
// It is never below Curvature().Smooth. As in package rule it is 0 without rows.
func (p *Problem) SmoothBound() (float64, error) {
	if len(p.Rows) == 0 {
		return 0, nil
	}
	gamma, err := p.readoutValues()
	if err != nil {
		return 0, err
	}
	sum := 0.0
	for _, r := range p.Rows {
		sum += r.Share * dot(r.Input, r.Input)
	}
	kappa := 0.5
	if p.Kind == Quadratic {
		kappa = 2 / float64(p.Outputs)
	}
	return kappa*sum*max(gamma[len(gamma)-1], 0) + p.Ridge, nil
}

// bent is a rule.Cost of which the curvature alone is known.
type bent float64

func (b bent) Curvature() float64                    { return float64(b) }
func (bent) Gradient(_, _ []float32) (value float64) { return 0 }

// StepSizes returns γ_0 … γ_{T-1}, the steps that package rule takes on the costs
// of successive steps under a schedule. Own are the weights that the node gave to
// itself, [W_t]_ii; nil means 1 at every step, as in centralized learning.
func StepSizes(s rule.StepSize, costs []*Problem, own []float64) ([]float64, error) {
	out := make([]float64, len(costs))
	for t, p := range costs {
		c := 0.0
		if s.Schedule == rule.Automatic {
			var err error
			if c, err = p.SmoothBound(); err != nil {
				return nil, err
			}
		}
		weight := 1.0
		if own != nil {
			weight = own[t]
		}
		out[t] = s.At(t, bent(c), weight)
	}
	return out, nil
}
