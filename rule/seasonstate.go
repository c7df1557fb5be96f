package rule

import (
	"math"
	"slices"
)

// What a node that learns by season knows, in a State: of every horizon G, b, c_k and n_k by
// slot of the season, θ, and the lower triangle of P by rows.

// State returns what the node remembers. Times are those of the clock of the season.
func (n *SeasonNode) State() State {
	parts := n.answers.parts(0)
	var list []float64
	for c := range n.horizons {
		h := &n.horizons[c]
		list = append(list, h.g, h.b)
		for _, part := range h.lists() {
			list = append(list, part...)
		}
	}
	parts[learnerPart] = list
	return newState(parts)
}

// lists are the numbers of a horizon but G and b.
func (h *seasonHorizon) lists() [][]float64 { return [][]float64{h.table, h.seen, h.taps, h.spread} }

// Restore gives the node a state, which may come from outside: an error says what does
// not fit, and leaves the node as it was. Without a state it is one that has learned
// nothing; forecasts that wait for longer than this node would wait are left out.
func (n *SeasonNode) Restore(s State) error {
	to, err := n.read(s)
	if err == nil {
		n.horizons, n.answers = to.horizons, to.answers
		n.alone()
	}
	return err
}

// Fits reports what keeps a state from being restored.
func (n *SeasonNode) Fits(s State) error {
	_, err := n.read(s)
	return err
}

// read returns horizons and answers as a state says.
func (n *SeasonNode) read(s State) (to SeasonNode, err error) {
	parts, err := s.parts()
	if err != nil {
		return to, err
	}
	if to.answers, err = n.answers.restored(parts, 0); err != nil {
		return to, err
	}
	r := reader{rest: parts[learnerPart]}
	for c := range n.horizons {
		h := newSeasonHorizon(n.plan, n.horizons[c].sigma)
		if len(s) > 0 {
			h.g, h.b = r.next(), r.next()
			for _, part := range h.lists() {
				copy(part, r.take(len(part)))
			}
		}
		r.bad = r.bad || !h.sane()
		to.horizons = append(to.horizons, h)
	}
	return to, r.end("a season of these steps, horizons and lags")
}

// sane says whether the numbers of a horizon can be those of one.
func (h *seasonHorizon) sane() bool {
	ok, at := h.g >= 0, 0
	for _, v := range h.seen {
		ok = ok && v >= 0
	}
	for i := range h.taps {
		at += i
		ok = ok && h.spread[at+i] >= 0
	}
	return ok
}

// Uncounted makes the node begin a stream after a replay of the past: what was learned
// stays, and nothing is counted yet of how answers did.
func (n *SeasonNode) Uncounted() {
	for k := range n.answers.gates {
		g := &n.answers.gates[k]
		g.state = GateState{Most: g.usual}
	}
	if n.answers.sure != nil {
		n.answers.sure.Uncounted()
	}
}

// Average returns the state with which a node begins that was not there before: the
// mean of its neighbours', whose weights are above 0, and nothing of how their
// answers did. Intervals begin with the scores of the neighbour with the largest
// weight. Neighbours without a state, or with one that does not fit the plan, are left
// out; without any there is none.
func (p *SeasonPlan) Average(states []State, weights []float64) State {
	var nodes []*SeasonNode
	var shares []float64
	total := 0.0
	for k, w := range weights {
		n := NewSeasonNode(p, make([]float64, len(p.horizons)))
		if w > 0 && len(states[k]) > 0 && n.Restore(states[k]) == nil {
			nodes, shares = append(nodes, n), append(shares, w)
			total += w
		}
	}
	if nodes == nil {
		return nil
	}
	best := nodes[slices.Index(shares, slices.Max(shares))]
	mean := NewSeasonNode(p, make([]float64, len(p.horizons)))
	if mean.answers.sure != nil {
		mean.answers.sure = best.answers.sure
		mean.answers.sure.Uncounted()
	}
	for c := range mean.horizons {
		h := &mean.horizons[c]
		clear(h.spread)
		for k, n := range nodes {
			share := shares[k] / total
			h.g += float64(share * n.horizons[c].g)
			h.b += float64(share * n.horizons[c].b)
			for e, part := range n.horizons[c].lists() {
				to := h.lists()[e]
				for at, v := range part {
					to[at] += float64(share * v)
				}
			}
		}
		for k, v := range h.seen {
			h.seen[k] = math.Floor(v)
		}
	}
	return mean.State()
}
