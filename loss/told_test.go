package loss_test

import (
	"math"
	"testing"

	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
)

// cubic is a cost that is not of this package.
type cubic struct{ loss.MSE }

// A target without its cost is judged as the cost would have judged it, whose
// target it is.
func TestTold(t *testing.T) {
	y := []float32{0.5, -1, 2}
	target := mat.NewDense(1, 3, []float32{1, 0, 2.5})
	for _, j := range []loss.Targeted{
		loss.CrossEntropy{Labels: []int32{2}}, loss.MSE{Target: target}, loss.SmoothL1{Target: target}, cubic{loss.MSE{Target: target}},
	} {
		given := make([]float32, j.TargetLen(len(y)))
		j.TargetOf(0, given)
		told, err := loss.Told(j, len(y), given)
		if err != nil {
			t.Fatalf("%T: %v", j, err)
		}
		again, dy, want := make([]float32, len(given)), make([]float32, 3), make([]float32, 3)
		if !told.TargetOf(0, again) || again[0] != given[0] {
			t.Errorf("%T: the target is %v, want %v", j, again, given)
		}
		if got, cost := told.EvalNode(0, dy, y), j.EvalNode(0, want, y); got != cost || dy[2] != want[2] {
			t.Errorf("%T: cost %v and gradient %v, want %v and %v", j, got, dy, cost, want)
		}
	}
}

// Targets that no row can have are refused.
func TestToldRefuses(t *testing.T) {
	for _, target := range [][]float32{{}, {-1}, {3}, {0.5}, {1, 2}, {float32(math.NaN())}} {
		if _, err := loss.Told(loss.CrossEntropy{}, 3, target); err == nil {
			t.Errorf("the class %v of 3 is accepted", target)
		}
	}
	if _, err := loss.Told(loss.MSE{}, 2, []float32{1}); err == nil {
		t.Error("one value for two outputs is accepted")
	}
}
