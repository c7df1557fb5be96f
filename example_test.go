package wdgnn_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/optim"
)

// Load a trained model and the graph it runs on, predict from what the nodes
// observe, hear what the right answer was, move the wide part by eq. (7), save.
func Example() {
	model := must(modelfile.Load("examples/own-data/model.safetensors"))
	file := must(modelfile.LoadGraph("examples/own-data/graph.csv", modelfile.GraphOptions{}))
	signals := must(must(modelfile.LoadArray("examples/own-data/signals.npy")).Float32s())
	net, n := model.Network, file.Nodes

	s := must(model.Meta.Shift.Of(file.Graph)) // S, symmetric here
	in := &gnn.Input{Shift: s, ShiftT: s, Shifted: mat.NewDense(n, net.InputOrder()+1, nil)}
	new(gnn.Shifter).Shift(in.Shifted, s, mat.NewDense(n, 1, signals[8*n:9*n])) // [X SX … SᴷX]
	y, dy, tape := mat.NewDense(n, net.Outputs(), nil), mat.NewDense(n, net.Outputs(), nil), new(gnn.Tape)
	net.Forward(y, in, tape)
	fmt.Printf("node 15 scores the communities %.0f\n", y.Row(15))

	truth := loss.CrossEntropy{Labels: labels(n, 15, 0)} // node 15 is told: it was community 0
	before := truth.Eval(dy, y)
	grad, wide := gnn.NewParams(net.Config, nil), net.Params.WideLen()
	net.Backward(&grad, mat.Dense{}, dy, in, tape)
	must(optim.NewSGD(wide, optim.SGDConfig{StepSize: 0.3})).Step(net.Params.Flat[:wide], grad.Flat[:wide])
	net.Forward(y, in, tape)
	fmt.Printf("its loss falls from %.1f to %.1f\n", before, truth.Eval(mat.Dense{}, y))

	dir := must(os.MkdirTemp("", "wdgnn"))
	defer os.RemoveAll(dir)
	if err := modelfile.Save(filepath.Join(dir, "model.safetensors"), model); err != nil {
		log.Fatal(err)
	}
	// Output:
	// node 15 scores the communities [0 -10 1 0 -6]
	// its loss falls from 1.5 to 0.1
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
