package theory

import (
	"fmt"
	"math"

	"github.com/wdgnn/wdgnn/internal/vector"
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

// SmoothBound returns a bound of C_s, with mean ‖z‖² in place of λmax(M):
//
//	κ Σ share ‖z‖² λmax(Γ) + λ      κ = 2/C of a Quadratic, ½ of a CrossEntropy
//
// It is never below Curvature().Smooth, and 0 without rows.
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
		sum += r.Share * vector.Dot(r.Input, r.Input)
	}
	kappa := 0.5
	if p.Kind == Quadratic {
		kappa = 2 / float64(p.Outputs)
	}
	return kappa*sum*max(gamma[len(gamma)-1], 0) + p.Ridge, nil
}

// StepSizes returns γ_0 … γ_{T-1} of a schedule.
func StepSizes(s rule.StepSize, steps int) []float64 {
	out := make([]float64, steps)
	for t := range out {
		out[t] = s.At(t)
	}
	return out
}
