package wdgnn_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/rule"
)

// Load a trained model and the graph it runs on, predict from what the nodes
// observe, hear what the right answer was, move the wide part by eq. (7), save.
func Example() {
	model := must(modelfile.Load("examples/own-data/model.safetensors"))
	file := must(modelfile.LoadGraph("examples/own-data/graph.csv", modelfile.GraphOptions{}))
	signals := must(must(modelfile.LoadArray("examples/own-data/signals.npy")).Float32s())
	net, n := model.Network, file.Nodes

	sample := graph.Sample{
		Shift:  must(model.Meta.Shift.Of(file.Graph)),    // S
		Signal: mat.NewDense(n, 1, signals[184*n:185*n]), // X
	}
	paper := rule.Paper(true).Ungated() // plain steps of size 0.3, answered at once
	paper.Retrain = rule.RetrainTapsAndBias
	observer := must(online.NewObserver(net, online.Config{Nodes: n}))
	learner := must(online.NewCentralized(observer, paper))
	y := mat.NewDense(n, net.Outputs(), nil)
	check(observer.Observe(sample))
	check(learner.Predict(y))
	fmt.Printf("node 15 scores the communities %.0f\n", y.Row(15))

	truth := loss.CrossEntropy{Labels: labels(n, 15, 3)} // node 15 is told: it was community 3
	before := truth.Eval(mat.Dense{}, y)
	check(learner.Update(truth))
	check(learner.Predict(y))
	fmt.Printf("its loss falls from %.1f to %.1f\n", before, truth.Eval(mat.Dense{}, y))

	dir := must(os.MkdirTemp("", "wdgnn"))
	defer os.RemoveAll(dir)
	learner.Taps(net.Params.Flat[:learner.Basis().TapsLen()])
	check(modelfile.Save(filepath.Join(dir, "model.safetensors"), model))
	// Output:
	// node 15 scores the communities [0 -5 1 1 -2]
	// its loss falls from 1.2 to 1.1
}

// labels are those of n nodes of which one is told its class.
func labels(n, node int, class int32) []int32 {
	all := make([]int32, n)
	for i := range all {
		all[i] = loss.NoLabel
	}
	all[node] = class
	return all
}

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
