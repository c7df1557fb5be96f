package loss

import (
	"fmt"
	"math"

	"github.com/wdgnn/wdgnn/mat"
)

// Targeted is a Local cost that compares a row with a target of numbers. A
// learner can keep the target of an observation and judge it again later, at
// other outputs, when whoever revealed the cost is gone.
//
// The losses of this package are Targeted. EvalTarget, TargetLen and Curvature
// do not look at the labels or targets that the loss holds.
type Targeted interface {
	Local

	// TargetLen returns how many numbers the target of a row of C outputs has.
	TargetLen(outputs int) int

	// TargetOf writes the target of row i to dst, TargetLen values, and says
	// whether that row carries a loss. If it does not, dst means nothing.
	TargetOf(i int, dst []float32) bool

	// EvalTarget is EvalNode for a row with the given target.
	EvalTarget(dy, y, target []float32) float64

	// Curvature bounds the curvature of the cost of one row of C outputs: no
	// eigenvalue of ∂²J_i/∂y² is larger. It is +Inf where the gradient jumps.
	Curvature(outputs int) float64
}

// TargetLen returns 1: a target is a label.
func (l CrossEntropy) TargetLen(int) int { return 1 }

// TargetOf writes the label of row i; see [Targeted].
func (l CrossEntropy) TargetOf(i int, dst []float32) bool {
	dst[0] = float32(l.Labels[i])
	return l.Labels[i] != NoLabel
}

// EvalTarget judges a row whose label is target[0]; see [Targeted].
func (l CrossEntropy) EvalTarget(dy, y, target []float32) float64 {
	checkNode("CrossEntropy", 0, 1, dy, y)
	c := int32(target[0])
	if c == NoLabel {
		clear(dy)
		return 0
	}
	if uint(c) >= uint(len(y)) {
		panic(fmt.Sprintf("loss: CrossEntropy: target %v for an output with %d columns", target[0], len(y)))
	}
	if dy == nil {
		buf := borrow(len(y))
		defer buf.giveBack()
		dy = buf.values
	}
	logSum := mat.Softmax(dy, y)
	dy[c]--
	return logSum - float64(y[c])
}

// Curvature returns ½: the Hessian is diag(p) - ppᵀ of probabilities p.
func (l CrossEntropy) Curvature(int) float64 { return 0.5 }

// TargetLen returns C.
func (l MSE) TargetLen(outputs int) int { return outputs }

// TargetOf writes row i of the targets; see [Targeted].
func (l MSE) TargetOf(i int, dst []float32) bool { p := l.pointwise(); return p.copyTo(dst, i) }

// EvalTarget judges a row with the given target; see [Targeted].
func (l MSE) EvalTarget(dy, y, target []float32) float64 { return squares(dy, y, target, 0, 1) }

// Curvature returns 2/C.
func (l MSE) Curvature(outputs int) float64 { return 2 / float64(outputs) }

// TargetLen returns C.
func (l SmoothL1) TargetLen(outputs int) int { return outputs }

// TargetOf writes row i of the targets; see [Targeted].
func (l SmoothL1) TargetOf(i int, dst []float32) bool { p := l.pointwise(); return p.copyTo(dst, i) }

// EvalTarget judges a row with the given target; see [Targeted].
func (l SmoothL1) EvalTarget(dy, y, target []float32) float64 {
	return smoothed(dy, y, target, l.delta(), 1)
}

// Curvature returns 1/(δC).
func (l SmoothL1) Curvature(outputs int) float64 { return 1 / (l.delta() * float64(outputs)) }

// TargetLen returns C.
func (l Hinge) TargetLen(outputs int) int { return outputs }

// TargetOf writes row i of the targets; see [Targeted].
func (l Hinge) TargetOf(i int, dst []float32) bool { p := l.pointwise(); return p.copyTo(dst, i) }

// EvalTarget judges a row with the given target; see [Targeted].
func (l Hinge) EvalTarget(dy, y, target []float32) float64 { return shortfall(dy, y, target, 0, 1) }

// Curvature returns +Inf: the gradient jumps at the margin.
func (l Hinge) Curvature(int) float64 { return math.Inf(1) }

// Known says whether a row of targets has an element that is known, one that is
// not NaN.
func Known(target []float32) bool {
	for _, t := range target {
		if t == t {
			return true
		}
	}
	return false
}

// copyTo writes row i of the targets to dst and says whether it carries a loss.
func (p *pointwise) copyTo(dst []float32, i int) bool {
	copy(dst, p.target.Row(i))
	return p.carries(i)
}
