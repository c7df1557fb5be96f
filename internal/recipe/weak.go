package recipe

import (
	"context"
	"math/rand/v2"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/robust"
)

// weakLinks are the links that flip answers of a model in training when they are
// lost: batches learn without one of them, so that no answer hangs on a single link.
type weakLinks struct {
	source *Source
	model  *gnn.WideDeep
	ends   [][2]int // of links
	upto   []int    // answers that these and those before flip
}

// weakSignals is on how many signals weak links are looked for.
const weakSignals = 40

// find looks for them anew, with the model as it is now.
func (w *weakLinks) find(ctx context.Context) error {
	z := w.source
	signals, _ := z.Net.Draw(weakSignals, z.Stream("weak links"))
	q := &robust.Question{
		Network: w.model, Operator: z.Operator(), Graphs: []*graph.Graph{z.Net.Graph}, Signals: signals, Samples: weakSignals,
		Read: z.Read(), Classify: true,
	}
	lost, err := q.Lost(ctx, robust.LostConfig{})
	if err != nil {
		return err
	}
	w.ends, w.upto = w.ends[:0], w.upto[:0]
	sum := 0
	for _, p := range lost.Parts {
		if p.Flips > 0 {
			sum += p.Flips
			w.ends, w.upto = append(w.ends, [2]int{p.Ends[0], p.Ends[1]}), append(w.upto, sum)
		}
	}
	return ctx.Err()
}

// without takes a weak link from a graph, in every other batch: each as often as it
// flips answers.
func (w *weakLinks) without(left *graph.Graph, rng *rand.Rand) (*graph.Graph, error) {
	if len(w.ends) == 0 || rng.IntN(2) == 0 {
		return left, nil
	}
	at, k := rng.IntN(w.upto[len(w.upto)-1]), 0
	for w.upto[k] <= at {
		k++
	}
	a, b := w.ends[k][0], w.ends[k][1]
	return new(graph.Builder).Keep(left, false, func(i, j int) bool {
		return !(i == a && j == b || i == b && j == a)
	}), nil
}
