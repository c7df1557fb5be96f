package lifecycle

import (
	"fmt"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/config"
	"github.com/wdgnn/wdgnn/internal/data"
	"github.com/wdgnn/wdgnn/mat"
)

// loader reads the samples of a configuration.
type loader struct {
	c     *config.Config
	set   *Dataset
	first *data.Observed // the graph, and the signals of the data section itself
	asked data.TargetFiles
}

// loadFiles reads the data section of a configuration.
func loadFiles(c *config.Config) (*Dataset, error) {
	d := c.Data
	first, err := data.Load(data.Files{Graph: c.Abs(d.Graph), Signals: c.Abs(d.Signals), Nodes: d.Nodes, Directed: d.Directed})
	if err != nil {
		return nil, err
	}
	set, err := newDataset(first, d.Shift)
	if err != nil {
		return nil, err
	}
	set.task, set.read = d.Task, d.Read
	for _, i := range d.Read {
		if i >= set.Nodes {
			return nil, fmt.Errorf("data.read names node %d of a graph of %d nodes, which count from 0", i, set.Nodes)
		}
	}
	classify := d.Task == config.Classify
	if !classify {
		set.criterion = d.Criterion()
	}
	l := &loader{c: c, set: set, first: first, asked: data.TargetFiles{
		Read: d.Read, Classify: classify, Outputs: d.Classes, Loss: set.criterion,
	}}
	whole, err := l.part(&first.Signals, config.Files{Targets: d.Targets, Mask: d.Mask})
	if err != nil {
		return nil, err
	}
	if err := l.divide(whole); err != nil {
		return nil, err
	}
	if classify && d.Classes != 0 {
		set.outputs = d.Classes
	}
	if classify && set.outputs < 2 {
		return nil, fmt.Errorf("%s: there is one class only, nothing to tell apart", c.Abs(d.Targets))
	}
	return set, nil
}

// part reads the targets of signals.
func (l *loader) part(s *data.Signals, files config.Files) (*Part, error) {
	l.asked.Targets, l.asked.Mask = l.c.Abs(files.Targets), pathOf(l.c, files.Mask)
	t, err := l.first.Targets(s, l.asked)
	if err != nil {
		return nil, err
	}
	l.set.outputs = max(l.set.outputs, t.Outputs)
	if !l.asked.Classify {
		l.asked.Outputs = t.Outputs
	}
	return &Part{Samples: s.Samples, signals: s.Rows, Targets: *t}, nil
}

// pathOf returns a path of a configuration as seen from here; none stays none.
func pathOf(c *config.Config, p config.Path) string {
	if p == "" {
		return ""
	}
	return c.Abs(p)
}

// newDataset returns a dataset without samples on an observed graph.
func newDataset(o *data.Observed, shift graph.Shift) (*Dataset, error) {
	d := &Dataset{Shift: shift, Nodes: o.Nodes, Steps: len(o.Steps), in: o.Rows.Cols, graph: o.Graph}
	if !o.Delayed() {
		d.Edges = o.Graph.Edges()
		return d, nil
	}
	d.steps = o.Steps
	shifts := make([]*mat.CSR, len(o.Steps))
	for t, g := range o.Steps {
		s, err := shift.Of(g)
		if err != nil {
			return nil, fmt.Errorf("%s: step %d: %w", o.Files.Graph, t, err)
		}
		shifts[t] = s
		d.Edges += g.Edges()
	}
	d.spaceTime = graph.SpaceTime(shifts)
	return d, nil
}
