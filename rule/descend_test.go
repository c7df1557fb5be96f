package rule_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/rule"
)

// Descend is Observe, Step and Commit, to the bit: whatever is
// retrained, clipped, told or not told, and where learning diverges.
func TestDescend(t *testing.T) {
	rng := random.Stream(3, "descend")
	diverged, moved := 0, 0
	for trial := range 200 {
		f, c := drawDescent(t, rng)
		alone, joint := rule.NewNode(rule.NodeConfig{Basis: f, Config: c, Rows: 1}), rule.NewNode(rule.NodeConfig{Basis: f, Config: c, Rows: 1})
		for step := range 6 {
			z, base := matrix(rng, 1, f.Inputs()), matrix(rng, 1, f.Outputs())
			h := &rule.Heard{
				Weights: []float32{0.25, 0.75}, Rows: []int32{0, 1}, Self: 1, Vectors: []mat.Dense{matrix(rng, 2, f.Len())},
			}
			copy(h.Vectors[0].Row(1), alone.Params())
			mixed := make([]float32, f.Len())
			h.Mix(mixed, 0)
			j, target := drawCost(rng, f.Outputs())
			if target == nil {
				alone.Observe(mat.Dense{}, mat.Dense{}, nil, j)
			} else {
				alone.Observe(z, base, []int32{0}, j)
			}
			want := alone.Step(h)
			if want != nil {
				alone.Refuse()
				diverged++
			} else {
				alone.Commit()
				moved++
			}
			got := joint.Descend(mixed, z.Row(0), base.Row(0), target, j)
			if fmt.Sprint(got) != fmt.Sprint(want) || !sameBits(joint.Params(), alone.Params()) || joint.Steps() != alone.Steps() {
				t.Fatalf("trial %d, step %d of %+v: got %v and %v after %d steps, want %v and %v after %d", trial, step, *c,
					got, joint.Params(), joint.Steps(), want, alone.Params(), alone.Steps())
			}
		}
	}
	if diverged == 0 || moved < 10*diverged {
		t.Errorf("%d steps diverged and %d did not, want some and many", diverged, moved)
	}
}

// drawDescent returns how nodes learn.
func drawDescent(t *testing.T, rng *rand.Rand) (*rule.Basis, *rule.Config) {
	t.Helper()
	fc := rule.BasisConfig{Inputs: 1 + rng.IntN(4), Features: 1 + rng.IntN(4), Bias: rng.IntN(2) == 0, Gain: 0.7}
	if rng.IntN(3) > 0 {
		fc.Readout = matrix(rng, fc.Features, 1+rng.IntN(3))
	}
	c := &rule.Config{StepSize: rule.StepSize{Value: 0.1 * rng.Float64()}, Limit: 5 + 100*rng.Float64()}
	if rng.IntN(2) == 0 {
		c.StepSize.Schedule = rule.Decaying
	}
	if rng.IntN(3) == 0 {
		c.Ridge = 0.1
	}
	if rng.IntN(3) == 0 {
		c.ClipNorm = 0.5
	}
	return must[*rule.Basis](t)(rule.NewBasis(fc)), c
}

// cost is one that compares with targets.
type cost interface {
	loss.Loss
	loss.Targeted
}

// drawCost returns what an answer cost, and should have been: nil if nobody says so.
func drawCost(rng *rand.Rand, outputs int) (j cost, target []float32) {
	values := matrix(rng, 1, outputs)
	switch rng.IntN(8) {
	case 0:
		return loss.MSE{Target: values, Mask: []bool{false}}, nil
	case 1:
		values.Row(0)[0] = 1e30 // it goes too far
	case 2:
		return loss.CrossEntropy{Labels: []int32{int32(outputs - 1)}}, []float32{float32(outputs - 1)}
	case 3:
		return loss.SmoothL1{Target: values}, values.Row(0)
	}
	return &loss.MSE{Target: values}, values.Row(0)
}

// sameBits says whether numbers are the same, -0 and 0 apart.
func sameBits(a, b []float32) bool {
	return slices.EqualFunc(a, b, func(x, y float32) bool { return math.Float32bits(x) == math.Float32bits(y) })
}
