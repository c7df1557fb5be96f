package lifecycle

import (
	"context"
	"errors"
	"fmt"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/config"
	"github.com/wdgnn/wdgnn/internal/data"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/scenario/sourceloc"
	"github.com/wdgnn/wdgnn/train"
)

// Dataset is what a configuration trains, validates and tests on. It is
// read-only once loaded.
type Dataset struct {
	task    config.Task
	Shift   graph.Shift
	Nodes   int   // N
	Edges   int   // of all steps together; 0 if every sample has a graph of its own
	Steps   int   // T of trajectories; 0 for signals on one graph
	in      int   // F, features of the signals
	outputs int   // classes, or columns of the targets
	read    []int // nodes that are read; nil means all

	Train, Valid, Test *Part // the last two may have no samples

	graph     *graph.Graph    // of signals
	steps     []*graph.Graph  // of trajectories
	spaceTime *mat.CSR        // of trajectories
	each      int             // rows of a sample that were shifted before; 0 if signals were not
	criterion loss.Regression // nil for a classification
	scenario  scenario        // nil unless it has more to say than its samples
	forecast  *forecasts      // nil unless samples are forecasts
}

// Delayed says whether samples are trajectories on a graph that changes.
func (d *Dataset) Delayed() bool { return d.Steps > 0 }

// scale returns what the shift divides the one graph of all samples by, 0 if nothing.
func (d *Dataset) scale() float64 {
	if d.graph == nil {
		return 0
	}
	return d.Shift.Scale(d.graph)
}

// Flights says whether samples are flights of robots, each with graphs of its
// own.
func (d *Dataset) Flights() bool { return d.each > 1 }

// Notes say what was done with the files of d, for people to read.
func (d *Dataset) Notes() []string {
	if d.forecast == nil {
		return nil
	}
	return d.forecast.notes
}

// Part is a number of samples with their targets.
type Part struct {
	Samples int

	signals mat.Dense // (samples·N)×F, or (samples·T·N)×F
	shifted mat.Dense // instead of signals: [Z_0 … Z_K], (samples·each)×((K+1)·F)
	means   []float64 // what was taken from the targets of a row; nil means nothing
	data.Targets
}

// loadDataset reads the files, or draws the scenario, of a configuration.
func loadDataset(ctx context.Context, c *config.Config) (*Dataset, error) {
	if !c.Trains() {
		return nil, errors.New("neither data nor scenario nor forecast: say what to train on")
	}
	switch {
	case c.Data != nil:
		return loadFiles(c)
	case c.Forecast != nil:
		return loadForecast(c)
	}
	return drawScenario(ctx, c)
}

func drawSourceloc(c *config.Config) (*Dataset, error) {
	s := c.Settings()
	world, err := sourceloc.New(s.World(), random.Stream(c.Seed, "world"))
	if err != nil {
		return nil, err
	}
	d := &Dataset{
		task: config.Classify, Shift: graph.ShiftSpectral, Nodes: world.Graph.Nodes(), Edges: world.Graph.Edges(),
		in: 1, outputs: s.Communities, read: world.Detectors, graph: world.Graph,
	}
	draw := func(samples int, stream string) *Part {
		signals, labels := world.Draw(samples, random.Stream(c.Seed, stream))
		p := &Part{Samples: samples, signals: signals}
		for _, l := range labels {
			for range d.read {
				p.Labels = append(p.Labels, l)
			}
		}
		return p
	}
	d.Train, d.Valid, d.Test = draw(s.TrainSamples, "train"), draw(s.ValidSamples, "valid"), draw(s.TestSamples, "test")
	return d, nil
}

// bound is a part made ready for a model.
type bound struct {
	data    train.Data
	classes *train.Classes                   // nil unless the task is to classify
	correct func(p *train.Pass, y mat.Dense) // changes outputs before they are counted; nil means none
}

// bind shifts the signals of a part for m, in a network whose links fail as
// outage says.
func (d *Dataset) bind(m *gnn.WideDeep, p *Part, outage train.Outage) (bound, error) {
	if m.Config.In != d.in || m.Outputs() != d.outputs {
		return bound{}, fmt.Errorf("the model maps %d features to %d outputs, the data ask for %d to %d",
			m.Config.In, m.Outputs(), d.in, d.outputs)
	}
	var (
		b       bound
		targets train.Objective
		err     error
	)
	if d.task == config.Classify {
		b.classes, err = train.NewClasses(p.Labels, d.outputs)
		targets = b.classes
	} else {
		targets, err = train.NewTargets(d.criterion, p.Values, p.Mask)
	}
	if err != nil {
		return bound{}, err
	}
	b.data, err = d.samples(m, p, targets, outage)
	return b, err
}

// samples are those of p for m.
func (d *Dataset) samples(m *gnn.WideDeep, p *Part, targets train.Objective, outage train.Outage) (train.Data, error) {
	switch {
	case d.each == 1:
		return train.NewExamples(m, p.shifted, targets)
	case d.each > 1:
		return train.NewShifted(m, p.shifted, d.each, targets)
	case !d.Delayed():
		return train.NewSignals(m, train.SignalsConfig{
			Graph: d.graph, Operator: d.Shift, Signals: p.signals, Read: d.read, Targets: targets, Outage: outage, Sparing: d.forecast != nil,
		})
	}
	if outage != (train.Outage{}) {
		said := fmt.Sprintf("train.outage is %v to %v", outage.From, outage.To)
		if outage.Subgraphs == 0 && outage.From == outage.To {
			said = fmt.Sprintf("train.outage_prob is %v", outage.From)
		}
		return nil, fmt.Errorf("%s, but a graph with a time column loses no links at random; leave it out", said)
	}
	rows := d.spaceTime.Rows
	trajectories := make([]graph.Sample, p.Samples)
	for s := range trajectories {
		trajectories[s] = graph.Sample{Shift: d.spaceTime, Signal: p.signals.View(s*rows, 0, rows, p.signals.Cols)}
	}
	return train.NewGraphs(m, trajectories, targets)
}
