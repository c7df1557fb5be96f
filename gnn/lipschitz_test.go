package gnn_test

import (
	"math"
	"testing"

	"github.com/wdgnn/wdgnn/gnn"
)

// The penalty has the gradient that differences find, for every parameter;
// biases, readout and gains have none. Where two frequencies compete for the
// maximum the slope jumps up, and the gradient is between its two sides.
func TestLipschitzGradients(t *testing.T) {
	penalty := gnn.Lipschitz{Strength: 0.7}
	for name, c := range architectures {
		m := newModel(t, c, 5)
		grad := gnn.NewParams(c, nil)
		penalty.Eval(&grad, &m.Params)
		value := func() float64 { return penalty.Eval(nil, &m.Params) }
		for _, w := range m.Params.Windows() {
			for k := range w.Len() {
				i := w.Offset + k
				left, right := sides(&m.Params.Flat[i], value)
				if got := float64(grad.Flat[i]); got < left-1e-3 || got > right+1e-3 {
					t.Errorf("%s: gradient of %s[%d] is %v, want %v to %v", name, w.Name, k, got, left, right)
				}
			}
		}
	}
}

// sides returns the differences of f to the left and to the right of v.
func sides(v *float32, f func() float64) (left, right float64) {
	const h = 1.0 / (1 << 14)
	old, at := *v, f()
	*v = old - h
	left = (at - f()) / (float64(old) - float64(*v))
	*v = old + h
	right = (f() - at) / (float64(*v) - float64(old))
	*v = old
	return left, right
}

// Of a(λ) = a_0 + a_1 λ + a_2 λ² on [-1, 1] the constant is |a_1| + 2 |a_2|,
// reached at an end. The penalty is the sum of squares of all of them.
//
// Reference: Section 4, Definition 1.
func TestLipschitzOfQuadraticResponses(t *testing.T) {
	m := newModel(t, gnn.Config{In: 2, Features: 1, Wide: &gnn.WideConfig{Order: 2}}, 1)
	taps := m.Params.Wide.Taps
	taps[1].Set(0, 0, -0.5)
	taps[2].Set(0, 0, 0.25)
	taps[1].Set(1, 0, 2)
	taps[2].Set(1, 0, 1)
	p := gnn.Lipschitz{Strength: 2}
	if got := p.Constant(&m.Params); got != 4 {
		t.Errorf("C_L: got %v, want 4", got)
	}
	if got := p.Eval(nil, &m.Params); math.Abs(got-17) > 1e-6 {
		t.Errorf("penalty: got %v, want 1² + 4² = 17", got)
	}
	if got := (gnn.Lipschitz{Strength: 1, Low: 0, High: 0.5}).Constant(&m.Params); got != 1.5 {
		t.Errorf("C_L on [0, ½]: got %v, want 1.5", got)
	}
}

// Bad settings are refused all at once.
func TestLipschitzValidate(t *testing.T) {
	if err := (gnn.Lipschitz{Strength: -1, Low: 1, High: 0}).Validate(); err == nil {
		t.Error("got no complaint about a negative strength and an empty interval")
	}
	if err := (gnn.Lipschitz{}).Validate(); err != nil {
		t.Errorf("the zero value: %v", err)
	}
}
