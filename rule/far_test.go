package rule_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/rule"
)

// hears returns what a node hears whose neighbours all sent vectors of equal
// numbers; the node itself is the one at self. Weights are equal.
func hears(f *rule.Basis, self int, numbers ...float32) *rule.Heard {
	x := mat.NewDense(len(numbers), f.Len(), nil)
	h := &rule.Heard{Vectors: []mat.Dense{x}, Self: self}
	for j, v := range numbers {
		for e := range x.Row(j) {
			x.Row(j)[e] = v
		}
		h.Rows, h.Weights = append(h.Rows, int32(j)), append(h.Weights, 1/float32(len(numbers)))
	}
	h.Far = f.Far(nil, x)
	return h
}

// A neighbour whose parameters are farther from the trained ones than 10‖𝒜†‖ counts
// as silent, and its weight stays at home, however far the node itself is. Nodes at
// the start follow a neighbour that is far ahead.
func TestFar(t *testing.T) {
	f := must[*rule.Basis](t)(rule.NewBasis(rule.BasisConfig{Inputs: 2, Features: 2, Gain: 1, Start: []float32{1, 1, 1, 1}})) // of size 2
	for _, c := range []struct {
		name    string
		self    int
		numbers []float32 // taps are twice as far from the start
		want    float32   // the mixture
		leftOut int
	}{
		{name: "all at the start", numbers: []float32{0, 0, 0}},
		{name: "one neighbour is ahead", numbers: []float32{0, 9, 0}, want: 3},
		{name: "to the bound", numbers: []float32{0, 10}, want: 5},
		{name: "beyond it", numbers: []float32{0, 10.001}, leftOut: 1},
		{name: "one liar of two", self: 1, numbers: []float32{1e6, 3, 6}, want: 4, leftOut: 1},
		{name: "the only neighbour lies", numbers: []float32{2, 1e6}, want: 2, leftOut: 1},
		{name: "all neighbours lie", numbers: []float32{2, -1e6, 1e6, 11}, want: 2, leftOut: 3},
		{name: "the node itself is far", numbers: []float32{30, 3, 3}, want: 12},
	} {
		config := rule.Config{}
		own := make([]float32, f.Len())
		h := hears(f, c.self, c.numbers...)
		copy(own, h.Vectors[0].Row(c.self))
		n := restored(t, f, &config, 1, own)
		n.Observe(mat.Dense{}, mat.Dense{}, nil, nil)
		if err := n.Step(h); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		n.Commit()
		got := n.Params()
		if want := slices.Repeat([]float32{c.want}, f.Len()); !near32(got, want) || n.LeftOut() != c.leftOut {
			t.Errorf("%s: got %v with %d left out, want %v with %d", c.name, got, n.LeftOut(), want, c.leftOut)
		}
	}
}

func near32(a, b []float32) bool {
	for k := range a {
		if d := a[k] - b[k]; d*d > 1e-10*(1+b[k]*b[k]) {
			return false
		}
	}
	return len(a) == len(b)
}

// A node that is told nothing may not be carried beyond the limit either.
func TestLimitWithoutACost(t *testing.T) {
	f := must[*rule.Basis](t)(rule.NewBasis(rule.BasisConfig{Inputs: 2, Features: 2, Gain: 1}))
	config := rule.Config{Limit: 1}
	n := rule.NewNode(rule.NodeConfig{Basis: f, Config: &config, Rows: 1})
	n.Observe(mat.Dense{}, mat.Dense{}, nil, nil)
	if err := n.Step(hears(f, 0, 0, 4)); !errors.Is(err, rule.ErrDiverged) {
		t.Errorf("error %v, want ErrDiverged", err)
	}
	n.Cancel()
	if got, want := fmt.Sprint(n.Params()), "[0 0 0 0]"; got != want {
		t.Errorf("parameters %s, want %s", got, want)
	}
}
