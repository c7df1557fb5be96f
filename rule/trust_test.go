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
	if sizes, far := f.Sizes(nil, x); far {
		h.Sizes = sizes
	}
	return h
}

// A neighbour whose parameters are absurd is left out of the mixture, whoever it
// is, and its weight stays at home. One neighbour alone does not vouch for
// itself, and of two the smaller counts. Nodes at the start follow a neighbour
// that is far ahead, and all go where all go.
func TestOutliers(t *testing.T) {
	f := must[*rule.Basis](t)(rule.NewBasis(rule.BasisConfig{Inputs: 2, Features: 2, Gain: 1, Start: []float32{1, 1, 1, 1}})) // of size 2
	for _, c := range []struct {
		name    string
		self    int
		numbers []float32 // taps are twice as far from the start
		outlier float64
		want    float32 // the mixture
		leftOut int
	}{
		{name: "all at the start", numbers: []float32{0, 0, 0}},
		{name: "one neighbour is ahead", numbers: []float32{0, 30, 0}, want: 10},
		{name: "one liar of two", self: 1, numbers: []float32{1e6, 3, 6}, want: 4, leftOut: 1},
		{name: "the only neighbour lies", numbers: []float32{2, 1e6}, want: 2, leftOut: 1},
		{name: "both neighbours lie, alike", numbers: []float32{2, 1e6, 1e6}, want: 2e6 / 3},
		{name: "two liars of four", numbers: []float32{0, -1e6, 0, 1e6, 0}, leftOut: 2},
		{name: "all are far", numbers: []float32{3e5, 6e5, 9e5}, want: 6e5},
		{name: "everybody is believed", numbers: []float32{0, 3e6, 0}, outlier: -1, want: 1e6},
		{name: "another bound", numbers: []float32{0, 60, 0}, outlier: 2, leftOut: 1},
	} {
		config := rule.Config{Mixing: 1, Outlier: c.outlier}
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

// Directions that hardly change outputs do not make a neighbour an outlier where
// steps are whitened: learning goes far in them.
func TestOutliersOfWhitenedSteps(t *testing.T) {
	m := &rule.SecondMoment{Inputs: 2, Count: 10, Mean: []float64{1, 0, 0, 0, 1e-10, 0, 0, 0, 1}}
	w := must[*rule.Whitening](t)(rule.NewWhitening(m, false))
	f := must[*rule.Basis](t)(rule.NewBasis(rule.BasisConfig{Inputs: 2, Features: 1, Gain: 1, Start: []float32{1, 0}, Whitening: w}))
	for _, c := range []struct {
		x    []float32
		want float64
	}{
		{[]float32{0, 1e6}, 10},  // outputs move by 10
		{[]float32{1e6, 0}, 1e6}, // by 1e6
	} {
		sizes, far := f.Sizes(nil, mat.NewDense(1, 2, c.x))
		if !far || len(sizes) != 1 || sizes[0] < 0.999*c.want || sizes[0] > 1.001*c.want {
			t.Errorf("%v: sizes %v, far %v; want %v", c.x, sizes, far, c.want)
		}
	}
}

// A node that is told nothing may not be carried beyond the limit either.
func TestLimitWithoutACost(t *testing.T) {
	f := must[*rule.Basis](t)(rule.NewBasis(rule.BasisConfig{Inputs: 2, Features: 2, Gain: 1}))
	config := rule.Config{Mixing: 1, Limit: 30}
	n := rule.NewNode(rule.NodeConfig{Basis: f, Config: &config, Rows: 1})
	n.Observe(mat.Dense{}, mat.Dense{}, nil, nil)
	if err := n.Step(hears(f, 0, 0, 40)); !errors.Is(err, rule.ErrDiverged) {
		t.Errorf("error %v, want ErrDiverged", err)
	}
	n.Cancel()
	if got, want := fmt.Sprint(n.Params()), "[0 0 0 0]"; got != want {
		t.Errorf("parameters %s, want %s", got, want)
	}
}

// A bound that is no bound, and taps of another length, are refused.
func TestBadOutliers(t *testing.T) {
	if err := (&rule.Config{Outlier: 1.5}).Validate(); err == nil {
		t.Error("an outlier of 1.5 times is accepted, want 2 or more")
	}
	if _, err := rule.NewBasis(rule.BasisConfig{Inputs: 2, Features: 2, Gain: 1, Start: []float32{1}}); err == nil {
		t.Error("one tap for four is accepted")
	}
}
