package recipe

import (
	"math"
	"testing"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/random"
)

// Norms are those of the rows that the forward pass shifts, layer by layer and
// hop by hop; the last hop of a layer is not sent.
func TestRowNorms(t *testing.T) {
	rng := random.Stream(4, "norms")
	const nodes, samples = 6, 3
	g, err := graph.ErdosRenyi(nodes, 0.6, rng)
	if err != nil {
		t.Fatal(err)
	}
	s, err := graph.ShiftRowStochastic.Of(g)
	if err != nil {
		t.Fatal(err)
	}
	net, err := gnn.NewRandom(gnn.Config{
		In: 2, Features: 3, Wide: &gnn.WideConfig{Order: 2}, Deep: []gnn.LayerConfig{{Order: 1, Features: 4}, {Order: 2, Features: 3}},
	}, rng)
	if err != nil {
		t.Fatal(err)
	}
	signals := mat.NewDense(samples*nodes, 2, nil)
	for k := range signals.Data {
		signals.Data[k] = float32(rng.NormFloat64())
	}
	want := make([]float64, 4) // X, SX; H, SH
	note := func(at int, x mat.Dense) {
		for i := range x.Rows {
			sum := 0.0
			for _, v := range x.Row(i) {
				sum += float64(v) * float64(v)
			}
			want[at] = max(want[at], math.Sqrt(sum))
		}
	}
	for k := range samples {
		x := signals.View(k*nodes, 0, nodes, 2)
		shifted := mat.NewDense(nodes, 2, nil)
		mat.Serial.SpMM(shifted, s, x)
		note(0, x)
		note(1, shifted)
		h := mat.NewDense(nodes, 4, nil)
		z := mat.NewDense(nodes, 4, nil)
		new(gnn.Shifter).Shift(z, s, x)
		net.Deep().Layers[0].ApplyShifted(nil, h, z)
		further := mat.NewDense(nodes, 4, nil)
		mat.Serial.SpMM(further, s, h)
		note(2, h)
		note(3, further)
	}
	got := RowNorms(net, s, signals, nil)
	if len(got) != len(want) {
		t.Fatalf("got %d norms, want %d", len(got), len(want))
	}
	for k := range want {
		if math.Abs(got[k]-want[k]) > 1e-5*want[k] {
			t.Errorf("norm %d: got %v, want %v", k, got[k], want[k])
		}
	}
}
