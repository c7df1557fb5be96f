package recipe

import (
	"context"
	"testing"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/scenario/flocking"
)

// BenchmarkFlight is one flight of 200 steps of 50 robots that a WD-GNN of the
// paper's size keeps together: simulator, graph, shift, model and learning.
func BenchmarkFlight(b *testing.B) {
	m := FlockSpec{Kind: WideDeep, Order: 3, Features: 32}
	network, err := gnn.NewRandom(m.Architecture(), random.Stream(1, "flight"))
	if err != nil {
		b.Fatal(err)
	}
	network.Params.Readout.Weight.Zero()
	for c := range 2 { // feature c brakes and keeps robots apart, the deep part adds nothing
		network.Params.Readout.Weight.Set(c, c, 1)
		network.Params.Wide.Taps[0].Set(c, c, -1)
		network.Params.Wide.Taps[0].Set(4+c, c, 1)
		for _, tap := range network.Params.Deep[0].Taps {
			for f := range tap.Rows {
				tap.Set(f, c, 0)
			}
		}
		network.Params.Deep[0].Bias[c] = 0
	}
	for _, cost := range []flocking.Cost{"", flocking.CostVariation, flocking.CostNeighborhood} {
		name := string(cost)
		if cost == "" {
			name = "frozen"
		}
		b.Run(name, func(b *testing.B) {
			p := &Pilot{Model: network, Shift: graph.ShiftSpectral, Cost: cost, Rule: OnlineFlight(0.05, 1)}
			b.ReportAllocs()
			for b.Loop() {
				s, err := flocking.New(flocking.Default(), random.Stream(1, "start"))
				if err != nil {
					b.Fatal(err)
				}
				l, err := p.Learner(s.Config().Robots)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := p.Fly(context.Background(), s, l, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
