package loss

import (
	"fmt"

	"github.com/wdgnn/wdgnn/mat"
)

// Told returns a cost of one row of C outputs, of the given kind, with the given
// target, of kind.TargetLen(outputs) values, which is kept. It is how a target that
// travelled without its cost is judged. An error says that no row can have it.
func Told(kind Targeted, outputs int, target []float32) (interface {
	Loss
	Targeted
}, error,
) {
	if want := kind.TargetLen(outputs); len(target) != want || !mat.Finite(target...) {
		return nil, fmt.Errorf("loss: a target of %d values for a %T, want %d finite ones", len(target), kind, want)
	}
	switch k := kind.(type) {
	case CrossEntropy, *CrossEntropy:
		if c := int32(target[0]); float32(c) != target[0] || uint(c) >= uint(outputs) {
			return nil, fmt.Errorf("loss: class %v of %d", target[0], outputs)
		}
		return CrossEntropy{Labels: []int32{int32(target[0])}}, nil
	case Regression:
		j := k.With(mat.NewDense(1, outputs, target), nil)
		return j, j.Validate()
	}
	return told{kind, target}, nil
}

// told is a cost of one's own with a target that it was not made with.
type told struct {
	Targeted
	target []float32
}

// TargetOf implements [Targeted].
func (t told) TargetOf(_ int, dst []float32) bool {
	copy(dst, t.target)
	return true
}

// EvalNode implements [Local].
func (t told) EvalNode(_ int, dy, y []float32) float64 { return t.EvalTarget(dy, y, t.target) }

// Eval implements [Loss]: the mean over rows that all have the target.
func (t told) Eval(dy, y mat.Dense) float64 { return Mean(dy, y, t) }
