package crown

import (
	"fmt"
	"math"
	"slices"

	"github.com/wdgnn/wdgnn/internal/vector"
)

// Liar is a node that may send anything that its neighbours accept, something else
// to every one of them and in every exchange: any row no longer than Most.
type Liar struct {
	Rows []int // its rows of S: one, or one for every step of a sequence

	// Most is the largest norm of a row by exchange, the hops of the input first
	// and then those of every layer after the first: agent.Plan.MaxRows.
	Most []float64

	// Joint says that one message carries the rows of all exchanges, as with delayed
	// filters: it is accepted up to the root of the sum of their squares.
	Joint bool

	// Weight is the largest |S_jv| that the liar can make node j use for it; nil means
	// that of S.
	Weight func(j int, s float64) float64
}

// NewLiarCrown prepares bounds of the answers of the nodes of read where one node
// lies. The liar's columns leave S, and what it sends comes in as unknowns: with
// Z'_k the shifted signals as the others compute them,
//
//	[Z'_{k+1}]_j = Σ_{m≠v} S_jm [Z'_k]_m + S_jv r_{j,k}        ‖r_{j,k}‖ ≤ Most_k
//
// of every layer, so that a functional with the coefficients T_{j,k} of S_jv r_{j,k}
// can be lowered by Σ_{j,k} Most_k ‖T_{j,k}‖. Sizes of unknowns are shares of Most: 1
// is what neighbours accept. It panics if Most does not fit the network.
func NewLiarCrown(n *Network, s *Shift, read []int, l Liar) *Crown {
	u := &liar{Liar: l, at: make([][]int, max(len(n.Deep), 1))}
	exchange := 0
	for layer := range u.at {
		order, features := n.Order(layer), n.In
		if layer == 0 {
			order = max(order, n.wideOrder())
		} else {
			features = n.Deep[layer].In
		}
		u.features = append(u.features, features)
		for range order {
			u.at[layer] = append(u.at[layer], u.total)
			u.total += features
			exchange++
		}
	}
	if len(l.Most) != exchange {
		panic(fmt.Sprintf("crown: NewLiarCrown: bounds of %d rows for a network of %d exchanges", len(l.Most), exchange))
	}
	return newCrown(u.unheard(n), u.silence(s), read, u)
}

// liar is a Liar as an unknown: r_{j,k} of all neighbours and exchanges.
type liar struct {
	Liar
	heard    []entry        // by node of the graph that hears it
	direct   map[int][]Term // by node: terms of what the liar sends
	features []int          // of a row, by layer
	at       [][]int        // where the row of a layer and hop begins in a message of all
	total    int
}

// unheard returns the network without the terms that nodes have for what the liar
// sends, and notes those.
func (l *liar) unheard(n *Network) *Network {
	if len(n.terms) == 0 {
		return n
	}
	out := *n
	out.terms, l.direct = map[int]nodeTerms{}, map[int][]Term{}
	for i, t := range n.terms {
		kept := nodeTerms{bias: t.bias}
		for _, term := range t.list {
			if slices.Contains(l.Rows, term.Node) && !slices.Contains(l.Rows, i) {
				l.direct[i] = append(l.direct[i], term)
			} else {
				kept.list = append(kept.list, term)
			}
		}
		out.terms[i] = kept
	}
	return &out
}

// silence returns S without the liar's columns, and notes who hears it.
func (l *liar) silence(s *Shift) *Shift {
	out := &Shift{nodes: s.nodes, rowPtr: []int{0}}
	for j := range s.nodes {
		col, val := s.Row(j)
		for e, v := range col {
			switch {
			case !slices.Contains(l.Rows, int(v)):
				out.col, out.val = append(out.col, v), append(out.val, val[e])
			case !slices.Contains(l.Rows, j):
				weight := val[e]
				if l.Weight != nil {
					weight = l.Weight(j, weight)
				}
				l.heard = append(l.heard, entry{local: j, weight: weight})
			}
		}
		out.rowPtr = append(out.rowPtr, len(out.col))
	}
	return out
}

func (l *liar) enter(c *cone) []entry {
	var out []entry
	for _, in := range l.heard {
		if at, found := slices.BinarySearch(c.nodes, in.local); found {
			out = append(out, entry{local: at, weight: in.weight})
		}
	}
	return out
}

func (l *liar) width() int { return l.total }

func (l *liar) block(taint []float64, e, layer, hop int) []float64 {
	from := e*l.total + l.at[layer][hop]
	return taint[from : from+l.features[layer]]
}

// most returns how long a row can be, that of the whole message if it is one.
func (l *liar) most(layer, hop int) float64 {
	if l.Joint {
		return vector.Norm(l.Most)
	}
	before := 0
	for k := range layer {
		before += len(l.at[k])
	}
	return l.Most[before+hop]
}

// parts calls f for every part of a vector of unknowns that has a bound of its own.
func (l *liar) parts(v []float64, f func(part []float64, most float64)) {
	for e := 0; e*l.total < len(v); e++ {
		if l.Joint {
			f(v[e*l.total:(e+1)*l.total], vector.Norm(l.Most))
			continue
		}
		for layer := range l.at {
			for hop := range l.at[layer] {
				f(l.block(v, e, layer, hop), l.most(layer, hop))
			}
		}
	}
}

func (l *liar) spread(f *functional, _ *answer) float64 {
	sum := 0.0
	l.parts(f.taint, func(part []float64, most float64) {
		if length := vector.Norm(part); length > 0 {
			sum += most * length
		}
	})
	return sum
}

func (l *liar) inputs(n int) []float64 { return make([]float64, n) }

// sizes adds the sizes of what the liar sends.
func (l *liar) sizes() feed {
	return func(layer, hop int, z []float64) {
		features := l.features[layer]
		for _, in := range l.heard {
			for f := range features {
				z[in.local*features+f] += math.Abs(in.weight) * l.most(layer, hop)
			}
		}
	}
}

func (l *liar) len(a *answer) int { return len(a.enter) * l.total }

func (l *liar) steepest(f *functional, _ *answer, size float64) []float64 {
	v := slices.Clone(f.taint)
	l.parts(v, func(part []float64, most float64) {
		if length := vector.Norm(part); length > 0 {
			vector.Scale(part, -size*most/length)
		}
	})
	return v
}

func (l *liar) enact(x []float64, a *answer, v []float64) ([]float64, feed) {
	return x, func(layer, hop int, z []float64) {
		features := l.features[layer]
		for e, in := range a.enter {
			vector.Axpy(z[in.local*features:(in.local+1)*features], in.weight, l.block(v, e, layer, hop))
		}
	}
}
