package online_test

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/rule"
)

// doubler is a tiny world: three nodes in a line show a number each, and want
// to hear twice the sum of their neighbours'.
type doubler struct {
	shift, mixing *mat.CSR
	signal        mat.Dense
	steps         int
}

func newDoubler(steps int) *doubler {
	line := graph.Grid(1, 3)
	shift, err := graph.ShiftAdjacency.Of(line)
	if err != nil {
		panic(err)
	}
	mixing, err := graph.Metropolis(line)
	if err != nil {
		panic(err)
	}
	return &doubler{shift, mixing, mat.NewDense(3, 1, nil), steps}
}

// Samples shows signals that come around every four steps.
func (d *doubler) Samples() iter.Seq[graph.Sample] {
	return func(yield func(graph.Sample) bool) {
		for t := range d.steps {
			for i := range 3 {
				d.signal.Set(i, 0, float32((t+i)*(t+i+1)%4)/2)
			}
			if !yield(graph.Sample{Time: t, Shift: d.shift, Mixing: d.mixing, Signal: d.signal}) {
				return
			}
		}
	}
}

// Reveal says what the answer should have been.
func (d *doubler) Reveal(mat.Dense) loss.Loss {
	want := mat.NewDense(3, 1, nil)
	mat.Serial.SpMM(want, d.shift, d.signal)
	mat.Serial.Scale(want, 2)
	return loss.MSE{Target: want}
}

// A graph filter with taps 0 learns while it is used: Y = X·A_0 + SX·A_1 should
// end at A_0 = 0, A_1 = 2.
func ExamplePlay() {
	model, err := gnn.New(gnn.Config{In: 1, Features: 1, Wide: &gnn.WideConfig{Order: 1}, NoBias: true})
	if err != nil {
		panic(err)
	}
	observer, err := online.NewObserver(model, online.Config{Nodes: 3})
	if err != nil {
		panic(err)
	}
	learner, err := online.NewConsensus(observer, rule.Config{StepSize: rule.StepSize{Value: 0.1}})
	if err != nil {
		panic(err)
	}
	y := mat.NewDense(3, 1, nil)
	err = online.Play(context.Background(), y, learner, newDoubler(41), func(t int, y mat.Dense, j loss.Loss) error {
		if t%10 == 0 {
			fmt.Printf("step %2d: cost %.3f\n", t, j.Eval(mat.Dense{}, y))
		}
		return nil
	})
	if err != nil {
		panic(err)
	}
	taps := make([]float32, 2)
	for i := range 3 {
		learner.Taps(taps, i)
		fmt.Printf("node %d: taps %.2f\n", i, taps)
	}
	// Output:
	// step  0: cost 4.000
	// step 10: cost 0.215
	// step 20: cost 0.041
	// step 30: cost 0.028
	// step 40: cost 0.005
	// node 0: taps [0.13 1.91]
	// node 1: taps [0.12 1.89]
	// node 2: taps [0.12 1.90]
}

// The preset own learns in coordinates that come from the inputs of training. The
// same world as above is learned in a few steps.
func ExampleInputMoment() {
	model, err := gnn.New(gnn.Config{In: 1, Features: 1, Wide: &gnn.WideConfig{Order: 1}, NoBias: true})
	if err != nil {
		panic(err)
	}
	world, seen := newDoubler(9), mat.NewDense(4*3, 1, nil) // four signals, as training would have had
	for sample := range newDoubler(4).Samples() {
		seen.View(3*sample.Time, 0, 3, 1).CopyFrom(sample.Signal)
	}
	own := rule.Config{Newton: &rule.Newton{Prior: 10}}
	observer, err := online.NewObserver(model, online.Config{
		Nodes: 3, Moment: online.InputMoment(model, world.shift, seen, nil, nil, nil),
	})
	if err != nil {
		panic(err)
	}
	learner, err := online.NewConsensus(observer, own)
	if err != nil {
		panic(err)
	}
	y := mat.NewDense(3, 1, nil)
	err = online.Play(context.Background(), y, learner, world, func(t int, y mat.Dense, j loss.Loss) error {
		if t%2 == 0 {
			fmt.Printf("step %d: cost %.3f\n", t, j.Eval(mat.Dense{}, y))
		}
		return nil
	})
	if err != nil {
		panic(err)
	}
	// Output:
	// step 0: cost 4.000
	// step 2: cost 0.599
	// step 4: cost 0.001
	// step 6: cost 0.000
	// step 8: cost 0.000
}

// A learner that diverges says so and keeps what it had.
func ExampleCentralized() {
	model, err := gnn.New(gnn.Config{In: 1, Features: 1, Wide: &gnn.WideConfig{Order: 1}, NoBias: true})
	if err != nil {
		panic(err)
	}
	observer, err := online.NewObserver(model, online.Config{Nodes: 3})
	if err != nil {
		panic(err)
	}
	for _, gamma := range []float64{0.1, 1e3} {
		learner, err := online.NewCentralized(observer, rule.Config{StepSize: rule.StepSize{Value: gamma}})
		if err != nil {
			panic(err)
		}
		err = online.Play(context.Background(), mat.NewDense(3, 1, nil), learner, newDoubler(400), nil)
		drift := learner.Drift()
		fmt.Printf("γ = %v: %d steps, diverged: %t\n", gamma, drift.Steps, errors.Is(err, online.ErrDiverged))
	}
	// Output:
	// γ = 0.1: 400 steps, diverged: false
	// γ = 1000: 2 steps, diverged: true
}
