package box

import (
	"errors"
	"fmt"
	"slices"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/internal/data"
	"github.com/wdgnn/wdgnn/loss"
)

// loadFiles reads the files of a world that is a stream.
func (b *Box) loadFiles(p *agent.Plan) (err error) {
	switch w := &b.World; {
	case w.Kind == WorldMQTT:
		b.sensed, err = b.newMQTT(p)
	case w.Kind != WorldStream:
	case p.Forecast != nil && w.Series == "":
		return errors.New("world: the model forecasts: give its stream as a series of readings, world.series, in place of signals and targets")
	case p.Forecast == nil && w.Series != "":
		return errors.New("world: a series of readings is for models that forecast, and this one does not; give signals and targets")
	case p.Forecast != nil:
		b.series, err = b.loadSeries(p)
	default:
		b.files, err = b.loadStream()
	}
	return err
}

// loadStream reads the files of a stream. What is wrong with them is said before
// anything is opened.
func (b *Box) loadStream() (*data.Stream, error) {
	w, m := &b.World, b.model
	if (b.cost == host.Gradient || b.cost == host.Curved) && w.Targets != "" {
		return nil, fmt.Errorf("world: targets do not say how steep a cost is, and cost is %s; leave one out, or try cost: mse", b.cost)
	}
	regression, _ := b.cost.Kind().(loss.Regression)
	own := make([]int, len(b.nodes)) // ascending
	for k, node := range b.nodes {
		own[k] = int(node)
	}
	s, err := data.LoadStream(data.StreamFiles{
		Graph: b.abs(w.Graph), Delayed: m.Meta.Delayed, Signals: b.abs(w.Signals), Features: m.Network.Config.In, Keep: own,
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
