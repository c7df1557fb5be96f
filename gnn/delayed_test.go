package gnn_test

import (
	"slices"
	"testing"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/random"
)

// Two signals at a time have the bits of each alone, and delay lines that are put back
// go on with theirs.
func TestDelayedBatchAndMemory(t *testing.T) {
	const nodes, features, order, steps = 7, 3, 2, 5
	rng := random.Stream(4, "delayed")
	m, err := gnn.NewRandom(gnn.Config{
		In: features, Features: 4, Outputs: 2, Wide: &gnn.WideConfig{Order: order},
		Deep: []gnn.LayerConfig{{Order: order, Features: 5, Activation: gnn.Tanh}, {Order: 1, Features: 4}},
	}, rng)
	if err != nil {
		t.Fatal(err)
	}
	both, each := &gnn.Delayed{Model: m}, [2]*gnn.Delayed{{Model: m}, {Model: m}}
	x, y := mat.NewDense(2*nodes, features, nil), mat.NewDense(2*nodes, 2, nil)
	own, answer := mat.NewDense(nodes, features, nil), mat.NewDense(nodes, 2, nil)
	for k := range steps {
		g, err := graph.ErdosRenyi(nodes, 0.4, rng)
		if err != nil {
			t.Fatal(err)
		}
		s, err := graph.ShiftRowStochastic.Of(g)
		if err != nil {
			t.Fatal(err)
		}
		for i := range x.Data {
			x.Data[i] = rng.Float32() - 0.5
		}
		if k == steps/2 {
			memory := both.Memory()
			both = &gnn.Delayed{Model: m}
			if err := both.Recall(2*nodes, memory); err != nil {
				t.Fatal(err)
			}
		}
		both.Predict(y, s, x)
		both.Advance()
		for b, d := range each {
			for i := range nodes { // sample b of node i is row 2i+b
				copy(own.Row(i), x.Row(2*i+b))
			}
			d.Predict(answer, s, own)
			d.Advance()
			for i := range nodes {
				if got, want := y.Row(2*i+b), answer.Row(i); !slices.Equal(got, want) {
					t.Fatalf("step %d, signal %d, node %d: got %v, want %v", k, b, i, got, want)
				}
			}
		}
	}
}
