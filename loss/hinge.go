package loss

import "github.com/wdgnn/wdgnn/mat"

// Hinge asks each element to have the sign of its target, with a margin:
//
//	J_i = (1/C) Σ_j max(0, 1 - t_ij y_ij)        t_ij = ±1
//	J   = (1/R) Σ_i J_i                  over the R rows that carry a loss
//
//	∂J_i/∂y_ij = -t_ij/C where t_ij y_ij < 1, 0 elsewhere
type Hinge struct {
	Target mat.Dense // t, of the output's shape, every element 1 or -1; NaN: not known
	Mask   []bool    // Mask[i]: row i carries a loss; nil means that every row does
}

// Eval returns J and overwrites dy with its gradient; see [Loss].
func (l Hinge) Eval(dy, y mat.Dense) float64 {
	p := l.pointwise()
	return p.eval(dy, y)
}

// EvalNode returns J_i and overwrites dy with its gradient; see [Local].
func (l Hinge) EvalNode(i int, dy, y []float32) float64 {
	p := l.pointwise()
	return p.evalNode(i, dy, y)
}

// Validate reports a mask that does not fit the target, and targets other than
// 1 and -1.
func (l Hinge) Validate() error {
	p := l.pointwise()
	return p.validate("1 or -1", func(t float32) bool { return t == 1 || t == -1 })
}

// With returns the loss with other targets; see [Regression].
func (l Hinge) With(target mat.Dense, mask []bool) Regression {
	l.Target, l.Mask = target, mask
	return l
}

func (l Hinge) pointwise() pointwise {
	return pointwise{op: "Hinge", target: l.Target, mask: l.Mask, cost: shortfall}
}

// shortfall is the cost of Hinge; see elementwise.
func shortfall(dy, y, t []float32, _, share float64) float64 {
	cols, sum := float64(len(y)), 0.0
	slope := share / cols
	for j := range y {
		if t[j] != t[j] {
			unknown(dy, j)
			continue
		}
		short := 1 - float64(float64(t[j])*float64(y[j])) // what is missing to the margin
		g := 0.0
		if !(short <= 0) { // and NaN
			sum += short
			g = -slope
		}
		if dy != nil {
			dy[j] = float32(g * float64(t[j]))
		}
	}
	return sum / cols
}
