package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/wdgnn/wdgnn/forecast"
	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/config"
	"github.com/wdgnn/wdgnn/internal/data"
	"github.com/wdgnn/wdgnn/internal/robust"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/modelfile"
)

// QuestionOf asks a model observed signals, and the given nodes to answer; nil means
// all. Nodes that have taps of their own use them.
func QuestionOf(m *modelfile.Model, o *data.Observed, nodes []int) (*robust.Question, error) {
	if m.Meta.Delayed != o.Delayed() {
		return nil, delayMismatch(m.Meta.Delayed)
	}
	graphs := o.Steps
	if !o.Delayed() {
		graphs = []*graph.Graph{o.Graph}
	}
	q, err := newQuestion(m, graphs, o.Rows, o.Samples, nodes)
	if err != nil {
		return nil, err
	}
	return q, setUnits(q, m, nil)
}

// QuestionPart asks a model the part of a configuration's data that is called train,
// valid or test; a controller of robots the first flight of it.
func QuestionPart(ctx context.Context, m *modelfile.Model, c *config.Config, part string) (*robust.Question, error) {
	if c.Scenario == "flocking" {
		return newFlights(c).question(m, part)
	}
	a, err := ask(ctx, m, c, part)
	if err != nil {
		return nil, err
	}
	d := a.set
	if d.each > 0 {
		return nil, errors.New("samples of this scenario have no graph in common; name one by --graph, with its signals")
	}
	graphs := d.steps
	if !d.Delayed() {
		graphs = []*graph.Graph{d.graph}
	}
	q, err := newQuestion(m, graphs, a.part.signals, a.part.Samples, d.read)
	if err != nil || d.forecast == nil {
		return q, err
	}
	return q, setUnits(q, m, d.forecast.spec)
}

// newQuestion asks a model signals on graphs.
func newQuestion(m *modelfile.Model, graphs []*graph.Graph, signals mat.Dense, samples int, nodes []int) (*robust.Question, error) {
	if m.Network.Config.In != signals.Cols {
		return nil, fmt.Errorf("the model reads %d features, the signals have %d", m.Network.Config.In, signals.Cols)
	}
	q := &robust.Question{
		Network: m.Network, Operator: m.Meta.Shift, Graphs: graphs, Delayed: m.Meta.Delayed, Signals: signals, Samples: samples,
		Read: nodes, Classify: m.Meta.Task == string(config.Classify),
	}
	own, err := NodeTapsOf(m)
	if err == nil {
		err = own.Fits(q.Nodes())
	}
	if err != nil {
		return nil, err
	}
	if own != nil {
		if own.Heard() > 0 && q.Delayed {
			return nil, errors.New("nodes that weight their neighbours one by one do not have delayed filters; the file is damaged")
		}
		q.Own = own.Answers(m.Network)
	}
	return q, nil
}

// setUnits says what inputs and outputs of a model of forecasts are in readings. Signals of
// a series must have been made of it as the model does; sensors that joined the model
// later, behind those that it was trained with, need not be there.
func setUnits(q *robust.Question, m *modelfile.Model, series *forecast.Spec) error {
	spec, err := m.Forecast()
	if err != nil || spec == nil {
		return err
	}
	n := q.Nodes()
	switch {
	case series == nil && n != len(spec.Sensors):
		return fmt.Errorf("the model forecasts %d sensors, the graph has %d nodes", len(spec.Sensors), n)
	case series != nil && (n > len(spec.Sensors) || !slices.Equal(series.Sensors, spec.Sensors[:n])):
		return fmt.Errorf("the series has %d sensors, the model knows %d: they are not the same; take the configuration that it was trained with",
			n, len(spec.Sensors))
	}
	for i := 0; series != nil && i < n; i++ {
		if a, b := &series.Norms[i], &spec.Norms[i]; a.Mean != b.Mean || a.Scale != b.Scale {
			return fmt.Errorf("sensor %s: the series has a mean of %.4g and a scale of %.4g in training, the model %.4g and %.4g; "+
				"take the configuration that it was trained with", spec.Sensors[i], a.Mean, a.Scale, b.Mean, b.Scale)
		}
	}
	q.Unit, q.Names = spec.Unit, spec.Sensors[:n]
	for i := range n {
		n, in := &spec.Norms[i], make([]float64, spec.Inputs())
		q.Scale = append(q.Scale, n.Scale)
		for l := range spec.Lags {
			in[l] = n.Scale
		}
		copy(in[spec.Lags+1:], n.ExtraScale)
		q.InputScale = append(q.InputScale, in...)
	}
	return nil
}

// Answers returns what nodes of a model answer with, as [robust.Question] asks for it.
func (t *NodeTaps) Answers(m *gnn.WideDeep) robust.Own {
	return &ownAnswers{taps: t, order: m.InputOrder()}
}

// ownAnswers implements [robust.Own] for the nodes of a model file.
type ownAnswers struct {
	taps  *NodeTaps
	order int // up to which inputs are shifted

	mutex sync.Mutex // of nodes that weight their neighbours, which have memory of their own
}

// Correct implements [robust.Own].
func (o *ownAnswers) Correct(y []float32, node, row int, links []int32, shifted func(j, k int) []float32) {
	var room [64]float32
	z := room[:0]
	for k := range o.order + 1 {
		z = append(z, shifted(row, k)...)
	}
	if o.taps.heard == nil {
		o.taps.correct(y, z, node)
		return
	}
	o.mutex.Lock()
	defer o.mutex.Unlock()
	o.taps.heard.answer(y, node, z, links, shifted)
}

// answer is correct with inputs of one's own: z are the node's, shifted(j, k) those of
// node j at hop k, links whom it hears.
func (h *heardNodes) answer(y []float32, node int, z []float32, links []int32, shifted func(j, k int) []float32) {
	n := h.nodes[node]
	if n == nil {
		return
	}
	if own := n.Hearing(); own != nil {
		h.row = slices.Grow(h.row[:0], own.Len())[:own.Len()]
		own.Row(h.row, z, func(e, k int) []float32 {
			j := own.Neighbors[e]
			if _, found := slices.BinarySearch(links, int32(j)); !found {
				return nil
			}
			return shifted(j, k)
		})
		z = h.row
	}
	n.Predict(h.y, y, z)
	copy(y, h.y)
}
