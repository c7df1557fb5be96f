package robust

import (
	"context"
	"testing"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/random"
)

// BenchmarkLost tries all single losses of links of a network of 1,000 nodes that
// hear ten each, with 100 signals and an answer of every node, on two threads: once a
// field of sensors, once nodes that hear anybody.
func BenchmarkLost(b *testing.B) {
	for _, shape := range []string{"field", "anybody"} {
		b.Run(shape, func(b *testing.B) {
			q := thousand(b, shape)
			for b.Loop() {
				l, err := q.Lost(context.Background(), LostConfig{Threads: 2})
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(l.Levels[0].Total), "losses/op")
			}
		})
	}
}

func thousand(b *testing.B, shape string) *Question {
	b.Helper()
	rng := random.Stream(1, "thousand")
	layers := []gnn.LayerConfig{{Order: 3, Features: 16}, {Order: 3, Features: 16}}
	m, err := gnn.NewRandom(gnn.Config{In: 1, Features: 16, Outputs: 5, Wide: &gnn.WideConfig{Order: 3}, Deep: layers}, rng)
	if err != nil {
		b.Fatal(err)
	}
	g, err := graph.ErdosRenyi(1000, 0.01, rng)
	if shape == "field" {
		places := make([][2]float64, 1000)
		for i := range places {
			places[i] = [2]float64{rng.Float64(), rng.Float64()}
		}
		g, err = graph.Geometric(places, 0.0585)
	}
	if err != nil {
		b.Fatal(err)
	}
	x := mat.NewDense(100*1000, 1, nil)
	for i := range x.Data {
		x.Data[i] = float32(rng.NormFloat64())
	}
	b.Logf("%v", g)
	return &Question{
		Network: m, Operator: graph.ShiftRowStochastic, Graphs: []*graph.Graph{g}, Signals: x, Samples: 100, Classify: true,
	}
}
