package loss_test

import (
	"slices"
	"testing"

	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
)

// Every name stands for a loss without targets that agents can keep, and that
// is a regression unless it judges classes.
func TestNamed(t *testing.T) {
	names := loss.Names(false)
	for k, name := range names {
		if slices.Index(names, name) != k {
			t.Errorf("two losses are called %q", name)
		}
		kind := loss.Named(name)
		if _, ok := kind.(loss.Targeted); !ok {
			t.Errorf("%s: %T is not Targeted", name, kind)
		}
		_, classes := kind.(loss.CrossEntropy)
		if got := slices.Contains(loss.Names(true), name); got == classes {
			t.Errorf("%s: a regression: got %t, want %t", name, got, !classes)
		}
	}
	if got := loss.Named("l2"); got != nil {
		t.Errorf("a loss called l2: got %T, want none", got)
	}
}

// A loss that gave its targets away and got them back is what it was, to the bit.
func TestWith(t *testing.T) {
	for _, s := range samples() {
		l, ok := s.loss.(loss.Regression)
		if !ok {
			continue
		}
		target := mat.NewDense(s.y.Rows, s.y.Cols, nil)
		for i := range target.Rows {
			l.TargetOf(i, target.Row(i))
		}
		again := l.With(mat.Dense{}, nil).With(target, s.mask)
		if err := again.Validate(); err != nil {
			t.Errorf("%s: %v", s.name, err)
		}
		got, want := normal(generator(), s.y.Rows, s.y.Cols), normal(generator(), s.y.Rows, s.y.Cols)
		if a, b := again.Eval(got, s.y), l.Eval(want, s.y); a != b || !slices.Equal(got.Data, want.Data) {
			t.Errorf("%s: J = %v, want %v; gradient %v, want %v", s.name, a, b, got.Data, want.Data)
		}
	}
}
