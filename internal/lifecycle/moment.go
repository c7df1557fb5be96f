package lifecycle

import (
	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/rule"
)

// moment returns the second moment of the training signals at the nodes read,
// on the whole graph; nil for a network without a wide part. Where the graph stays
// as it is, it says what each of these nodes heard. If step returns an error the
// moment is not whole.
func (d *Dataset) moment(net *gnn.WideDeep, e *mat.Engine, step func(done, all int) error) (*rule.SecondMoment, error) {
	if d.each > 0 {
		return d.shiftedMoment(net, step), nil
	}
	s, err := d.shift()
	if err != nil {
		return nil, err
	}
	if !d.Delayed() {
		moment := online.InputMoment(net, s, d.Train.signals, d.read, e, step)
		if d.forecast != nil {
			return moment, nil // they learn by season, and a neighbour has more lags than a node can weight
		}
		online.HearEach(moment, net, s, d.Train.signals, d.read, e)
		return moment, nil
	}
	var read []int
	for t := range d.Steps {
		for _, i := range d.read {
			read = append(read, t*d.Nodes+i)
		}
	}
	return online.InputMoment(net, s, d.Train.signals, read, e, step), nil
}

// shiftedMoment is moment of rows that were shifted before, all of which are
// read.
func (d *Dataset) shiftedMoment(net *gnn.WideDeep, step func(done, all int) error) *rule.SecondMoment {
	if net.Config.Wide == nil {
		return nil
	}
	const block = 1024 // rows that are added at once
	moment, rows := new(rule.SecondMoment), d.Train.shifted
	for from := 0; from < rows.Rows; from += block {
		part := rows.View(from, 0, min(block, rows.Rows-from), rows.Cols)
		moment.Add(part, (net.Config.Wide.Order+1)*net.Config.In)
		if step(from+part.Rows, rows.Rows) != nil {
			break
		}
	}
	return moment
}

// shift returns S of the whole graph, of trajectories that of space and time.
func (d *Dataset) shift() (*mat.CSR, error) {
	if d.Delayed() {
		return d.spaceTime, nil
	}
	return d.Shift.Of(d.graph)
}
