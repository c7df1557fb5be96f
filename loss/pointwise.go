package loss

import (
	"fmt"

	"github.com/wdgnn/wdgnn/mat"
)

// pointwise is a loss with a target per element during one call. An element whose
// target is NaN is not known: it costs nothing and has gradient 0. The cost of a
// row stays the sum over those that are known, divided by all C: a row of which
// less is known counts for less.
type pointwise struct {
	op     string // its name
	target mat.Dense
	mask   []bool  // nil, or one per row
	delta  float64 // δ, of those that have one
	cost   elementwise
}

// elementwise returns the cost of a row y against its target t and, unless dy is
// nil, overwrites dy with its gradient times share.
type elementwise func(dy, y, t []float32, delta, share float64) float64

// unknown is what an elementwise does where the target is not known.
func unknown(dy []float32, j int) {
	if dy != nil {
		dy[j] = 0
	}
}

// eval is Eval.
func (p *pointwise) eval(dy, y mat.Dense) float64 {
	checkGradient(p.op, dy, y)
	if p.target.Rows != y.Rows || p.target.Cols != y.Cols {
		panic(fmt.Sprintf("loss: %s: target %d×%d for an output %d×%d", p.op, p.target.Rows, p.target.Cols, y.Rows, y.Cols))
	}
	p.checkMask()
	return mean(dy, y, p.mask, p.carries, p.row)
}

// evalNode is EvalNode.
func (p *pointwise) evalNode(i int, dy, y []float32) float64 {
	checkNode(p.op, i, p.target.Rows, dy, y)
	if len(y) != p.target.Cols {
		panic(fmt.Sprintf("loss: %s: target %d×%d for a row of %d", p.op, p.target.Rows, p.target.Cols, len(y)))
	}
	p.checkMask()
	if !p.carries(i) {
		clear(dy)
		return 0
	}
	return p.row(i, dy, y, 1)
}

func (p *pointwise) row(i int, dy, y []float32, share float64) float64 {
	return p.cost(dy, y, p.target.Row(i), p.delta, share)
}

// carries says whether row i carries a loss. A row without columns does not, nor
// one of which nothing is known: there is nothing to compare.
func (p *pointwise) carries(i int) bool {
	return (p.mask == nil || p.mask[i]) && Known(p.target.Row(i))
}

func (p *pointwise) checkMask() {
	if p.mask != nil && len(p.mask) != p.target.Rows {
		panic(fmt.Sprintf("loss: %s: mask of %d rows, target %d×%d", p.op, len(p.mask), p.target.Rows, p.target.Cols))
	}
}

// validate reports a mask of the wrong length, and targets in rows that carry
// a loss for which ok is false.
func (p *pointwise) validate(want string, ok func(t float32) bool) error {
	if p.mask != nil && len(p.mask) != p.target.Rows {
		return fmt.Errorf("loss: %s: mask of %d rows, target %d×%d", p.op, len(p.mask), p.target.Rows, p.target.Cols)
	}
	row, col, bad := 0, 0, 0
	for i := range p.target.Rows {
		if !p.carries(i) {
			continue
		}
		for j, t := range p.target.Row(i) {
			if t != t || ok(t) {
				continue
			}
			if bad == 0 {
				row, col = i, j
			}
			bad++
		}
	}
	if bad > 0 {
		return fmt.Errorf("loss: %s: %d targets out of range: the first is %v in row %d, column %d, want %s",
			p.op, bad, p.target.At(row, col), row, col, want)
	}
	return nil
}

func finite(v float32) bool { return mat.Finite(v) }
