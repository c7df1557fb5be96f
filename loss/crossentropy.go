package loss

import (
	"fmt"
	"sync"

	"github.com/wdgnn/wdgnn/mat"
)

// NoLabel is the label of a row that carries no loss.
const NoLabel int32 = -1

// CrossEntropy is the cost of scores for classes when one class is right:
//
//	J_i = log Σ_j exp y_ij - y_ic        c = Labels[i]
//	J   = (1/R) Σ_i J_i                  over the R rows with a label
//
//	∂J_i/∂y_ij = softmax(y_i)_j - 1{j = c}
//
// Outputs are scores, not probabilities. The softmax is shifted by the largest
// score, so large scores do not overflow.
type CrossEntropy struct {
	Labels []int32 // one per row: 0 ≤ label < columns of the output, or NoLabel
}

// Eval returns J and overwrites dy with its gradient; see [Loss].
func (l CrossEntropy) Eval(dy, y mat.Dense) float64 {
	checkGradient("CrossEntropy", dy, y)
	if len(l.Labels) != y.Rows {
		panic(fmt.Sprintf("loss: CrossEntropy: %d labels for an output %d×%d", len(l.Labels), y.Rows, y.Cols))
	}
	rows := labelled{labels: l.Labels}
	if dy.Empty() {
		buf := borrow(y.Cols)
		defer buf.giveBack()
		rows.scratch = buf.values
	}
	return mean(dy, y, nil, rows.carries, rows.row)
}

// EvalNode returns J_i and overwrites dy with its gradient; see [Local].
func (l CrossEntropy) EvalNode(i int, dy, y []float32) float64 {
	checkNode("CrossEntropy", i, len(l.Labels), dy, y)
	rows := labelled{labels: l.Labels}
	if dy == nil {
		buf := borrow(len(y))
		defer buf.giveBack()
		rows.scratch = buf.values
	}
	return one(i, dy, y, rows.carries, rows.row)
}

// Validate reports labels that are neither NoLabel nor one of the classes.
func (l CrossEntropy) Validate(classes int) error {
	if classes < 1 {
		return fmt.Errorf("loss: CrossEntropy: %d classes, want at least 1", classes)
	}
	first, bad := 0, 0
	for i, c := range l.Labels {
		if c < NoLabel || int(c) >= classes {
			if bad == 0 {
				first = i
			}
			bad++
		}
	}
	if bad > 0 {
		return fmt.Errorf("loss: CrossEntropy: %d of %d labels out of range: the first is %d in row %d, want 0 to %d or %d",
			bad, len(l.Labels), l.Labels[first], first, classes-1, NoLabel)
	}
	return nil
}

// labelled is CrossEntropy during one call.
type labelled struct {
	labels  []int32
	scratch []float32 // takes the softmax where nobody asks for a gradient
}

func (l *labelled) carries(i int) bool { return l.labels[i] != NoLabel }

func (l *labelled) row(i int, dy, y []float32, share float64) float64 {
	c := l.labels[i]
	if uint(c) >= uint(len(y)) {
		panic(fmt.Sprintf("loss: CrossEntropy: label %d in row %d of an output with %d columns", c, i, len(y)))
	}
	if dy == nil {
		return mat.Softmax(l.scratch, y) - float64(y[c])
	}
	logSum := mat.Softmax(dy, y)
	dy[c]--
	for j, d := range dy {
		dy[j] = float32(share * float64(d))
	}
	return logSum - float64(y[c])
}

// buffer is memory for one row of scores, kept between calls.
type buffer struct{ values []float32 }

var buffers = sync.Pool{New: func() any { return new(buffer) }}

// borrow returns a buffer of n values. Give it back.
func borrow(n int) *buffer {
	b := buffers.Get().(*buffer)
	if cap(b.values) < n {
		b.values = make([]float32, n)
	}
	b.values = b.values[:n]
	return b
}

func (b *buffer) giveBack() { buffers.Put(b) }
