package loss

import (
	"errors"
	"fmt"

	"github.com/wdgnn/wdgnn/mat"
)

// defaultDelta is the usual δ: where errors are normal with variance 1, the
// estimate is 95 % as efficient as that of least squares.
const defaultDelta = 1.345

// Huber is half the square near the target and linear far from it, so that one
// output far off does not rule the step:
//
//	h(d) = d²/2            where |d| < δ
//	       δ (|d| - δ/2)   elsewhere
//
//	J_i = (1/C) Σ_j h(y_ij - t_ij)
//	J   = (1/R) Σ_i J_i                  over the R rows that carry a loss
//
//	∂J_i/∂y_ij = (1/C) (y_ij - t_ij), held within ±δ/C
//
// It is δ times [SmoothL1] of the same threshold, and the same for δ = 1: here
// the slope far from the target is δ and the curvature near it 1, there they
// are 1 and 1/δ. The larger δ, the closer it is to half of [MSE].
type Huber struct {
	Target mat.Dense // t, of the output's shape; NaN: not known
	Mask   []bool    // Mask[i]: row i carries a loss; nil means that every row does
	Delta  float32   // δ ≥ 0, in the unit of the output; 0 means 1.345, the usual one for errors of variance 1
}

// Eval returns J and overwrites dy with its gradient; see [Loss].
func (l Huber) Eval(dy, y mat.Dense) float64 {
	p := l.pointwise()
	p.delta = l.delta()
	return p.eval(dy, y)
}

// EvalNode returns J_i and overwrites dy with its gradient; see [Local].
func (l Huber) EvalNode(i int, dy, y []float32) float64 {
	p := l.pointwise()
	p.delta = l.delta()
	return p.evalNode(i, dy, y)
}

// TargetLen returns C.
func (l Huber) TargetLen(outputs int) int { return outputs }

// TargetOf writes row i of the targets; see [Targeted].
func (l Huber) TargetOf(i int, dst []float32) bool { p := l.pointwise(); return p.copyTo(dst, i) }

// EvalTarget judges a row with the given target; see [Targeted].
func (l Huber) EvalTarget(dy, y, target []float32) float64 {
	return huber(dy, y, target, l.delta(), 1)
}

// Curvature returns 1/C.
func (l Huber) Curvature(outputs int) float64 { return 1 / float64(outputs) }

// With returns the loss with other targets; see [Regression].
func (l Huber) With(target mat.Dense, mask []bool) Regression {
	l.Target, l.Mask = target, mask
	return l
}

// Validate reports a δ out of range, a mask that does not fit the target, and
// targets that are infinite.
func (l Huber) Validate() error {
	var delta error
	if !(l.Delta >= 0) || !finite(l.Delta) {
		delta = fmt.Errorf("loss: Huber: delta %v, want a finite number ≥ 0", l.Delta)
	}
	p := l.pointwise()
	return errors.Join(delta, p.validate("a finite number", finite))
}

func (l Huber) pointwise() pointwise {
	return pointwise{op: "Huber", target: l.Target, mask: l.Mask, cost: huber}
}

func (l Huber) delta() float64 {
	switch {
	case l.Delta == 0:
		return defaultDelta
	case !(l.Delta > 0):
		panic(fmt.Sprintf("loss: Huber: delta %v", l.Delta))
	}
	return float64(l.Delta)
}

// huber is the cost of Huber; see elementwise.
func huber(dy, y, t []float32, delta, share float64) float64 {
	return float64(delta * smoothed(dy, y, t, delta, float64(delta*share)))
}
