package host

import (
	"math"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/loss"
)

// Every loss that has a name is a cost: a line's target makes the loss of that
// kind, and what the loss cannot judge by is refused.
func TestCosts(t *testing.T) {
	y := []float32{0.5, -2}
	for _, name := range loss.Names(false) {
		c := Cost(name)
		if err := c.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		target := []float32{1}
		kind := c.Kind().(loss.Targeted)
		if kind.TargetLen(2) == 2 {
			target = []float32{1, -1}
		}
		j, err := c.told(&NodeLine{Target: target}, 2)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got, want := j.(loss.Local).EvalNode(0, nil, y), kind.EvalTarget(nil, y, target); got != want {
			t.Errorf("%s: cost %v, want %v", name, got, want)
		}
		for _, bad := range [][]float32{{float32(math.Inf(1)), 1}, {1, -1, 1}} {
			if _, err := c.told(&NodeLine{Target: bad}, 2); err == nil {
				t.Errorf("%s: no error for a target %v", name, bad)
			}
		}
	}
	nan := float32(math.NaN())
	if j, err := MSE.told(&NodeLine{Target: []float32{nan, 1}}, 2); err != nil || j.(loss.Local).EvalNode(0, nil, []float32{7, 3}) != 2 {
		t.Errorf("got %v, want the half of a target that is known to cost (3-1)²/2", err)
	}
	if j, err := MSE.told(&NodeLine{Target: []float32{nan, nan}}, 2); err != nil || j != nil {
		t.Errorf("got %v, %v, want nothing told of a target that nobody knows", j, err)
	}
	if _, err := CrossEntropy.told(&NodeLine{Target: []float32{nan}}, 2); err == nil {
		t.Error("got no error for a class that is no number")
	}
	if _, err := Cost("hinge").told(&NodeLine{Target: []float32{1, 0}}, 2); err == nil || !strings.Contains(err.Error(), "want 1 or -1") {
		t.Errorf("hinge: got %v, want that 0 is no sign", err)
	}
	bends := &NodeLine{Gradient: []float32{2, -1}, Curvature: 4}
	j, err := Curved.told(bends, 2)
	if m, ok := about(j, []float32{1, 1}).(loss.MSE); err != nil || !ok || m.Target.At(0, 0) != 0.5 || m.Target.At(0, 1) != 1.25 {
		t.Errorf("curved: got %v and %v, want y - g/c, 0.5 and 1.25, as the target", m, err)
	}
	for _, bad := range []NodeLine{
		{Gradient: bends.Gradient}, {Gradient: bends.Gradient, Curvature: -1}, {Curvature: 4, Target: []float32{1, 2}},
	} {
		if _, err := Curved.told(&bad, 2); err == nil {
			t.Errorf("curved: no error for %+v", bad)
		}
	}
	if err := Cost("l2").Validate(); err == nil || !strings.Contains(err.Error(), `no cost is called "l2"; try cross-entropy, mse`) {
		t.Errorf("l2: got %v, want the costs that there are", err)
	}
}
