package sourceloc

import (
	"cmp"
	"context"
	"fmt"

	"github.com/wdgnn/wdgnn/internal/paper/reproduce/study"
	"github.com/wdgnn/wdgnn/internal/recipe"
)

// pairs returns the realizations of both columns: datasets on one network, and
// networks with a dataset each. The first is common to both.
func pairs(repeats int) (list [][2]int) {
	for d := range repeats {
		list = append(list, [2]int{0, d})
	}
	for g := 1; g < repeats; g++ {
		list = append(list, [2]int{g, 0})
	}
	return list
}

// Repeats returns how many realizations a figure uses.
func Repeats(o study.Options) int {
	if o.Quick {
		return cmp.Or(o.Repeats, 3)
	}
	return cmp.Or(o.Repeats, 5)
}

// wideDeepUnits computes one unit per realization of a figure, each after
// training its WD-GNN.
func wideDeepUnits[T any](
	ctx context.Context, r *study.Run, s recipe.Sourceloc, passes int, do func(z *Realization, ctx context.Context) (T, error),
) ([]T, error) {
	list := pairs(Repeats(r.Options))
	work := float64(s.Epochs) + StreamCost*float64(passes)
	return study.Units(ctx, r, len(list), work,
		func(k int) string { return fmt.Sprintf("graph%d-data%d", list[k][0], list[k][1]) },
		s, func(ctx context.Context, k int) (unit T, err error) {
			z, err := New(r, s, list[k][0], list[k][1])
			if err != nil {
				return unit, err
			}
			if err := z.Prepare(ctx, recipe.WideDeep); err != nil {
				return unit, err
			}
			return do(z, ctx)
		})
}

// Sweep computes one unit per value of a setting and network, all networks of
// the first value before those of the next. change sets the k-th value.
func Sweep[T any](ctx context.Context, r *study.Run, s recipe.Sourceloc, name string, count int, work float64,
	change func(s *recipe.Sourceloc, k int), do func(z *Realization, ctx context.Context) (T, error),
) ([]T, error) {
	repeats := Repeats(r.Options)
	return study.Units(ctx, r, count*repeats, work,
		func(k int) string { return fmt.Sprintf("%s%d-graph%d", name, k/repeats, k%repeats) },
		s, func(ctx context.Context, k int) (unit T, err error) {
			s := s
			change(&s, k/repeats)
			z, err := New(r, s, k%repeats, 0)
			if err != nil {
				return unit, err
			}
			return do(z, ctx)
		})
}
