package sourceloc

import (
	"context"

	"github.com/wdgnn/wdgnn/internal/recipe"
)

// lossUnit is one realization of a WD-GNN with all links, and where links are
// lost. Accuracies are in %.
type lossUnit struct {
	Model  recipe.SourceInfo    `json:"model"`
	Same   float64              `json:"same"`   // of the frozen model
	Differ map[string][]float64 `json:"differ"` // by learner and subgraph
}

// lossUnits returns what measures one, with the given learners where links are
// lost.
func lossUnits(learners []recipe.LearnerSpec) func(*Realization, context.Context) (*lossUnit, error) {
	return func(z *Realization, ctx context.Context) (*lossUnit, error) {
		if err := z.Prepare(ctx, recipe.WideDeep); err != nil {
			return nil, err
		}
		u := &lossUnit{Model: z.Models[recipe.WideDeep].Info, Differ: map[string][]float64{}}
		stream, err := z.TestStream(-1, 0)
		if err != nil {
			return nil, err
		}
		out, err := z.PlayOne(ctx, WideDeepFrozen, stream, false)
		if err != nil {
			return nil, err
		}
		u.Same = out.Accuracy
		for sub := range z.Subgraphs {
			if stream, err = z.TestStream(sub, z.OutageProb); err != nil {
				return nil, err
			}
			runs, err := z.PlayAll(ctx, learners, stream, false)
			if err != nil {
				return nil, err
			}
			for k, spec := range learners {
				u.Differ[spec.ID] = append(u.Differ[spec.ID], runs[k].Accuracy)
			}
		}
		return u, nil
	}
}
