package outside_test

import (
	"context"
	"fmt"
	"log"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/optim"
	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/train"
)

// Load a graph and signals, build a model, train it, and ask it about a signal:
// in which of five communities did it start? Five nodes, one per community,
// answer.
func Example_train() {
	links := must(modelfile.LoadGraph("../own-data/graph.csv", modelfile.GraphOptions{}))
	values := must(must(modelfile.LoadArray("../own-data/signals.npy")).Float32s()) // 600 samples × 50 nodes
	labels := must(must(modelfile.LoadArray("../own-data/targets.npy")).Int32s())   // 600
	n, read := links.Nodes, []int{5, 15, 25, 35, 45}
	signals := mat.NewDense(len(values), 1, values)

	model := must(gnn.NewRandom(gnn.Config{
		In: 1, Features: 16, Outputs: 5,
		Wide: &gnn.WideConfig{Order: 3},
		Deep: []gnn.LayerConfig{{Order: 3, Features: 16}, {Order: 3, Features: 16}},
	}, random.Stream(1, "init")))
	data := must(train.NewSignals(model, train.SignalsConfig{
		Graph: links.Graph, Operator: graph.ShiftSpectral, Signals: signals, Read: read,
		Targets: must(train.NewSampleClasses(labels, len(read), 5)),
	}))
	must(train.Run(context.Background(), model, train.Job{Train: data, Config: train.Config{
		Epochs: 150, BatchSize: 20, Adam: optim.AdamConfig{StepSize: 0.005},
	}}))

	y := mat.NewDense(n, model.Outputs(), nil)
	model.Predict(y, data.Shift(), signals.View(0, 0, n, 1))
	for _, i := range read {
		fmt.Printf("node %2d: community %d\n", i, mat.Argmax(y.Row(i)))
	}
	fmt.Println("it was", labels[0])
	// Output:
	// node  5: community 1
	// node 15: community 1
	// node 25: community 1
	// node 35: community 1
	// node 45: community 1
	// it was 1
}

func must[T any](v T, err error) T {
	check(err)
	return v
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
