package outside_test

import (
	"context"
	"fmt"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/rule"
	"github.com/wdgnn/wdgnn/train"
)

// Quantile is the cost whose lowest point is a level that outcomes stay below
// with probability q, for models with one output:
//
//	J_i = max(q (t_i - y_i), (1-q) (y_i - t_i))
type Quantile struct {
	Q      float32
	Target mat.Dense // t, a row per row of the output
}

// EvalNode makes it a loss.Local: what nodes learn from online.
func (l Quantile) EvalNode(i int, dy, y []float32) float64 {
	above, slope := y[0]-l.Target.At(i, 0), -l.Q
	if above > 0 {
		slope = 1 - l.Q
	}
	copy(dy, []float32{slope}) // dy is nil where only the cost is wanted
	return float64(slope * above)
}

// Eval makes it a loss.Loss: what training steps down.
func (l Quantile) Eval(dy, y mat.Dense) float64 { return loss.Mean(dy, y, l) }

// Rows and Loss make it a train.Objective: a batch has some of the targets.
func (l Quantile) Rows() int { return l.Target.Rows }

func (l Quantile) Loss(_ *train.Memory, rows []int) loss.Loss {
	batch := mat.NewDense(len(rows), l.Target.Cols, nil)
	mat.GatherRows(batch, l.Target, rows)
	return Quantile{l.Q, batch}
}

// Loads pass through the nodes of a ring, which see them coming, roughly. What
// will a load stay below nine times of ten? The model is trained to say; then
// loads grow, and nodes that pay the same cost online follow.
func ExampleQuantile() {
	const n, samples = 10, 400
	ring, rng := graph.Ring(n), random.Stream(1, "loads")
	seen, loads := mat.NewDense(samples*n, 1, nil), mat.NewDense(samples*n, 1, nil)
	for e := range seen.Data {
		seen.Data[e] = rng.Float32()
		loads.Data[e] = seen.Data[e] * (0.5 + rng.Float32())
	}
	model := must(gnn.NewRandom(gnn.Config{In: 1, Features: 1, Wide: &gnn.WideConfig{Order: 1}}, random.Stream(1, "init")))
	data := must(train.NewSignals(model, train.SignalsConfig{
		Graph: ring, Operator: graph.ShiftSymmetric, Signals: seen, Targets: Quantile{0.9, loads},
	}))
	must(train.Run(context.Background(), model, train.Job{Train: data, Config: train.Config{Epochs: 50, BatchSize: 10}}))

	sample := graph.Sample{Shift: data.Shift(), Mixing: must(graph.Metropolis(ring))}
	observer := must(online.NewObserver(model, online.Config{Nodes: n}))
	below := func(learner online.Learner) float64 { // in the second half of the stream, in percent
		count, y := 0, mat.NewDense(n, 1, nil)
		for t := range samples {
			sample.Time, sample.Signal = t, seen.View(t*n, 0, n, 1)
			check(learner.Observe(sample))
			check(learner.Predict(y))
			cost := Quantile{0.9, loads.View(t*n, 0, n, 1)}
			for i, level := range y.Data {
				if t >= samples/2 && cost.Target.At(i, 0) <= level {
					count++
				}
			}
			check(learner.Update(cost))
		}
		return 100 * float64(count) / (samples / 2 * n)
	}
	fmt.Printf("as trained        %2.0f %%\n", below(observer))
	mat.Serial.Scale(loads, 1.5)
	follow := rule.Config{StepSize: rule.StepSize{Value: 0.05}}
	fmt.Printf("larger, frozen    %2.0f %%\n", below(observer))
	fmt.Printf("larger, learning  %2.0f %%\n", below(must(online.NewConsensus(observer, follow))))
	// Output:
	// as trained        90 %
	// larger, frozen    55 %
	// larger, learning  91 %
}
