package certify

import (
	"github.com/wdgnn/wdgnn/internal/paper/theory"
)

// LimitPoint is where learning with a step size ends.
type LimitPoint struct {
	StepSize float64 `json:"step_size"`
	Share    float64 `json:"share"`    // of the safe step size 2/C_s
	Bound    Number  `json:"bound"`    // (C_B + γ‖∇J(𝒜*)‖)/(1 - m̂), where the bound of Theorem 2 ends
	Own      float64 `json:"own"`      // the bound with each step's own m_t and drift, the largest in the last quarter of the steps
	Start    float64 `json:"start"`    // ‖𝒜_0 - 𝒜*_0‖; at no time is the error above it and Bound
	Measured float64 `json:"measured"` // the largest error in the last quarter of the steps
}

// limitShares are the step sizes that are tried, as shares of the safe one.
var limitShares = []float64{0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 0.995, 0.999}

// limits finds where learning ends against the step size, from small ones to the
// safe one, for costs with the given optima.
func (r *recording) limits(costs []*theory.Problem, optima []theory.Optimum) ([]LimitPoint, error) {
	all := theory.Curvature{}
	steps, drift, left := make([]theory.Curvature, len(costs)), make([]float64, len(costs)), make([]float64, len(costs))
	largest, steepest := 0.0, 0.0
	for t, p := range costs {
		c, err := p.Curvature()
		if err != nil {
			return nil, err
		}
		left[t] = norm64(p.Gradient(optima[t].W))
		steepest = max(steepest, left[t])
		if steps[t] = c; t == 0 {
			all = c
			continue
		}
		all.Smooth, all.Convex = max(all.Smooth, c.Smooth), min(all.Convex, c.Convex)
		drift[t-1] = distanceOf(optima[t].W, optima[t-1].W)
		largest = max(largest, drift[t-1])
	}
	start := make([]float64, costs[0].Len())
	var out []LimitPoint
	for k, share := range limitShares {
		if err := r.at("where learning ends", k, len(limitShares)); err != nil {
			return nil, err
		}
		p := LimitPoint{StepSize: share * all.SafeStep(), Share: share, Start: distanceOf(start, optima[0].W)}
		p.Bound = Number(all.Limit(p.StepSize, largest+p.StepSize*steepest))
		own := p.Start
		for t, w := range theory.Descend(costs, start, p.StepSize) {
			if t >= len(costs)*3/4 {
				p.Own, p.Measured = max(p.Own, own), max(p.Measured, distanceOf(w, optima[t].W))
			}
			own = steps[t].Contraction(p.StepSize)*own + drift[t] + p.StepSize*left[t]
		}
		out = append(out, p)
	}
	return out, nil
}
