package sourceloc

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/recipe"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/scenario/sourceloc"
)

// trouble is what goes wrong while a learner learns where links are lost.
type trouble struct {
	sub     int     // number of the subgraph
	outages bool    // all links for a third of the signals, then the subgraph, then another
	wrong   float64 // share of the answers told that are wrong
	untold  float64 // share of the answers that are not told
	silent  float64 // share of the links that are silent for a signal, others for the next
	lie     float64 // size of every number that one neighbour of a detector sends for its taps; 0 means that none lies
}

// first and second return the signals at which links are lost.
func first(signals int) int  { return (signals + 2) / 3 }
func second(signals int) int { return 2 * first(signals) }

// another is added to the number of a subgraph for the second outage.
const another = 1000

// endure runs a learner over the test signals in trouble and returns how many
// detectors were right at each.
func (z *Realization) endure(ctx context.Context, spec recipe.LearnerSpec, t *trouble) ([]int, error) {
	stream, over, err := z.troubled(t)
	if err != nil {
		return nil, err
	}
	if n := spec.Config.Newton; n != nil && t.silent > 0 { // a message that is lost is not a link that is
		kept := *n
		kept.Restart, spec.Config.Newton = false, &kept
	}
	l, err := z.Learner(spec, recipe.Observers{})
	if err != nil {
		return nil, err
	}
	luck := z.Stream("trouble", t.sub)
	silence := z.Stream("silence", t.sub)
	liar := z.liar(over)
	told := loss.CrossEntropy{Labels: make([]int32, z.Net.Graph.Nodes())}
	y := mat.NewDense(z.Net.Graph.Nodes(), z.World.Communities, nil)
	var right []int
	for sample := range stream.Samples() {
		if t.silent > 0 {
			if err := z.hush(&sample, over, t.silent, silence); err != nil {
				return nil, err
			}
		}
		if err := errors.Join(ctx.Err(), l.Observe(sample), l.Predict(y)); err != nil {
			return nil, fmt.Errorf("%s: step %d: %w", spec.ID, sample.Time, err)
		}
		truth := stream.Reveal(y).(loss.CrossEntropy)
		right = append(right, z.tell(told.Labels, truth.Labels, y, t, luck))
		err := l.Update(told)
		if err == nil && t.lie > 0 && spec.Config.Newton == nil && spec.Mode == recipe.Distributed {
			err = deceive(l, liar, float32(t.lie))
		}
		if err != nil && !errors.Is(err, online.ErrDiverged) {
			return nil, fmt.Errorf("%s: step %d: %w", spec.ID, sample.Time, err)
		}
	}
	z.Run.Advance(StreamCost, "graph %d: %s", z.Graph, spec.ID)
	return right, nil
}

// troubled returns the test signals, and the graph that they end on.
func (z *Realization) troubled(t *trouble) (*sourceloc.Stream, *graph.Graph, error) {
	g, err := z.Subgraph(t.sub, z.OutageProb)
	if err != nil {
		return nil, nil, err
	}
	graphs, renew := []*graph.Graph{g}, 0
	if t.outages {
		other, err := z.Subgraph(t.sub+another, z.OutageProb)
		if err != nil {
			return nil, nil, err
		}
		graphs, renew = []*graph.Graph{z.Net.Graph, g, other}, first(z.Test)
	}
	signals, labels := z.Net.Draw(z.Test, z.Stream("test"))
	stream, err := z.Net.NewStreamOver(z.Operator().Of, graphs, renew, signals, labels)
	return stream, g, err
}

// tell writes what the detectors are told to labels, and returns how many of their
// answers y are right. Whatever the trouble, it draws the same numbers.
func (z *Realization) tell(labels, truth []int32, y mat.Dense, t *trouble, luck *rand.Rand) (right int) {
	copy(labels, truth)
	for _, i := range z.Read() {
		c := truth[i]
		if int32(mat.Argmax(y.Row(i))) == c {
			right++
		}
		heard, honest, other := luck.Float64(), luck.Float64(), luck.IntN(z.World.Communities-1)
		switch {
		case heard < t.untold:
			labels[i] = loss.NoLabel
		case honest < t.wrong:
			labels[i] = (c + 1 + int32(other)) % int32(z.World.Communities)
		}
	}
	return right
}

// hush takes some links of g out of a sample.
func (z *Realization) hush(sample *graph.Sample, g *graph.Graph, share float64, rng *rand.Rand) error {
	left, err := graph.NewOutage(g, rng).At(share)
	if err != nil {
		return err
	}
	if sample.Shift, err = z.Operator().Of(left); err != nil {
		return err
	}
	sample.Mixing, err = graph.Metropolis(left)
	return err
}

// liar returns a neighbour of the first detector that has one which is no detector
// itself.
func (z *Realization) liar(g *graph.Graph) int {
	for _, d := range z.Read() {
		for _, j := range g.Neighbors(d) {
			if !slices.Contains(z.Net.Detectors, int(j)) {
				return int(j)
			}
		}
	}
	return 0
}

// deceive puts lies in the place of what a node of l would send next.
func deceive(l online.Learner, node int, size float32) error {
	s := l.Snapshot()
	params := s.Nodes[node].Params()
	for k := range params {
		params[k] = float64(size)
		if k%2 == 1 {
			params[k] = -params[k]
		}
	}
	return l.Restore(s)
}
