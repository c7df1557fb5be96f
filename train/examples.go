package train

import (
	"errors"
	"fmt"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/mat"
)

// Examples are samples of one row each, shifted before training: what a model
// that is read out at one node sees of a signal. They serve models in which
// nothing else is shifted, as [Shifted] do; a batch is one pass whose rows lie
// anywhere among the examples. Several models can be trained on the same rows,
// of which no copy is made.
type Examples struct {
	rows    mat.Dense
	targets Objective
	carried carried
}

// NewExamples returns one sample per row. Target row i belongs to row i.
//
//	rows: [z_0 z_1 … z_K], samples×((K+1)·F), K at least m.InputOrder
func NewExamples(m *gnn.WideDeep, rows mat.Dense, targets Objective) (*Examples, error) {
	switch width := (m.InputOrder() + 1) * m.Config.In; {
	case targets == nil:
		return nil, errors.New("train: examples need an objective")
	case rows.Rows == 0:
		return nil, errors.New("train: there are no examples")
	case rows.Cols < width || rows.Cols%m.Config.In != 0:
		return nil, fmt.Errorf("train: examples of %d numbers for a model that reads %d: %d features, shifted %d times",
			rows.Cols, width, m.Config.In, m.InputOrder())
	case len(m.Config.Deep) > 1:
		return nil, fmt.Errorf("train: a deep part of %d layers shifts what the first one gives; examples serve one layer", len(m.Config.Deep))
	}
	if _, unsupervised := targets.(Unsupervised); unsupervised {
		return nil, errors.New("train: examples need a target each; an unsupervised loss sees all nodes together")
	}
	if at := notFinite(rows); at >= 0 {
		return nil, fmt.Errorf("train: example %d has a value that is not finite", at)
	}
	if err := checkRows(targets, rows.Rows, rows.Rows); err != nil {
		return nil, err
	}
	carried := newCarried(targets, rows.Rows, func(int) int { return 1 })
	return &Examples{rows: rows, targets: targets, carried: carried}, nil
}

// Len returns the number of samples.
func (d *Examples) Len() int { return d.rows.Rows }

// Passes implements Data: passes are parts of the samples.
func (d *Examples) Passes(samples, rows int) int { return (samples + rows - 1) / rows }

// Fill implements Data.
func (d *Examples) Fill(p *Pass, samples []int, k, passes int, _ Draw) error {
	lo, hi := part(len(samples), k, passes)
	p.Rows = append(p.Rows[:0], samples[lo:hi]...)
	d.carried.share(p, samples)
	sc := &p.scratch
	sc.some = sc.some.Resize(hi-lo, d.rows.Cols)
	mat.GatherRows(sc.some, d.rows, p.Rows)
	p.Input = gnn.Input{Shifted: sc.some}
	p.Loss = d.targets.Loss(&p.memory, p.Rows)
	return nil
}
