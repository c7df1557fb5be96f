package outside_test

import (
	"fmt"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/rule"
)

// A trained model meets a stream of signals; from the hundredth on, links are
// lost. Nodes predict, hear what was right, and learn.
func Example_online() {
	file := must(modelfile.Load("../own-data/model.safetensors"))
	mean, count, _ := file.Moment() // of the inputs in training: what nodes measure theirs by
	c := online.Config{Nodes: 50, Read: file.Meta.Nodes}
	c.Moment = &rule.SecondMoment{Inputs: mean.Rows - 1, Count: count, Mean: mean.Data}
	samples, costs := stream(file.Meta.Shift, c.Nodes, c.Read)
	y := mat.NewDense(c.Nodes, file.Network.Outputs(), nil)
	observer := must(online.NewObserver(file.Network, c))
	learner := must(online.NewConsensus(observer, rule.Own()))
	var frozen, learning online.Meter
	for t, sample := range samples {
		check(observer.Observe(sample))
		check(observer.Predict(y)) // what the model as trained says
		frozen.Watch(y, costs[t])
		check(learner.Predict(y))
		learning.Watch(y, costs[t])
		check(learner.Update(costs[t]))
	}
	fmt.Printf("frozen: %.0f %% right\nlearning: %.0f %% right\n", 100*frozen.Accuracy(), 100*learning.Accuracy())
	// Output:
	// frozen: 89 % right
	// learning: 96 % right
}

// stream returns what the network shows at every step, and what answers cost.
func stream(shift graph.Shift, n int, read []int) (samples []graph.Sample, costs []loss.Loss) {
	links := must(modelfile.LoadGraph("../own-data/stream_graph.csv", modelfile.GraphOptions{Nodes: n}))
	values := must(must(modelfile.LoadArray("../own-data/stream_signals.npy")).Float32s())
	right := must(must(modelfile.LoadArray("../own-data/stream_targets.npy")).Int32s())
	at := func(g *graph.Graph) graph.Sample {
		return graph.Sample{Shift: must(shift.Of(g)), Mixing: must(graph.Metropolis(g))}
	}
	whole, torn := at(links.Steps[0]), at(links.Steps[100])
	for t := range right {
		sample := whole
		if t >= 100 {
			sample = torn
		}
		sample.Time, sample.Signal = t, mat.NewDense(n, 1, values[t*n:(t+1)*n])
		samples = append(samples, sample)
		labels := make([]int32, n)
		for i := range labels {
			labels[i] = loss.NoLabel
		}
		for _, i := range read {
			labels[i] = right[t]
		}
		costs = append(costs, loss.CrossEntropy{Labels: labels})
	}
	return samples, costs
}
