package experiment

import (
	"math/rand/v2"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/scenario/sourceloc"
	"github.com/wdgnn/wdgnn/train"
)

// detection draws signals that spread over the world's network, for a model
// that hears them over g: the network itself or what is left of it. The shift
// is A/λmax of g; each detector is asked for the community of the source.
func detection(m *gnn.WideDeep, world *sourceloc.World, g *graph.Graph, samples int, rng *rand.Rand) (*train.Signals, *train.Classes, error) {
	signals, labels := world.Draw(samples, rng)
	classes, err := train.NewSampleClasses(labels, len(world.Detectors), world.Config.Communities)
	if err != nil {
		return nil, nil, err
	}
	data, err := train.NewSignals(m, train.SignalsConfig{
		Graph: g, Operator: graph.ShiftSpectral, Signals: signals, Read: world.Detectors, Targets: classes,
	})
	return data, classes, err
}
