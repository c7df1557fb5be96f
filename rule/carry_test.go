package rule_test

import (
	"math"
	"slices"
	"testing"

	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/rule"
)

// carryBasis returns a basis of three inputs, two features and two outputs behind a
// readout.
func carryBasis(t *testing.T, newton bool, readout ...float32) *rule.Basis {
	t.Helper()
	b, err := rule.NewBasis(rule.BasisConfig{Inputs: 3, Features: 2, Gain: 1, Readout: mat.NewDense(2, 2, readout), Newton: newton})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// learned returns a node that was told a few answers.
func learned(t *testing.T, b *rule.Basis, c *rule.Config) *rule.Node {
	t.Helper()
	n := rule.NewNode(rule.NodeConfig{Basis: b, Config: c, Rows: 1})
	for k := range 5 {
		z := mat.NewDense(1, 3, []float32{1, float32(k), -0.5})
		base, target := mat.NewDense(1, 2, nil), mat.NewDense(1, 2, []float32{float32(k), 1})
		n.Observe(z, base, []int32{0}, loss.MSE{Target: target})
		own := mat.NewDense(1, b.Len(), n.Params())
		if err := n.Step(&rule.Heard{Weights: []float32{1}, Rows: []int32{0}, Vectors: []mat.Dense{own}}); err != nil {
			t.Fatal(err)
		}
		n.Commit()
	}
	return n
}

// What a node learned is by how much its outputs differ from the trained ones, and that
// is the same behind another readout. In the same coordinates it is the same bits, and
// it stays as sure of it as it was.
func TestCarry(t *testing.T) {
	for _, newton := range []bool{false, true} {
		c := &rule.Config{StepSize: rule.StepSize{Value: 0.05}}
		if newton {
			c = &rule.Config{Newton: &rule.Newton{}}
		}
		old := carryBasis(t, newton, 1, 0.5, -0.25, 2)
		was := learned(t, old, c)
		z, y, want := []float32{0.3, -1, 2}, make([]float32, 2), make([]float32, 2)
		was.Predict(want, []float32{0, 0}, z)

		same := rule.NewNode(rule.NodeConfig{Basis: carryBasis(t, newton, 1, 0.5, -0.25, 2), Config: c, Rows: 1})
		m, ok := same.Carry(was, 0)
		if !ok || !slices.Equal(m, was.State(0)) {
			t.Fatalf("newton %v, the same basis: got %v %v, want the bits of %v", newton, ok, m, was.State(0))
		}
		moved := rule.BasisConfig{
			Inputs: 3, Features: 2, Gain: 1, Readout: mat.NewDense(2, 2, []float32{1, 0.5, -0.25, 2}), Newton: newton, Moment: momentOf(3),
		}
		for what, b := range map[string]*rule.Basis{
			"readout": carryBasis(t, newton, 2, -1, 0.5, 1), "moment": must[*rule.Basis](t)(rule.NewBasis(moved)),
		} {
			other := rule.NewNode(rule.NodeConfig{Basis: b, Config: c, Rows: 1})
			if m, ok = other.Carry(was, 0); !ok {
				t.Fatalf("newton %v, another %s: not kept", newton, what)
			}
			if err := other.Restore(m, 0); err != nil {
				t.Fatal(err)
			}
			other.Predict(y, []float32{0, 0}, z)
			for c := range y {
				if math.Abs(float64(y[c]-want[c])) > 1e-4 {
					t.Errorf("newton %v, another %s: got %v, want %v", newton, what, y, want)
				}
			}
			if other.Learned() != (!newton || what == "readout") {
				t.Errorf("newton %v, another %s: how sure it is means something %v", newton, what, other.Learned())
			}
		}
	}
}

// Other inputs, or a readout that hardly lets the taps through: nothing is kept.
func TestCarryRefuses(t *testing.T) {
	c := &rule.Config{StepSize: rule.StepSize{Value: 0.05}}
	old := carryBasis(t, false, 1, 0.5, -0.25, 2)
	was := learned(t, old, c)
	for what, b := range map[string]rule.BasisConfig{
		"inputs":          {Inputs: 4, Features: 2, Gain: 1},
		"bias":            {Inputs: 3, Features: 2, Gain: 1, Bias: true},
		"outputs":         {Inputs: 3, Features: 2, Gain: 1, Readout: mat.NewDense(2, 3, []float32{1, 0, 2, 0, 1, 3})},
		"rank":            {Inputs: 3, Features: 2, Gain: 1, Readout: mat.NewDense(2, 2, []float32{1, 2, 2, 4})},
		"a faint readout": {Inputs: 3, Features: 2, Gain: 1, Readout: mat.NewDense(2, 2, []float32{1e-4, 0, 0, 1e-4})},
	} {
		b := must[*rule.Basis](t)(rule.NewBasis(b))
		n := rule.NewNode(rule.NodeConfig{Basis: b, Config: c, Rows: 1})
		if got, ok := n.Carry(was, 0); ok {
			t.Errorf("%s: got %v, want nothing kept", what, got)
		}
	}
}
