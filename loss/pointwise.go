package loss

import (
	"fmt"

	"github.com/wdgnn/wdgnn/mat"
)

// pointwise is what losses with a target per element have in common.
type pointwise struct {
	target mat.Dense
	mask   []bool // nil, or one per row
}

// carries says whether row i carries a loss. A row without columns does not:
// there is nothing to compare.
func (p *pointwise) carries(i int) bool { return p.target.Cols > 0 && (p.mask == nil || p.mask[i]) }

// check panics unless an output and its gradient fit the targets.
func (p *pointwise) check(op string, dy, y mat.Dense) {
	checkGradient(op, dy, y)
	if p.target.Rows != y.Rows || p.target.Cols != y.Cols {
		panic(fmt.Sprintf("loss: %s: target %d×%d for an output %d×%d", op, p.target.Rows, p.target.Cols, y.Rows, y.Cols))
	}
	p.checkMask(op)
}

// checkRow is check for row i alone.
func (p *pointwise) checkRow(op string, i int, dy, y []float32) {
	checkNode(op, i, p.target.Rows, dy, y)
	if len(y) != p.target.Cols {
		panic(fmt.Sprintf("loss: %s: target %d×%d for a row of %d", op, p.target.Rows, p.target.Cols, len(y)))
	}
	p.checkMask(op)
}

func (p *pointwise) checkMask(op string) {
	if p.mask != nil && len(p.mask) != p.target.Rows {
		panic(fmt.Sprintf("loss: %s: mask of %d rows, target %d×%d", op, len(p.mask), p.target.Rows, p.target.Cols))
	}
}

// validate reports a mask of the wrong length, and targets in rows that carry
// a loss for which ok is false.
func (p *pointwise) validate(op, want string, ok func(t float32) bool) error {
	if p.mask != nil && len(p.mask) != p.target.Rows {
		return fmt.Errorf("loss: %s: mask of %d rows, target %d×%d", op, len(p.mask), p.target.Rows, p.target.Cols)
	}
	row, col, bad := 0, 0, 0
	for i := range p.target.Rows {
		if !p.carries(i) {
			continue
		}
		for j, t := range p.target.Row(i) {
			if ok(t) {
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
			op, bad, p.target.At(row, col), row, col, want)
	}
	return nil
}

func finite(v float32) bool { return mat.Finite(v) }
