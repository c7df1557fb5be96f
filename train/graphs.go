package train

import (
	"fmt"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/mat"
)

// Graphs are samples that each have a graph of their own. A trajectory on a
// graph that changes at every step is one such sample: its shift is
// [graph.SpaceTime] of the shifts over time, and filters become the delayed
// filters of eq. (24).
type Graphs struct {
	shifts  []*mat.CSR
	shiftT  []*mat.CSR  // transposes, if a pass needs them
	shifted []mat.Dense // [X SX … SᴷX] of every sample
	offset  []int       // target row at which each sample starts
	targets Objective
}

// NewGraphs shifts every sample once for the given model. Target rows follow
// each other sample by sample.
func NewGraphs(m *gnn.WideDeep, samples []graph.Sample, targets Objective) (*Graphs, error) {
	if len(samples) == 0 || targets == nil {
		return nil, fmt.Errorf("train: graphs need samples and an objective")
	}
	d := &Graphs{targets: targets}
	var (
		shifter gnn.Shifter
		row     int
	)
	for i, s := range samples {
		if s.Signal.Rows != s.Shift.Rows || s.Shift.Rows != s.Shift.Cols || s.Signal.Cols != m.Config.In {
			return nil, fmt.Errorf("train: sample %d: a signal of %d×%d on a shift of %d×%d for a model of %d features",
				i, s.Signal.Rows, s.Signal.Cols, s.Shift.Rows, s.Shift.Cols, m.Config.In)
		}
		z := mat.NewDense(s.Signal.Rows, (m.InputOrder()+1)*m.Config.In, nil)
		shifter.Shift(z, s.Shift, s.Signal)
		d.shifts = append(d.shifts, s.Shift)
		d.shifted = append(d.shifted, z)
		d.offset = append(d.offset, row)
		row += z.Rows
		if len(m.Config.Deep) > 1 {
			d.shiftT = append(d.shiftT, s.Shift.T())
		}
	}
	return d, checkRows(targets, len(samples), row)
}

// Len returns the number of samples.
func (d *Graphs) Len() int { return len(d.shifts) }

// PassRows returns the rows of the first sample.
func (d *Graphs) PassRows() int { return d.shifted[0].Rows }

// Fill implements Data. Several samples become one block-diagonal pass.
func (d *Graphs) Fill(p *Pass, samples []int, _ Draw) error {
	p.Rows = p.Rows[:0]
	rows := 0
	for _, s := range samples {
		for r := range d.shifted[s].Rows {
			p.Rows = append(p.Rows, d.offset[s]+r)
		}
		rows += d.shifted[s].Rows
	}
	p.Input = gnn.Input{}
	if len(samples) == 1 {
		s := samples[0]
		p.Input.Shift, p.Input.Shifted = d.shifts[s], d.shifted[s]
		if d.shiftT != nil {
			p.Input.ShiftT = d.shiftT[s]
		}
	} else {
		p.Input.Shifted = d.stack(p, samples, rows)
		if d.shiftT != nil {
			p.Input.Shift = diagonal(d.shifts, samples)
			p.Input.ShiftT = diagonal(d.shiftT, samples)
		}
	}
	p.Loss = d.targets.Loss(p.Rows)
	return nil
}

// stack copies the shifted inputs of the samples below each other.
func (d *Graphs) stack(p *Pass, samples []int, rows int) mat.Dense {
	z := &p.scratch.shifted
	*z = z.Resize(rows, d.shifted[0].Cols)
	row := 0
	for _, s := range samples {
		n := d.shifted[s].Rows
		z.View(row, 0, n, z.Cols).CopyFrom(d.shifted[s])
		row += n
	}
	return *z
}

func diagonal(shifts []*mat.CSR, samples []int) *mat.CSR {
	blocks := make([]*mat.CSR, len(samples))
	for i, s := range samples {
		blocks[i] = shifts[s]
	}
	return mat.BlockDiagonal(blocks...)
}
