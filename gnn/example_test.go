package gnn_test

import (
	"fmt"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/random"
)

// A filter that adds to every node the sum of its neighbours and half the sum
// of theirs.
func ExampleFilter() {
	s, err := graph.ShiftAdjacency.Of(graph.Ring(5))
	if err != nil {
		fmt.Println(err)
		return
	}
	f := gnn.NewFilter(1, 1, 2, false)
	for k, a := range []float32{1, 1, 0.5} {
		f.Taps[k].Set(0, 0, a)
	}
	x := mat.NewDense(5, 1, []float32{1, 0, 0, 0, 0}) // a pulse at node 0
	y := mat.NewDense(5, 1, nil)
	f.Forward(y, s, x, new(gnn.FilterTape))
	fmt.Println(y.Data)
	// Output: [2 1 0.5 0.5 1]
}

// Permutation equivariance: where nodes get other numbers, their outputs go with them.
func Example_permutationEquivariance() {
	model, err := gnn.NewRandom(gnn.Config{
		In: 1, Features: 4, Outputs: 1, Wide: &gnn.WideConfig{Order: 2}, Deep: []gnn.LayerConfig{{Order: 2, Features: 4}},
	}, random.Stream(1, "init"))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, number := range [][]int{{0, 1, 2, 3}, {2, 0, 3, 1}} { // a path of four nodes, by two numberings
		var links []graph.Edge
		x, y := mat.NewDense(4, 1, nil), mat.NewDense(4, 1, nil)
		for i := range 4 {
			x.Set(number[i], 0, float32(i))
			if i > 0 {
				links = append(links, graph.Edge{From: number[i-1], To: number[i], Weight: 1})
			}
		}
		g, err := graph.FromEdges(4, links, false)
		if err != nil {
			fmt.Println(err)
			return
		}
		s, err := graph.ShiftSymmetric.Of(g)
		if err != nil {
			fmt.Println(err)
			return
		}
		model.Predict(y, s, x)
		var along []float32 // the path
		for _, k := range number {
			along = append(along, y.At(k, 0))
		}
		fmt.Printf("%.4f\n", along)
	}
	// Output:
	// [-0.3603 -0.7720 -0.4332 -0.8686]
	// [-0.3603 -0.7720 -0.4332 -0.8686]
}

// The output of a WD-GNN at two nodes, for a batch of three signals.
func ExampleWideDeep() {
	g := graph.Grid(4, 4)
	s, err := graph.ShiftSymmetric.Of(g)
	if err != nil {
		fmt.Println(err)
		return
	}
	model, err := gnn.NewRandom(gnn.Config{
		In: 1, Features: 8, Outputs: 2,
		Wide: &gnn.WideConfig{Order: 3},
		Deep: []gnn.LayerConfig{{Order: 3, Features: 8}, {Order: 2, Features: 8}},
	}, random.Stream(1, "init"))
	if err != nil {
		fmt.Println(err)
		return
	}
	const batch = 3
	x := mat.NewDense(16*batch, 1, nil) // row i·3+b is node i of signal b
	for b := range batch {
		x.Set(b*batch+b, 0, 1)
	}
	in := gnn.Input{Shift: s, Shifted: mat.NewDense(16*batch, model.InputOrder()+1, nil)}
	new(gnn.Shifter).Shift(in.Shifted, s, x)
	if in.Read, err = gnn.NewRows(s, []int{0, 15}, model.LastOrder()); err != nil {
		fmt.Println(err)
		return
	}
	in.ReadShifted = mat.NewDense(2*batch, in.Shifted.Cols, nil)
	in.Read.Gather(in.ReadShifted, in.Shifted, batch)

	y := mat.NewDense(2*batch, model.Outputs(), nil)
	model.Forward(y, &in, new(gnn.Tape))
	fmt.Println(y.Rows, "rows of", y.Cols, "outputs: two nodes, three signals each")
	// Output: 6 rows of 2 outputs: two nodes, three signals each
}

// On a graph that changes at every step information moves one hop per step.
func ExampleDelayedFilter() {
	f := gnn.NewFilter(1, 1, 2, false)
	for k := range f.Taps {
		f.Taps[k].Set(0, 0, 1)
	}
	d := gnn.DelayedFilter{Filter: f}
	y := mat.NewDense(4, 1, nil)
	for t := range 3 {
		// At time t the only link leads from node t to node t+1.
		s, err := mat.FromEntries(4, 4, []mat.Entry{{Row: t + 1, Col: t, Val: 1}})
		if err != nil {
			fmt.Println(err)
			return
		}
		x := mat.NewDense(4, 1, nil)
		if t == 0 {
			x.Set(1, 0, 1) // a pulse at node 1, at time 0 only
		}
		d.Step(y, s, x)
		fmt.Println(y.Data)
	}
	// Output:
	// [0 1 0 0]
	// [0 0 1 0]
	// [0 0 0 1]
}
