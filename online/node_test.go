package online_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/rule"
)

// Given z and y† of one node, a node alone learns to the bits of centralized learning
// on the network that reads that node, with every kind of rule and cost; what it
// remembers takes it back.
// Reference: Section 3, eq. (7).
func TestNodeIsCentralized(t *testing.T) {
	b := newBig(t, 27, 6)
	const i = 4
	squares := func(k int) loss.Loss {
		j := b.squares(k)
		j.Mask = make([]bool, b.nodes)
		j.Mask[i] = true
		return j
	}
	classes := func(k int) loss.Loss {
		all := make([]int32, b.nodes)
		for i := range all {
			all[i] = loss.NoLabel
		}
		if k%4 != 2 { // now and then nothing is known
			all[i] = int32(k % 5)
		}
		return loss.CrossEntropy{Labels: all}
	}
	for name, r := range settings {
		r.Gate = nil // who has rows only decides alone what is answered
		for cost, at := range map[string]func(k int) loss.Loss{"squares": squares, "classes": classes} {
			t.Run(name+", "+cost, func(t *testing.T) {
				c := online.Config{Nodes: b.nodes, Read: []int{i}, HopByHop: true, Moment: b.moment}
				observer := newObserver(t, b.model, c)
				whole, err := online.NewCentralized(observer, r)
				must(t, err)
				node, err := online.NewNode(b.model, r, b.moment)
				must(t, err)
				y, base := mat.NewDense(b.nodes, 5, nil), mat.NewDense(b.nodes, 5, nil)
				z, got := mat.NewDense(b.nodes, (b.model.InputOrder()+1)*b.model.Config.In, nil), make([]float32, 5)
				var state rule.State
				for k := range 12 {
					s, j := b.samples[k%len(b.samples)], at(k)
					must(t, observer.Observe(s))
					must(t, observer.Predict(base))
					must(t, whole.Predict(y))
					must(t, whole.Update(j))
					new(gnn.Shifter).Shift(z, s.Shift, s.Signal)
					if k == 7 { // forgotten, and put back
						node.Reset()
						must(t, node.Restore(state, 0))
					}
					node.Predict(got, base.Row(i), z.Row(i))
					if !slices.Equal(got, y.Row(i)) {
						t.Fatalf("step %d: output %v, want %v", k, got, y.Row(i))
					}
					must(t, node.Learn(base.Row(i), z.Row(i), alone(j, i)))
					if !slices.Equal(node.Params(), whole.Params()) || node.Steps() != whole.Drift().Steps {
						t.Fatalf("step %d: parameters %v, want %v", k, node.Params(), whole.Params())
					}
					state = node.State(0)
				}
			})
		}
	}
}

// alone is the cost of one node as that of a single row.
func alone(j loss.Loss, i int) loss.Loss {
	if c, ok := j.(loss.CrossEntropy); ok {
		return loss.CrossEntropy{Labels: c.Labels[i : i+1]}
	}
	target := j.(loss.MSE).Target
	return loss.MSE{Target: target.View(i, 0, 1, target.Cols)}
}

// A step that diverges is not taken: the parameters stay.
func TestNodeAloneRefuses(t *testing.T) {
	m, err := gnn.New(gnn.Config{In: 1, Features: 1, Wide: &gnn.WideConfig{Order: 1}, NoBias: true})
	must(t, err)
	n, err := online.NewNode(m, rule.Config{StepSize: rule.StepSize{Value: 1e30}}, nil)
	must(t, err)
	if err := n.Learn([]float32{0}, []float32{1, 2}, nil); err == nil || errors.Is(err, online.ErrDiverged) {
		t.Errorf("error %v, want one that refuses no cost", err)
	}
	far := loss.MSE{Target: mat.NewDense(1, 1, []float32{1e30})}
	if err := n.Learn([]float32{0}, []float32{1, 2}, far); !errors.Is(err, online.ErrDiverged) || n.Steps() != 0 {
		t.Errorf("error %v after %d steps, want ErrDiverged and none", err, n.Steps())
	}
}

// A row is two numbers, z; the model as trained makes y† = 0 of it, and the right
// answer would be their difference.
func ExampleNewNode() {
	model, err := gnn.New(gnn.Config{In: 1, Features: 1, Wide: &gnn.WideConfig{Order: 1}, NoBias: true})
	if err != nil {
		panic(err)
	}
	node, err := online.NewNode(model, rule.Config{StepSize: rule.StepSize{Value: 0.1}}, nil)
	if err != nil {
		panic(err)
	}
	base, y := []float32{0}, []float32{0}
	for t := range 60 {
		z := []float32{float32(t % 3), float32(t % 2)}
		right := loss.MSE{Target: mat.NewDense(1, 1, []float32{z[0] - z[1]})}
		if err := node.Learn(base, z, right); err != nil {
			panic(err)
		}
	}
	node.Predict(y, base, []float32{5, 3})
	fmt.Printf("5 - 3 is %.2f after %d rows\n", y[0], node.Steps())
	// Output:
	// 5 - 3 is 2.00 after 60 rows
}
