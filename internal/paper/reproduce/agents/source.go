package agents

import (
	"context"
	"fmt"
	"slices"

	"github.com/wdgnn/wdgnn/internal/paper/reproduce/sourceloc"
	"github.com/wdgnn/wdgnn/internal/recipe"
)

// learners are how the agents of source localization learn.
var learners = []recipe.LearnerSpec{sourceloc.WideDeepFrozen, sourceloc.WideDeepPaper, sourceloc.WideDeepOwn}

// passCost is about what agents take for a pass over a stream, in epochs
// of a WD-GNN.
const passCost = 2.5

// networkUnit is what one network shows. Accuracies are in %, mean over
// subgraphs.
type networkUnit struct {
	Model recipe.SourceInfo `json:"model"`
	Links float64           `json:"links"` // to be heard over, each direction on its own
	Bits  bits              `json:"bits"`  // against online.Consensus, with nothing lost

	Loss     map[string][]outcome  `json:"loss"`     // by learner and probability
	Forgiven map[string][]outcome  `json:"forgiven"` // likewise, of agents that leave a sender out of one hop only
	Killed   map[string][]float64  `json:"killed"`   // by learner and number: right answers afterwards
	Others   map[string][2]float64 `json:"others"`   // likewise of some detectors: while all live, and with the rest killed
}

// outcome is what came out at one probability of losing a message.
type outcome struct {
	Accuracy float64 `json:"accuracy"`
	GivenUp  float64 `json:"given_up"` // links per signal
	Drift    float64 `json:"drift"`    // of the mean of all parameters, by mixing alone
	Way      float64 `json:"way"`      // of that mean, in all
	Diverged float64 `json:"diverged"` // updates that were refused
}

func (a *outcome) add(o outcome, share float64) {
	a.Accuracy += o.Accuracy * share
	a.GivenUp += o.GivenUp * share
	a.Drift += o.Drift * share
	a.Way += o.Way * share
	a.Diverged += o.Diverged * share
}

// sourcePasses is how many times agents go through the signals on one subgraph.
func (s *settings) sourcePasses() int {
	return len(learners) * (2*len(s.Loss) + len(s.Killed)) // none killed is none lost; detectors are killed once
}

func (s *settings) sourceWork() float64 {
	return sourceloc.EpochCost[recipe.WideDeep]*float64(s.Source.Epochs) + passCost*float64(s.Source.Subgraphs*s.sourcePasses())
}

// realization is a network of Table 1 whose nodes are agents.
type realization struct{ *sourceloc.Realization }

// agents computes a unit.
func (z *realization) agents(ctx context.Context, s *settings) (*networkUnit, error) {
	if err := z.Prepare(ctx, recipe.WideDeep); err != nil {
		return nil, err
	}
	u := &networkUnit{
		Model: z.Models[recipe.WideDeep].Info,
		Loss:  map[string][]outcome{}, Forgiven: map[string][]outcome{},
		Killed: map[string][]float64{}, Others: map[string][2]float64{},
	}
	for _, spec := range learners {
		u.Loss[spec.ID], u.Forgiven[spec.ID] = make([]outcome, len(s.Loss)), make([]outcome, len(s.Loss))
		u.Killed[spec.ID] = make([]float64, len(s.Killed))
	}
	for sub := range z.Subgraphs {
		g, err := z.Subgraph(sub, z.OutageProb)
		if err != nil {
			return nil, err
		}
		u.Links += float64(g.Adjacency().NNZ()) / float64(z.Subgraphs)
		for _, spec := range learners {
			if err := z.learnOn(ctx, s, u, sub, spec); err != nil {
				return nil, fmt.Errorf("subgraph %d: %s: %w", sub, spec.ID, err)
			}
		}
	}
	return u, nil
}

// learnOn adds what one learner shows on one subgraph.
func (z *realization) learnOn(ctx context.Context, s *settings, u *networkUnit, sub int, spec recipe.LearnerSpec) error {
	share := 1 / float64(z.Subgraphs)
	victims, fallen := z.victims(s)
	others := slices.DeleteFunc(z.Read(), func(d int) bool { return slices.Contains(fallen, d) })
	pair := u.Others[spec.ID]
	for k, loss := range s.Loss {
		p := &pass{spec: spec, sub: sub, loss: loss}
		if err := z.localize(ctx, s, p); err != nil {
			return err
		}
		u.Loss[spec.ID][k].add(p.outcome, share)
		if loss == 0 {
			u.Bits.add(p.twin.bits)
			u.Killed[spec.ID][0] += share * p.accuracy(s, z.Read())
			pair[0] += share * p.accuracy(s, others)
		}
	}
	for k, loss := range s.Loss {
		p := &pass{spec: spec, sub: sub, loss: loss, forgiving: true}
		if err := z.localize(ctx, s, p); err != nil {
			return err
		}
		u.Forgiven[spec.ID][k].add(p.outcome, share)
	}
	for k, n := range s.Killed[1:] {
		p := &pass{spec: spec, sub: sub, killed: victims[:n]}
		if err := z.localize(ctx, s, p); err != nil {
			return err
		}
		u.Killed[spec.ID][k+1] += share * p.accuracy(s, z.Read())
	}
	p := &pass{spec: spec, sub: sub, killed: fallen}
	if err := z.localize(ctx, s, p); err != nil {
		return err
	}
	pair[1] += share * p.accuracy(s, others)
	u.Others[spec.ID] = pair
	return nil
}

// victims returns the nodes that are no detectors in the order in which they
// fall, and the detectors that fall.
func (z *realization) victims(s *settings) (nodes, detectors []int) {
	rng := z.Stream("killed")
	for _, i := range rng.Perm(z.Net.Graph.Nodes()) {
		if slices.Contains(z.Net.Detectors, i) {
			detectors = append(detectors, i)
		} else {
			nodes = append(nodes, i)
		}
	}
	return nodes, detectors[:s.Detectors]
}
