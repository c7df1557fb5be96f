package gnn

import "github.com/wdgnn/wdgnn/mat"

// Readout is the local layer that follows a model: every node maps its own G
// features to C outputs, all with the same numbers,
//
//	Y = U R + 1cᵀ      U: (N·B)×G   R: G×C   Y: (N·B)×C
type Readout struct {
	Weight mat.Dense // R, G×C; empty if the model has no readout
	Bias   []float32 // c, C values; empty if there is none
}

// Forward writes the outputs to y, overwritten.
func (r *Readout) Forward(e *mat.Engine, y, u mat.Dense) {
	e.MulBias(y, r.Bias, u, r.Weight)
}

// Backward adds the gradients of one pass to grad and overwrites du:
//
//	dR += Uᵀ dY      dc += Σ rows of dY      dU = dY Rᵀ
func (r *Readout) Backward(e *mat.Engine, grad *Readout, du, dy, u mat.Dense) {
	e.AddMulATB(grad.Weight, u, dy)
	if len(r.Bias) > 0 {
		e.AddColumnSums(grad.Bias, dy)
	}
	e.MulABT(du, dy, r.Weight)
}
