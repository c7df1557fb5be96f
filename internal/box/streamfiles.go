package box

import (
	"errors"
	"fmt"
	"slices"

	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/internal/data"
	"github.com/wdgnn/wdgnn/loss"
)

// loadStream reads the files of a stream. What is wrong with them is said before
// anything is opened.
func (b *Box) loadStream() (*data.Stream, error) {
	w, m := &b.World, b.model
	if b.cost == host.Gradient && w.Targets != "" {
		return nil, errors.New("world: targets do not say how steep a cost is, and cost is gradient; leave one out, or try cost: mse")
	}
	regression, _ := b.cost.Kind().(loss.Regression)
	s, err := data.LoadStream(data.StreamFiles{
		Graph: b.abs(w.Graph), Delayed: m.Meta.Delayed, Signals: b.abs(w.Signals), Features: m.Network.Config.In,
		TargetFiles: data.TargetFiles{
			Targets: b.abs(w.Targets), Read: m.Meta.Nodes, Outputs: m.Network.Outputs(),
			Classify: b.cost == host.CrossEntropy, Loss: regression,
		},
	})
	if err != nil {
		return nil, fmt.Errorf("world: %w", err)
	}
	if last := slices.Max(b.nodes); int(last) >= s.Nodes {
		return nil, fmt.Errorf("world: %s: signals of %d nodes, and host %d has node %d; nodes count from 0",
			b.abs(w.Signals), s.Nodes, b.Host, last)
	}
	return s, nil
}
