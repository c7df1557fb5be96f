package wdgnn_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/modelfile"
)

// Load a trained model, the graph it runs on and what the nodes observe; ask
// node 5 in which of five communities the first signal started; save the model.
func Example() {
	model := must(modelfile.Load("examples/own-data/model.safetensors"))
	file := must(modelfile.LoadGraph("examples/own-data/graph.csv", modelfile.GraphOptions{}))
	signals := must(must(modelfile.LoadArray("examples/own-data/signals.npy")).Float32s())

	net, n := model.Network, file.Nodes
	s := must(model.Meta.Shift.Of(file.Graph))       // S, N×N
	x := mat.NewDense(n, net.Config.In, signals[:n]) // X of the first sample, N×1
	z := mat.NewDense(n, net.InputOrder()+1, nil)    // [X SX … SᴷX]
	new(gnn.Shifter).Shift(z, s, x)
	y := mat.NewDense(n, net.Outputs(), nil) // scores, N×5
	net.Forward(y, &gnn.Input{Shift: s, Shifted: z}, new(gnn.Tape))
	fmt.Printf("%d nodes, %d parameters; scores of node 5: %.0f\n", n, len(net.Params.Flat), y.Row(5))

	dir := must(os.MkdirTemp("", "wdgnn"))
	defer os.RemoveAll(dir)
	if err := modelfile.Save(filepath.Join(dir, "model.safetensors"), model); err != nil {
		log.Fatal(err)
	}
	// Output:
	// 50 nodes, 1288 parameters; scores of node 5: [-2 14 -3 -2 -18]
}

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}
