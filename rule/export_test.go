package rule

import "slices"

// Ahead says when a newcomer takes over, for tests.
var Ahead = ahead

// KnownHorizon is what a node that learns by season knows of a horizon, for tests.
type KnownHorizon struct {
	Answers, Trained          float64
	Weight                    [2]float64
	Table, Seen, Taps, Spread []float64
}

// Knows returns copies.
func (n *SeasonNode) Knows() (all []KnownHorizon) {
	for c, h := range n.horizons {
		does := n.Does(c)
		all = append(all, KnownHorizon{
			does.Answers, does.Trained,
			[2]float64{h.g, h.b},
			slices.Clone(h.table), slices.Clone(h.seen), slices.Clone(h.taps), slices.Clone(h.spread),
		})
	}
	return all
}

// Plan returns what the node shares with others.
func (n *SeasonNode) Plan() *SeasonPlan { return n.plan }
