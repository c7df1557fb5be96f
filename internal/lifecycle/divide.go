package lifecycle

import (
	"fmt"
	"slices"

	"github.com/wdgnn/wdgnn/internal/config"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/random"
)

// divide sets samples aside for validation and test, or reads them from files
// of their own.
func (l *loader) divide(whole *Part) error {
	d := l.c.Data
	share := func(f *config.Files, share float64) int {
		if f != nil {
			return 0
		}
		return int(float64(whole.Samples) * share)
	}
	valid, test := share(d.Valid, d.Split.Valid), share(d.Test, d.Split.Test)
	left := whole.Samples - valid - test
	if left < 1 {
		return fmt.Errorf("data.split leaves none of %d samples to train on", whole.Samples)
	}
	order := random.Stream(l.c.Seed, "split").Perm(whole.Samples)
	if d.Split.InOrder {
		slices.Sort(order)
	}
	set := l.set
	set.Train = whole.take(order[:left])
	set.Valid = whole.take(order[left : left+valid])
	set.Test = whole.take(order[left+valid:])
	var err error
	if d.Valid != nil {
		if set.Valid, err = l.files(*d.Valid); err != nil {
			return fmt.Errorf("data.valid: %w", err)
		}
	}
	if d.Test != nil {
		if set.Test, err = l.files(*d.Test); err != nil {
			return fmt.Errorf("data.test: %w", err)
		}
	}
	return nil
}

// files reads samples on the graph that is already there.
func (l *loader) files(f config.Files) (*Part, error) {
	signals, err := l.first.More(l.c.Abs(f.Signals))
	if err != nil {
		return nil, err
	}
	return l.part(signals, f)
}

// take copies the given samples of p in ascending order.
func (p *Part) take(samples []int) *Part {
	slices.Sort(samples)
	q := &Part{Samples: len(samples)}
	q.signals = takeRows(p.signals, p.Samples, samples)
	q.Values = takeRows(p.Values, p.Samples, samples)
	for _, s := range samples {
		q.Labels = append(q.Labels, each(p.Labels, p.Samples, s)...)
		q.Mask = append(q.Mask, each(p.Mask, p.Samples, s)...)
	}
	return q
}

// each returns the values of sample s of so many.
func each[T any](values []T, samples, s int) []T {
	n := len(values) / samples
	return values[s*n : (s+1)*n]
}

func takeRows(m mat.Dense, total int, samples []int) mat.Dense {
	if m.Empty() {
		return mat.Dense{}
	}
	n := m.Rows / total
	out := mat.NewDense(n*len(samples), m.Cols, nil)
	for k, s := range samples {
		out.View(k*n, 0, n, m.Cols).CopyFrom(m.View(s*n, 0, n, m.Cols))
	}
	return out
}
