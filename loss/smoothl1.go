package loss

import (
	"errors"
	"fmt"

	"github.com/wdgnn/wdgnn/mat"
)

// SmoothL1 is quadratic near the target and linear far from it, so that one
// output far off does not rule the step:
//
//	h(d) = d²/2δ        where |d| < δ
//	       |d| - δ/2    elsewhere
//
//	J_i = (1/C) Σ_j h(y_ij - t_ij)
//	J   = (1/R) Σ_i J_i                  over the R rows that carry a loss
//
//	∂J_i/∂y_ij = (1/C) · (y_ij - t_ij)/δ, held within ±1/C
//
// δ is Threshold, in the unit of the output.
type SmoothL1 struct {
	Target    mat.Dense // t, of the output's shape; NaN: not known
	Mask      []bool    // Mask[i]: row i carries a loss; nil means that every row does
	Threshold float32   // δ ≥ 0; 0 means 1
}

// Eval returns J and overwrites dy with its gradient; see [Loss].
func (l SmoothL1) Eval(dy, y mat.Dense) float64 {
	p := l.pointwise()
	p.delta = l.delta()
	return p.eval(dy, y)
}

// EvalNode returns J_i and overwrites dy with its gradient; see [Local].
func (l SmoothL1) EvalNode(i int, dy, y []float32) float64 {
	p := l.pointwise()
	p.delta = l.delta()
	return p.evalNode(i, dy, y)
}

// Validate reports a threshold out of range, a mask that does not fit the
// target, and targets that are infinite.
func (l SmoothL1) Validate() error {
	var threshold error
	if !(l.Threshold >= 0) || !finite(l.Threshold) {
		threshold = fmt.Errorf("loss: SmoothL1: threshold %v, want a finite number ≥ 0", l.Threshold)
	}
	p := l.pointwise()
	return errors.Join(threshold, p.validate("a finite number", finite))
}

// With returns the loss with other targets; see [Regression].
func (l SmoothL1) With(target mat.Dense, mask []bool) Regression {
	l.Target, l.Mask = target, mask
	return l
}

func (l SmoothL1) pointwise() pointwise {
	return pointwise{op: "SmoothL1", target: l.Target, mask: l.Mask, cost: smoothed}
}

func (l SmoothL1) delta() float64 {
	switch {
	case l.Threshold == 0:
		return 1
	case !(l.Threshold > 0):
		panic(fmt.Sprintf("loss: SmoothL1: threshold %v", l.Threshold))
	}
	return float64(l.Threshold)
}

// smoothed is the cost of SmoothL1; see elementwise.
func smoothed(dy, y, t []float32, delta, share float64) float64 {
	cols, sum := float64(len(y)), 0.0
	slope, half := share/cols, float64(delta/2)
	for j := range y {
		if t[j] != t[j] {
			unknown(dy, j)
			continue
		}
		d := float64(y[j]) - float64(t[j])
		r := d / delta
		switch {
		case r >= 1:
			sum += d - half
			r = 1
		case r <= -1:
			sum += -d - half
			r = -1
		default: // and NaN
			sum += float64(float64(r*d) / 2)
		}
		if dy != nil {
			dy[j] = float32(slope * r)
		}
	}
	return sum / cols
}
