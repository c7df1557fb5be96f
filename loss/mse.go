package loss

import "github.com/wdgnn/wdgnn/mat"

// MSE is the mean squared error:
//
//	J_i = (1/C) Σ_j (y_ij - t_ij)²
//	J   = (1/R) Σ_i J_i                  over the R rows that carry a loss
//
//	∂J_i/∂y_ij = (2/C) (y_ij - t_ij)
//
// There is no factor ½: with all rows in play J is the mean over rows and
// columns.
type MSE struct {
	Target mat.Dense // t, of the output's shape; NaN: not known
	Mask   []bool    // Mask[i]: row i carries a loss; nil means that every row does
}

// Eval returns J and overwrites dy with its gradient; see [Loss].
func (l MSE) Eval(dy, y mat.Dense) float64 {
	p := l.pointwise()
	return p.eval(dy, y)
}

// EvalNode returns J_i and overwrites dy with its gradient; see [Local].
func (l MSE) EvalNode(i int, dy, y []float32) float64 {
	p := l.pointwise()
	return p.evalNode(i, dy, y)
}

// Validate reports a mask that does not fit the target, and targets that are
// infinite.
func (l MSE) Validate() error {
	p := l.pointwise()
	return p.validate("a finite number", finite)
}

// With returns the loss with other targets; see [Regression].
func (l MSE) With(target mat.Dense, mask []bool) Regression {
	l.Target, l.Mask = target, mask
	return l
}

func (l MSE) pointwise() pointwise {
	return pointwise{op: "MSE", target: l.Target, mask: l.Mask, cost: squares}
}

// squares is the cost of MSE; see elementwise.
func squares(dy, y, t []float32, _, share float64) float64 {
	cols, sum := float64(len(y)), 0.0
	slope := 2 * share / cols
	for j := range y {
		if t[j] != t[j] {
			unknown(dy, j)
			continue
		}
		d := float64(y[j]) - float64(t[j])
		sum += float64(d * d)
		if dy != nil {
			dy[j] = float32(slope * d)
		}
	}
	return sum / cols
}
