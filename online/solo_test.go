package online_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/rule"
)

// Given z and y† of one node, a Solo learns to the bits of centralized learning
// on the network that reads that node, with every kind of rule and cost; what it
// remembers takes it back.
// Reference: Section 3, eq. (7).
func TestSoloIsCentralized(t *testing.T) {
	b := newBig(t, 27, 6)
	const node = 4
	squares := func(k int) loss.Loss {
		j := b.squares(k)
		j.Mask = make([]bool, b.nodes)
		j.Mask[node] = true
		return j
	}
	classes := func(k int) loss.Loss {
		all := make([]int32, b.nodes)
		for i := range all {
			all[i] = loss.NoLabel
		}
		if k%4 != 2 { // now and then nothing is known
			all[node] = int32(k % 5)
		}
		return loss.CrossEntropy{Labels: all}
	}
	for name, r := range settings {
		r.Gate = nil // who has rows only decides alone what is answered
		for cost, at := range map[string]func(k int) loss.Loss{"squares": squares, "classes": classes} {
			t.Run(name+", "+cost, func(t *testing.T) {
				c := online.Config{Nodes: b.nodes, Read: []int{node}, HopByHop: true, Moment: b.moment}
				observer := newObserver(t, b.model, c)
				whole, err := online.NewCentralized(observer, r)
				must(t, err)
				solo, err := online.NewSolo(b.model, r, b.moment)
				must(t, err)
				y, base := mat.NewDense(b.nodes, 5, nil), mat.NewDense(b.nodes, 5, nil)
				z, got := mat.NewDense(b.nodes, (b.model.InputOrder()+1)*b.model.Config.In, nil), make([]float32, 5)
				var memory rule.State
				for k := range 12 {
					s, j := b.samples[k%len(b.samples)], at(k)
					must(t, observer.Observe(s))
					must(t, observer.Predict(base))
					must(t, whole.Predict(y))
					must(t, whole.Update(j))
					new(gnn.Shifter).Shift(z, s.Shift, s.Signal)
					if k == 7 { // forgotten, and put back
						solo.Reset()
						must(t, solo.Restore(memory))
					}
					solo.Predict(got, base.Row(node), z.Row(node))
					if !slices.Equal(got, y.Row(node)) {
						t.Fatalf("step %d: output %v, want %v", k, got, y.Row(node))
					}
					must(t, solo.Learn(base.Row(node), z.Row(node), alone(j, node)))
					if !slices.Equal(solo.Params(), whole.Params()) || solo.Drift() != whole.Drift() {
						t.Fatalf("step %d: parameters %v, want %v", k, solo.Params(), whole.Params())
					}
					memory = solo.State()
				}
			})
		}
	}
}

// alone is the cost of one node as that of a single row.
func alone(j loss.Loss, node int) loss.Loss {
	if c, ok := j.(loss.CrossEntropy); ok {
		return loss.CrossEntropy{Labels: c.Labels[node : node+1]}
	}
	target := j.(loss.MSE).Target
	return loss.MSE{Target: target.View(node, 0, 1, target.Cols)}
}

// Costs that cannot be learned from are refused, and a step that diverges is not
// taken: the parameters stay.
func TestSoloRefuses(t *testing.T) {
	m, err := gnn.New(gnn.Config{In: 1, Features: 1, Wide: &gnn.WideConfig{Order: 1}, NoBias: true})
	must(t, err)
	solo, err := online.NewSolo(m, rule.Config{StepSize: rule.StepSize{Value: 1e30}}, nil)
	must(t, err)
	base, z := []float32{0}, []float32{1, 2}
	to := func(v float32) loss.Loss { return loss.MSE{Target: mat.NewDense(1, 1, []float32{v})} }
	for _, j := range []loss.Loss{nil, to(float32(math.Inf(1)))} {
		if err := solo.Learn(base, z, j); err == nil || errors.Is(err, online.ErrDiverged) {
			t.Errorf("%v: error %v, want one that refuses the cost", j, err)
		}
	}
	if err := solo.Learn(base, z, to(1e30)); !errors.Is(err, online.ErrDiverged) {
		t.Errorf("error %v, want ErrDiverged", err)
	}
	if d := solo.Drift(); d != (online.Drift{}) {
		t.Errorf("drift %+v, want none", d)
	}
}

// A row is two numbers, z; the model as trained makes y† = 0 of it, and the right
// answer would be their difference.
func ExampleSolo() {
	model, err := gnn.New(gnn.Config{In: 1, Features: 1, Wide: &gnn.WideConfig{Order: 1}, NoBias: true})
	if err != nil {
		panic(err)
	}
	solo, err := online.NewSolo(model, rule.Config{StepSize: rule.StepSize{Value: 0.1}}, nil)
	if err != nil {
		panic(err)
	}
	base, y := []float32{0}, []float32{0}
	for t := range 60 {
		z := []float32{float32(t % 3), float32(t % 2)}
		right := loss.MSE{Target: mat.NewDense(1, 1, []float32{z[0] - z[1]})}
		if err := solo.Learn(base, z, right); err != nil {
			panic(err)
		}
	}
	solo.Predict(y, base, []float32{5, 3})
	fmt.Printf("5 - 3 is %.2f after %d rows\n", y[0], solo.Drift().Steps)
	// Output:
	// 5 - 3 is 2.00 after 60 rows
}
