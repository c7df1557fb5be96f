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
	carried carried
	whole   bool // samples must not be cut: layers shift, or J is not a mean over rows
}

// NewGraphs shifts every sample once for the given model. Target rows follow
// each other sample by sample.
func NewGraphs(m *gnn.WideDeep, samples []graph.Sample, targets Objective) (*Graphs, error) {
	if len(samples) == 0 || targets == nil {
		return nil, fmt.Errorf("train: graphs need samples and an objective")
	}
	_, unsupervised := targets.(Unsupervised)
	d := &Graphs{targets: targets, whole: unsupervised || len(m.Config.Deep) > 1}
	var (
		shifter    gnn.Shifter
		row        int
		transposes = map[*mat.CSR]*mat.CSR{} // samples may share a graph
	)
	for i, s := range samples {
		if s.Signal.Rows != s.Shift.Rows || s.Shift.Rows != s.Shift.Cols || s.Signal.Cols != m.Config.In {
			return nil, fmt.Errorf("train: sample %d: a signal of %d×%d on a shift of %d×%d for a model of %d features",
				i, s.Signal.Rows, s.Signal.Cols, s.Shift.Rows, s.Shift.Cols, m.Config.In)
		}
		if err := checkFinite(s.Signal); err != nil {
			return nil, fmt.Errorf("train: sample %d: %w", i, err)
		}
		z := mat.NewDense(s.Signal.Rows, (m.InputOrder()+1)*m.Config.In, nil)
		shifter.Shift(z, s.Shift, s.Signal)
		d.shifts = append(d.shifts, s.Shift)
		d.shifted = append(d.shifted, z)
		d.offset = append(d.offset, row)
		row += z.Rows
		if len(m.Config.Deep) > 1 {
			if transposes[s.Shift] == nil {
				transposes[s.Shift] = s.Shift.T()
			}
			d.shiftT = append(d.shiftT, transposes[s.Shift])
		}
	}
	if err := checkRows(targets, len(samples), row); err != nil {
		return nil, err
	}
	d.carried = newCarried(targets, len(samples), func(s int) int { return d.shifted[s].Rows })
	return d, nil
}

// Len returns the number of samples.
func (d *Graphs) Len() int { return len(d.shifts) }

// Passes implements Data. Passes are parts of the samples, or, for a model
// whose only shifts are those of its input, parts of the rows of a sample.
func (d *Graphs) Passes(samples, rows int) int {
	each := d.shifted[0].Rows
	if each <= rows || d.whole {
		size := max(rows/each, 1)
		return (samples + size - 1) / size
	}
	return samples * ((each + rows - 1) / rows)
}

// Fill implements Data. Several samples become one block-diagonal pass.
func (d *Graphs) Fill(p *Pass, samples []int, k, passes int, _ Draw) error {
	p.Input, p.Rows = gnn.Input{}, p.Rows[:0]
	if passes > len(samples) {
		d.fillPart(p, samples, k, passes/len(samples))
	} else {
		lo, hi := part(len(samples), k, passes)
		d.fillWhole(p, samples[lo:hi])
	}
	d.carried.share(p, samples)
	p.Loss = d.targets.Loss(&p.memory, p.Rows)
	return nil
}

// fillPart makes p a part of the rows of one sample: pass k of parts per
// sample.
func (d *Graphs) fillPart(p *Pass, samples []int, k, parts int) {
	s := samples[k/parts]
	z := d.shifted[s]
	lo, hi := part(z.Rows, k%parts, parts)
	p.Input.Shifted = z.View(lo, 0, hi-lo, z.Cols)
	for r := lo; r < hi; r++ {
		p.Rows = append(p.Rows, d.offset[s]+r)
	}
}

// fillWhole makes p a pass over whole samples.
func (d *Graphs) fillWhole(p *Pass, samples []int) {
	rows := 0
	for _, s := range samples {
		for r := range d.shifted[s].Rows {
			p.Rows = append(p.Rows, d.offset[s]+r)
		}
		rows += d.shifted[s].Rows
	}
	if len(samples) == 1 {
		s := samples[0]
		p.Input.Shift, p.Input.Shifted = d.shifts[s], d.shifted[s]
		if d.shiftT != nil {
			p.Input.ShiftT = d.shiftT[s]
		}
		return
	}
	p.Input.Shifted = d.stack(p, samples, rows)
	if d.shiftT != nil {
		p.Input.Shift = diagonal(d.shifts, samples)
		p.Input.ShiftT = diagonal(d.shiftT, samples)
	}
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
