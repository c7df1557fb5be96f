package loss

import "fmt"

// Ridge is a penalty on large parameters, added to a cost:
//
//	(λ/2) ‖θ‖²        gradient λ θ
//
// It makes a convex cost strongly convex with constant λ, which is what the
// convergence theorems ask of the cost.
type Ridge struct {
	Strength float32 // λ ≥ 0; 0 means no penalty
}

// Eval returns the penalty on params and adds its gradient to dParams. A nil
// dParams asks for the value alone.
func (r Ridge) Eval(dParams, params []float32) float64 {
	if dParams != nil && len(dParams) != len(params) {
		panic(fmt.Sprintf("loss: Ridge: gradient of %d values, %d parameters", len(dParams), len(params)))
	}
	sum := 0.0
	for _, p := range params {
		sum += float64(float64(p) * float64(p))
	}
	for i := range dParams {
		dParams[i] += float32(r.Strength * params[i])
	}
	return float64(r.Strength) / 2 * sum
}

// Validate reports a strength out of range.
func (r Ridge) Validate() error {
	if !(r.Strength >= 0) || !finite(r.Strength) {
		return fmt.Errorf("loss: Ridge: strength %v, want a finite number ≥ 0", r.Strength)
	}
	return nil
}
