package loss

import (
	"math"

	"github.com/wdgnn/wdgnn/mat"
)

// L1 is the mean absolute error, whose least is the median of what may come:
//
//	J_i = (1/C) Σ_j |y_ij - t_ij|
//	J   = (1/R) Σ_i J_i                  over the R rows that carry a loss
//
//	∂J_i/∂y_ij = ±1/C, the sign of y_ij - t_ij; 0 where they are equal
type L1 struct {
	Target mat.Dense // t, of the output's shape; NaN: not known
	Mask   []bool    // Mask[i]: row i carries a loss; nil means that every row does
}

// Eval returns J and overwrites dy with its gradient; see [Loss].
func (l L1) Eval(dy, y mat.Dense) float64 {
	p := l.pointwise()
	return p.eval(dy, y)
}

// EvalNode returns J_i and overwrites dy with its gradient; see [Local].
func (l L1) EvalNode(i int, dy, y []float32) float64 {
	p := l.pointwise()
	return p.evalNode(i, dy, y)
}

// Validate reports a mask that does not fit the target, and targets that are
// infinite.
func (l L1) Validate() error {
	p := l.pointwise()
	return p.validate("a finite number", finite)
}

// With returns the loss with other targets; see [Regression].
func (l L1) With(target mat.Dense, mask []bool) Regression {
	l.Target, l.Mask = target, mask
	return l
}

// TargetLen returns C.
func (l L1) TargetLen(outputs int) int { return outputs }

// TargetOf writes row i of the targets; see [Targeted].
func (l L1) TargetOf(i int, dst []float32) bool { p := l.pointwise(); return p.copyTo(dst, i) }

// EvalTarget judges a row with the given target; see [Targeted].
func (l L1) EvalTarget(dy, y, target []float32) float64 { return absolutes(dy, y, target, 0, 1) }

// Curvature returns +Inf: the gradient jumps at the target.
func (l L1) Curvature(int) float64 { return math.Inf(1) }

// Steepness returns 1, as every output has a slope of 1/C at most.
func (l L1) Steepness(int) float64 { return 1 }

// EvalCurved implements [Curved], with the corner at the target rounded off: a
// parabola where |y - t| < 0.1.
func (l L1) EvalCurved(g, h, y []float64, target []float32) float64 {
	return curve(g, h, y, target, rounded(corner, 1))
}

// Information implements [Curved].
func (l L1) Information(h, y []float64, target []float32) { inform(h, y, target, rounded(corner, 1)) }

func (l L1) pointwise() pointwise {
	return pointwise{op: "L1", target: l.Target, mask: l.Mask, cost: absolutes}
}

// absolutes is the cost of L1; see elementwise.
func absolutes(dy, y, t []float32, _, share float64) float64 {
	cols, sum := float64(len(y)), 0.0
	slope := share / cols
	for j := range y {
		if t[j] != t[j] {
			unknown(dy, j)
			continue
		}
		d := float64(y[j]) - float64(t[j])
		sum += math.Abs(d)
		if dy == nil {
			continue
		}
		dy[j] = 0
		if d != 0 { // and NaN
			dy[j] = float32(math.Copysign(slope, d))
		}
	}
	return sum / cols
}
