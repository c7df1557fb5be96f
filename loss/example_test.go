package loss_test

import (
	"fmt"

	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
)

// Three nodes score two classes. The last node has no label.
func ExampleCrossEntropy() {
	y := mat.NewDense(3, 2, []float32{
		2, 0,
		0, 0,
		9, -9,
	})
	dy := mat.NewDense(3, 2, nil)
	j := loss.CrossEntropy{Labels: []int32{0, 1, loss.NoLabel}}

	fmt.Printf("J = %.4f\n", j.Eval(dy, y))
	for i := range dy.Rows {
		fmt.Printf("%+.4f\n", dy.Row(i))
	}
	fmt.Printf("node 0 alone: %.4f\n", j.EvalNode(0, nil, y.Row(0)))
	// Output:
	// J = 0.4100
	// [-0.0596 +0.0596]
	// [+0.2500 -0.2500]
	// [+0.0000 +0.0000]
	// node 0 alone: 0.1269
}

// Spread is the variation of velocities in a swarm around their mean:
//
//	J = (1/N) Σ_i ‖y_i - ȳ‖²        gradient (2/N) (y_i - ȳ)
//
// It needs no labels: a swarm that agrees costs nothing, whatever it agrees
// on.
type Spread struct{}

func (Spread) Eval(dy, y mat.Dense) float64 {
	n, j := float64(y.Rows), 0.0
	for c := range y.Cols {
		mean := 0.0
		for i := range y.Rows {
			mean += float64(y.At(i, c)) / n
		}
		for i := range y.Rows {
			d := float64(y.At(i, c)) - mean
			j += float64(d*d) / n
			if !dy.Empty() {
				dy.Set(i, c, float32(2*d/n))
			}
		}
	}
	return j
}

// A cost of one's own, without labels: steps down its gradient make the robots
// of a swarm agree on a velocity.
func Example_unsupervised() {
	velocity := mat.NewDense(3, 2, []float32{ // meters per second
		1, 0,
		3, 0,
		2, 3,
	})
	dy := mat.NewDense(3, 2, nil)
	var j loss.Loss = Spread{}
	for range 3 {
		fmt.Printf("J = %.4f\n", j.Eval(dy, velocity))
		mat.Serial.AddScaled(velocity, -0.75, dy)
	}
	// Output:
	// J = 2.6667
	// J = 0.6667
	// J = 0.1667
}

// A penalty on the parameters, added to the gradient of a cost.
func ExampleRidge() {
	params, grad := []float32{3, -4}, []float32{1, 1}
	fmt.Println(loss.Ridge{Strength: 0.5}.Eval(grad, params), grad)
	// Output: 6.25 [2.5 -1]
}
