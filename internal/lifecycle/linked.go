package lifecycle

import (
	"context"
	"math/rand/v2"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/config"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/train"
)

// World is the section of a scenario that the program links in.
type World interface {
	config.Section
	Draw(c *config.Config) (*Drawn, error)
}

// Drawn are the samples of a [World]: numbers at one node of a graph.
type Drawn struct {
	Shift graph.Shift
	Graph *graph.Graph
	Node  int             // that is read
	Parts map[string]Rows // train, valid, test

	Start   func(gnn.Config) *rand.Rand                // the random stream of a model's starting values
	Seed    uint64                                     // of training
	Measure func(m *gnn.WideDeep, part string) float64 // root mean squared error
}

// Rows are samples of a part, one by one.
type Rows struct {
	Z      mat.Dense // what a model reads: [Sᵏx]_n, samples×(K+1)
	Values mat.Dense // what it should say, samples×1
	Means  []float64 // what was taken from the values
}

// drawLinked makes a dataset of what w draws.
func drawLinked(c *config.Config, w World) (*Dataset, error) {
	d, err := w.Draw(c)
	if err != nil {
		return nil, err
	}
	part := func(name string) *Part {
		rows := d.Parts[name]
		p := &Part{Samples: rows.Z.Rows, shifted: rows.Z, means: rows.Means}
		p.Values = rows.Values
		return p
	}
	return &Dataset{
		task: config.Regress, Shift: d.Shift, Nodes: d.Graph.Nodes(), Edges: d.Graph.Edges(), in: 1, outputs: 1,
		read: []int{d.Node}, graph: d.Graph, each: 1, criterion: loss.SmoothL1{}, scenario: d,
		Train: part("train"), Valid: part("valid"), Test: part("test"),
	}, nil
}

// start implements [scenario].
func (d *Drawn) start(m gnn.Config) *rand.Rand { return d.Start(m) }

// tune implements [scenario].
func (d *Drawn) tune(c *train.Config) { c.Seed = d.Seed }

// grow implements [scenario].
func (d *Drawn) grow() (half, all int) { return 0, 0 }

// grown implements [scenario]; it is not called.
func (d *Drawn) grown(context.Context, *gnn.WideDeep) (*Part, error) { return nil, nil }

// measure implements [scenario].
func (d *Drawn) measure(_ context.Context, m *gnn.WideDeep, part string) (float64, error) {
	return d.Measure(m, part), nil
}

// report implements [scenario].
func (d *Drawn) report(_ context.Context, s *Score, _ string, measured float64) error {
	s.RMSE = &measured
	return nil
}

// keep implements [scenario].
func (d *Drawn) keep(*modelfile.Model) {}
