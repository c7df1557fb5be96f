package train

import (
	"fmt"
	"slices"

	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
)

// Objective makes the loss of a pass. Any number of goroutines may call it, a
// Memory each.
type Objective interface {
	// Loss returns J for outputs whose row i belongs to target row rows[i].
	// With R rows read per sample, target row n·R+r is row r of sample n. The
	// loss may live in m, which it owns until the next call with m.
	Loss(m *Memory, rows []int) loss.Loss

	// Rows returns how many target rows there are, or -1 if any number fits.
	Rows() int
}

// Memory is what the objectives of this package keep between passes instead of
// allocating.
type Memory struct {
	crossEntropy loss.CrossEntropy
	adjacent     adjacent
	quadratic    quadratic

	target mat.Dense // of Targets
	mask   []bool
}

// Classes asks for the right class at every row: cross-entropy.
type Classes struct {
	labels []int32
}

// NewClasses returns the objective with one label per target row,
// 0 ≤ label < classes, or [loss.NoLabel] for rows that carry no loss.
func NewClasses(labels []int32, classes int) (*Classes, error) {
	if err := (loss.CrossEntropy{Labels: labels}).Validate(classes); err != nil {
		return nil, fmt.Errorf("train: %w", err)
	}
	return &Classes{labels: labels}, nil
}

// NewSampleClasses returns the objective with one label per sample, which is
// asked for at each of the rows read.
func NewSampleClasses(labels []int32, rows, classes int) (*Classes, error) {
	all := make([]int32, 0, len(labels)*rows)
	for _, l := range labels {
		for range rows {
			all = append(all, l)
		}
	}
	return NewClasses(all, classes)
}

// Rows implements Objective.
func (c *Classes) Rows() int { return len(c.labels) }

func (c *Classes) carries(row int) bool { return c.labels[row] != loss.NoLabel }

// Loss implements Objective.
func (c *Classes) Loss(m *Memory, rows []int) loss.Loss {
	labels := m.crossEntropy.Labels[:0]
	for _, r := range rows {
		labels = append(labels, c.labels[r])
	}
	m.crossEntropy.Labels = labels
	return &m.crossEntropy
}

// Correct counts the rows of y whose largest score is that of the right
// class, the first of equals, and the rows that have a label.
func (c *Classes) Correct(y mat.Dense, rows []int) (correct, labelled int) {
	for i, r := range rows {
		if c.labels[r] == loss.NoLabel {
			continue
		}
		labelled++
		if int32(mat.Argmax(y.Row(i))) == c.labels[r] {
			correct++
		}
	}
	return correct, labelled
}

// checkRows reports an objective that does not fit its samples.
func checkRows(o Objective, samples, want int) error {
	if got := o.Rows(); got >= 0 && got != want {
		return fmt.Errorf("train: %d target rows for %d samples, want %d", got, samples, want)
	}
	return nil
}

// Targets asks for given values at every row.
type Targets struct {
	kind   loss.Regression
	values mat.Dense
	mask   []bool
	gaps   bool // some value is not known
}

// NewTargets returns the objective with one row of values per target row, under
// a loss such as loss.MSE{}; targets that it holds itself do not count. Mask
// says which target rows carry a loss; nil means all. A value that is NaN is not
// known: it carries no loss, nor does a row of such values.
func NewTargets(kind loss.Regression, values mat.Dense, mask []bool) (*Targets, error) {
	if err := kind.With(values, mask).Validate(); err != nil {
		return nil, fmt.Errorf("train: targets: %w", err)
	}
	t := &Targets{kind: kind, values: values, mask: mask}
	for i := 0; i < values.Rows && !t.gaps; i++ {
		t.gaps = slices.ContainsFunc(values.Row(i), func(v float32) bool { return v != v })
	}
	return t, nil
}

// squared says whether t asks for the least mean squared error of all rows.
func (t *Targets) squared() bool {
	_, ok := t.kind.(loss.MSE)
	return ok && t.mask == nil && !t.gaps
}

// Rows implements Objective.
func (t *Targets) Rows() int { return t.values.Rows }

func (t *Targets) carries(row int) bool {
	return (t.mask == nil || t.mask[row]) && (!t.gaps || loss.Known(t.values.Row(row)))
}

// Loss implements Objective.
func (t *Targets) Loss(m *Memory, rows []int) loss.Loss {
	m.target = m.target.Resize(len(rows), t.values.Cols)
	mat.GatherRows(m.target, t.values, rows)
	var mask []bool
	if t.mask != nil {
		m.mask = m.mask[:0]
		for _, r := range rows {
			m.mask = append(m.mask, t.mask[r])
		}
		mask = m.mask
	}
	return t.kind.With(m.target, mask)
}

// Unsupervised judges outputs without labels: the paper's J in its general
// form. Rows of a pass are ordered node by node, then sample by sample.
type Unsupervised struct{ J loss.Loss }

// Loss implements Objective.
func (u Unsupervised) Loss(*Memory, []int) loss.Loss { return u.J }

// Rows implements Objective.
func (u Unsupervised) Rows() int { return -1 }
