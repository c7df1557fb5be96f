package loss

import (
	"fmt"

	"github.com/wdgnn/wdgnn/mat"
)

// Loss is J of eq. (5), the cost of an output. It need not be supervised: a
// Loss that judges the output alone holds no labels.
type Loss interface {
	// Eval returns J(Y) and overwrites dY with ∂J/∂Y.
	//
	//	Y: N×G, read   dY: N×G, overwritten
	//
	// An empty dY asks for the value alone, which is the same with and
	// without it. Eval keeps no reference to its arguments, and dY must not
	// share memory with Y.
	Eval(dy, y mat.Dense) float64
}

// Local is J_i of eq. (8), the cost at one node.
type Local interface {
	// EvalNode returns the cost of y, row i of an output, and overwrites dy
	// with its gradient.
	//
	//	y: G values, read   dy: G values, overwritten
	//
	// A nil dy asks for the value alone. A row that carries no loss costs 0
	// and has gradient 0. EvalNode keeps no reference to its arguments, and
	// dy must not share memory with y.
	EvalNode(i int, dy, y []float32) float64
}

// Mean is the Eval of a cost that is given by its EvalNode, a row at a time:
//
//	J = (1/N) Σ_i J_i        i ascending over all N rows
//
// It is what makes a [Local] of one's own a [Loss]. dy is overwritten with the
// gradient unless it is empty.
func Mean(dy, y mat.Dense, j Local) float64 {
	checkGradient("Mean", dy, y)
	return mean(dy, y, nil, func(int) bool { return true }, func(i int, dy, y []float32, share float64) float64 {
		cost := j.EvalNode(i, dy, y)
		for c, v := range dy {
			dy[c] = float32(share * float64(v))
		}
		return cost
	})
}

// rowCost returns J_i and, unless dy is nil, overwrites dy with its gradient
// times share. It is asked for rows that carry a loss only.
type rowCost func(i int, dy, y []float32, share float64) float64

// mean is the Eval of a loss that is a mean over rows:
//
//	J = (1/R) Σ_i J_i        i ascending over the R rows that carry a loss
//
// Without such rows J is 0. Rows that mask, unless nil, leaves out carry none.
func mean(dy, y mat.Dense, mask []bool, carries func(i int) bool, row rowCost) float64 {
	carrying := 0
	for i := range y.Rows {
		if (mask == nil || mask[i]) && carries(i) {
			carrying++
		}
	}
	if carrying == 0 {
		dy.Zero()
		return 0
	}
	if carrying < y.Rows {
		dy.Zero() // rows without a loss
	}
	share, sum := 1/float64(carrying), 0.0
	for i, left := 0, carrying; left > 0; i++ {
		if mask != nil && !mask[i] || !carries(i) {
			continue
		}
		left--
		var di []float32
		if !dy.Empty() {
			di = dy.Row(i)
		}
		sum += row(i, di, y.Row(i), share)
	}
	return sum / float64(carrying)
}

// one is the EvalNode of such a loss.
func one(i int, dy, y []float32, carries func(i int) bool, row rowCost) float64 {
	if !carries(i) {
		clear(dy)
		return 0
	}
	return row(i, dy, y, 1)
}

// checkGradient panics unless dy is empty or has the shape of y.
func checkGradient(op string, dy, y mat.Dense) {
	if !dy.Empty() && (dy.Rows != y.Rows || dy.Cols != y.Cols) {
		panic(fmt.Sprintf("loss: %s: gradient %d×%d of an output %d×%d", op, dy.Rows, dy.Cols, y.Rows, y.Cols))
	}
}

// checkNode panics unless row i is one of rows and dy is nil or as long as y.
func checkNode(op string, i, rows int, dy, y []float32) {
	if uint(i) >= uint(rows) {
		panic(fmt.Sprintf("loss: %s: row %d of %d", op, i, rows))
	}
	if dy != nil && len(dy) != len(y) {
		panic(fmt.Sprintf("loss: %s: gradient of %d values, output of %d", op, len(dy), len(y)))
	}
}
