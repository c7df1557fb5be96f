package lifecycle

import (
	"context"
	"fmt"
	"strings"

	"github.com/wdgnn/wdgnn/internal/config"
	"github.com/wdgnn/wdgnn/internal/data"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/train"
)

// Prediction is the output of a model for observed signals.
type Prediction struct {
	Shape  []int // samples×R×C, or samples×T×R×C for trajectories
	Values []float32

	nodes []int // that answer; nil means all
}

// blockValues is about how many numbers Predict shifts at once.
const blockValues = 1 << 26

// Predict runs a model on observed signals and returns its outputs at the
// given nodes; nil means all. Nodes that have taps of their own use them.
// Outputs that are not finite are an error.
func Predict(ctx context.Context, m *modelfile.Model, o *data.Observed, nodes []int, threads int) (*Prediction, error) {
	if m.Meta.Delayed != o.Delayed() {
		return nil, delayMismatch(m.Meta.Delayed)
	}
	d, err := newDataset(o, m.Meta.Shift)
	if err != nil {
		return nil, err
	}
	if m.Network.Config.In != d.in {
		return nil, fmt.Errorf("the model reads %d features, the signals have %d", m.Network.Config.In, d.in)
	}
	for _, i := range nodes {
		if i < 0 || i >= d.Nodes {
			return nil, fmt.Errorf("no node %d in a graph of %d nodes, which count from 0", i, d.Nodes)
		}
	}
	own, err := d.nodeTaps(m)
	if err != nil {
		return nil, err
	}
	d.read = nodes
	read, steps := d.Nodes, max(d.Steps, 1)
	if nodes != nil {
		read = len(nodes)
	}
	cols := m.Network.Outputs()
	p := &Prediction{Shape: append([]int{}, o.Shape[:len(o.Shape)-1]...), nodes: nodes}
	if len(o.Shape) == 2 { // one feature, its dimension left out
		p.Shape = []int{o.Shape[0], 0}
	}
	p.Shape[len(p.Shape)-1] = read
	p.Shape = append(p.Shape, cols)
	p.Values = make([]float32, o.Samples*steps*read*cols)

	engine := mat.NewEngine(threads)
	defer engine.Close()
	ev := train.Evaluator{Engine: engine}
	rows := d.Nodes * steps
	block := max(blockValues/(rows*d.in*(m.Network.InputOrder()+1)), 1)
	for from := 0; from < o.Samples; from += block {
		n := min(block, o.Samples-from)
		part := &Part{Samples: n, signals: o.Rows.View(from*rows, 0, n*rows, d.in)}
		data, err := d.samples(m.Network, part, train.Unsupervised{}, train.Outage{})
		if err != nil {
			return nil, err
		}
		place := d.outputRow(from)
		err = ev.Each(ctx, m.Network, data, 0, func(pass *train.Pass, y mat.Dense) {
			d.correct(own, part, pass, y)
			for r, row := range pass.Rows {
				if at := place(row); at >= 0 {
					copy(p.Values[at*cols:(at+1)*cols], y.Row(r))
				}
			}
		})
		if err != nil {
			return nil, err
		}
	}
	if err := d.finite(p); err != nil {
		return nil, err
	}
	return p, nil
}

// PredictPart runs a model on the part of a configuration's data that is called
// train, valid or test: of flights it returns accelerations, of users their
// ratings of the target. Otherwise it is as Predict.
func PredictPart(ctx context.Context, m *modelfile.Model, c *config.Config, part string, threads int) (*Prediction, error) {
	a, err := ask(ctx, m, c, part)
	if err != nil {
		return nil, err
	}
	d, cols := a.set, m.Network.Outputs()
	read, place := d.Nodes, func(row int) int { return row }
	if d.read != nil {
		read = len(d.read)
	}
	p := &Prediction{Shape: []int{a.part.Samples, read, cols}, nodes: d.read}
	if d.Delayed() {
		p.Shape = []int{a.part.Samples, d.Steps, read, cols}
	}
	if d.each == 0 {
		place = d.outputRow(0)
	}
	p.Values = make([]float32, a.part.Samples*max(d.Steps, 1)*read*cols)
	engine := mat.NewEngine(threads)
	defer engine.Close()
	ev := train.Evaluator{Engine: engine}
	err = ev.Each(ctx, m.Network, a.bound.data, c.Seed, func(pass *train.Pass, y mat.Dense) {
		d.correct(a.own, a.part, pass, y)
		for r, row := range pass.Rows {
			if at := place(row); at >= 0 {
				copy(p.Values[at*cols:(at+1)*cols], y.Row(r))
			}
		}
	})
	if err != nil {
		return nil, err
	}
	for row, mean := range a.part.means {
		p.Values[row] += float32(mean)
	}
	return p, d.finite(p)
}

// finite reports outputs that are no finite numbers, and where the first is.
func (d *Dataset) finite(p *Prediction) error {
	first, bad := 0, 0
	for i, v := range p.Values {
		if v-v != 0 {
			if bad == 0 {
				first = i
			}
			bad++
		}
	}
	if bad == 0 {
		return nil
	}
	names := []string{"sample", "node", "output"}
	switch {
	case len(p.Shape) == 4:
		names = []string{"sample", "step", "node", "output"}
	case d.Delayed(): // one trajectory
		names[0] = "step"
	}
	at := data.Index(first, p.Shape)
	if node := len(at) - 2; d.read != nil {
		at[node] = d.read[at[node]]
	}
	where := make([]string, len(at))
	for k, name := range names {
		where[k] = fmt.Sprintf("%s %d", name, at[k])
	}
	return fmt.Errorf("%d of %d outputs are not finite, the first is %v at %s: "+
		"numbers outgrew float32; scale the signals as those of training were",
		bad, len(p.Values), p.Values[first], strings.Join(where, ", "))
}

// correct changes outputs of a pass over samples of p to those of nodes with taps
// of their own.
func (d *Dataset) correct(own *NodeTaps, p *Part, pass *train.Pass, y mat.Dense) {
	if own == nil {
		return
	}
	if own.heard != nil {
		d.correctHeard(own.heard, p, pass, y)
		return
	}
	z := pass.Input.Shifted
	if pass.Input.Read != nil {
		z = pass.Input.ReadShifted
	}
	for r, row := range pass.Rows {
		own.correct(y.Row(r), z.Row(r), d.nodeOf(row))
	}
}

// correctHeard is correct for nodes that weight their neighbours one by one.
func (d *Dataset) correctHeard(h *heardNodes, p *Part, pass *train.Pass, y mat.Dense) {
	each := d.Nodes // rows of a sample
	if d.read != nil {
		each = len(d.read)
	}
	bySample := map[int][]int{}
	for r, row := range pass.Rows {
		bySample[row/each] = append(bySample[row/each], r)
	}
	for sample, rows := range bySample {
		h.show(p.signals.View(sample*d.Nodes, 0, d.Nodes, d.in))
		for _, r := range rows {
			h.correct(y.Row(r), d.nodeOf(pass.Rows[r]))
		}
	}
}

// nodeOf returns the node that a target row belongs to.
func (d *Dataset) nodeOf(row int) int {
	if d.Delayed() || d.read == nil {
		return row % d.Nodes
	}
	return d.read[row%len(d.read)]
}

// outputRow returns the map from a target row of a block that begins at sample
// from to the row of the prediction, -1 for nodes that are not read.
func (d *Dataset) outputRow(from int) func(row int) int {
	switch {
	case !d.Delayed() && d.read == nil:
		return func(row int) int { return from*d.Nodes + row }
	case !d.Delayed():
		return func(row int) int { return from*len(d.read) + row }
	case d.read == nil:
		return func(row int) int { return from*d.Steps*d.Nodes + row }
	}
	place := make(map[int]int, len(d.read))
	for r, i := range d.read {
		place[i] = r
	}
	return func(row int) int {
		r, ok := place[row%d.Nodes]
		if !ok {
			return -1
		}
		return (from*d.Steps+row/d.Nodes)*len(d.read) + r
	}
}
