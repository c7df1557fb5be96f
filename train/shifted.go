package train

import (
	"errors"
	"fmt"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
)

// Shifted are samples whose inputs were shifted before training, for models in
// which nothing else is shifted: a wide part, at most one layer, or both. Every
// row is then an example of its own. Several models can be trained on the same
// rows, of which no copy is made.
//
// Rows may be shifted further than a model reads; it takes the leading columns.
type Shifted struct {
	rows    mat.Dense // [Z_0 … Z_K], sample by sample
	each    int       // rows per sample
	targets Objective
	carried carried
}

// NewShifted returns samples of the given number of rows each. Target row i
// belongs to row i.
//
//	rows: [Z_0 Z_1 … Z_K], (samples·each)×((K+1)·F), K at least m.InputOrder
func NewShifted(m *gnn.WideDeep, rows mat.Dense, each int, targets Objective) (*Shifted, error) {
	if targets == nil {
		return nil, errors.New("train: shifted rows need an objective")
	}
	if each < 1 || rows.Rows == 0 || rows.Rows%each != 0 {
		return nil, fmt.Errorf("train: %d rows are not a number of samples of %d", rows.Rows, each)
	}
	if width := (m.InputOrder() + 1) * m.Config.In; rows.Cols < width || rows.Cols%m.Config.In != 0 {
		return nil, fmt.Errorf("train: rows of %d numbers for a model that reads %d: %d features, shifted %d times",
			rows.Cols, width, m.Config.In, m.InputOrder())
	}
	if len(m.Config.Deep) > 1 {
		return nil, fmt.Errorf("train: a deep part of %d layers shifts what the first one gives; shifted rows serve one layer",
			len(m.Config.Deep))
	}
	if _, unsupervised := targets.(Unsupervised); unsupervised {
		return nil, errors.New("train: shifted rows need a target per row; an unsupervised loss sees all nodes together")
	}
	if at := notFinite(rows); at >= 0 {
		return nil, fmt.Errorf("train: shifted rows: row %d has a value that is not finite", at)
	}
	d := &Shifted{rows: rows, each: each, targets: targets}
	if err := checkRows(targets, d.Len(), rows.Rows); err != nil {
		return nil, err
	}
	d.carried = newCarried(targets, d.Len(), func(int) int { return each })
	return d, nil
}

// notFinite returns the first row with a value that is not a finite number, or
// -1. A value v is finite if v - v is 0, and a sum of zeros is 0.
func notFinite(a mat.Dense) int {
	for i := range a.Rows {
		sum := float32(0)
		for _, v := range a.Row(i) {
			sum += v - v
		}
		if sum != 0 {
			return i
		}
	}
	return -1
}

// Len returns the number of samples.
func (d *Shifted) Len() int { return d.rows.Rows / d.each }

// Passes implements Data: passes are parts of the rows of a sample.
func (d *Shifted) Passes(samples, rows int) int { return samples * ((d.each + rows - 1) / rows) }

// Fill implements Data.
func (d *Shifted) Fill(p *Pass, samples []int, k, passes int, _ Draw) error {
	parts := passes / len(samples)
	s := samples[k/parts]
	lo, hi := part(d.each, k%parts, parts)
	p.Input = gnn.Input{Shifted: d.rows.View(s*d.each+lo, 0, hi-lo, d.rows.Cols)}
	p.Rows = p.Rows[:0]
	for r := lo; r < hi; r++ {
		p.Rows = append(p.Rows, s*d.each+r)
	}
	d.carried.share(p, samples)
	if t, ok := d.targets.(*Targets); ok && t.squared() {
		p.memory.adjacent = adjacent{t.values.View(s*d.each+lo, 0, hi-lo, t.values.Cols)}
		p.Loss = &p.memory.adjacent
		return nil
	}
	p.Loss = d.targets.Loss(&p.memory, p.Rows)
	return nil
}

// adjacent is loss.MSE to the same bits, of targets that stand below each
// other: they are read where they are, in one loop.
type adjacent struct{ target mat.Dense }

// Eval implements [loss.Loss].
func (l *adjacent) Eval(dy, y mat.Dense) float64 {
	t := l.target
	if t.Rows != y.Rows || t.Cols != y.Cols || !t.Contiguous() || !y.Contiguous() ||
		!dy.Empty() && (!dy.Contiguous() || dy.Rows != y.Rows || dy.Cols != y.Cols) {
		return loss.MSE{Target: t}.Eval(dy, y)
	}
	cols := float64(y.Cols)
	share := 1 / float64(y.Rows)
	slope, sum := 2*share/cols, 0.0
	var grad []float32
	if !dy.Empty() {
		grad = dy.Data[:y.Rows*y.Cols]
	}
	for lo := 0; lo < y.Rows*y.Cols; lo += y.Cols {
		row := 0.0
		for j, v := range y.Data[lo : lo+y.Cols] {
			d := float64(v) - float64(t.Data[lo+j])
			row += float64(d * d)
			if grad != nil {
				grad[lo+j] = float32(slope * d)
			}
		}
		sum += row / cols
	}
	return sum / float64(y.Rows)
}
