package crown

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/wdgnn/wdgnn/internal/vector"
)

// GiveTaps gives the wide part of node i taps of its own, as what they add to the
// outputs of those that all share:
//
//	y_i = y†_i + [z_i 1] Δ_i      z_i = [X SX … SᴷX]_i      Δ_i: ((K+1)F + 1)×C by rows
//
// with gain and readout inside Δ_i and its last row the bias's: terms of its own shifted
// signals, in the place of those of GiveTerms. The network keeps delta. It panics without
// a wide part, or if the shape is another.
func (n *Network) GiveTaps(i int, delta []float64) {
	block := n.In * n.Outputs
	if n.Wide == nil || len(delta) != len(n.Wide.Taps)*block+n.Outputs {
		panic(fmt.Sprintf("crown: GiveTaps: %d numbers for node %d", len(delta), i))
	}
	var terms []Term
	for k := range n.Wide.Taps {
		terms = append(terms, Term{Node: i, Hop: k, Weights: delta[k*block : (k+1)*block]})
	}
	n.GiveTerms(i, terms, delta[len(terms)*block:])
}

// OwnTaps returns how many nodes have taps, or weights of their neighbours, of their own.
func (n *Network) OwnTaps() int { return len(n.terms) }

// addOwn adds to y, N×C, what nodes have of their own, given Z_k = SᵏX; without bias
// the linear part alone.
func (n *Network) addOwn(y []float64, z [][]float64, bias bool) {
	in, out := n.In, n.Outputs
	for i, t := range n.terms {
		row := y[i*out : (i+1)*out]
		for _, term := range t.list {
			AddProduct(row, z[term.Hop][term.Node*in:(term.Node+1)*in], term.Weights, in, out)
		}
		if bias && t.bias != nil {
			vector.Axpy(row, 1, t.bias)
		}
	}
}

// PushOwn adds to y, N×C, what nodes have of their own for X, N×F, without their biases.
func (n *Network) PushOwn(y []float64, s *Shift, x []float64) {
	if len(n.terms) > 0 {
		n.addOwn(y, shifted(s, x, n.In, n.ownOrder(), 0, nil), false)
	}
}

// AddOwnBiases adds to y, N×C, s times the biases that nodes have of their own.
func (n *Network) AddOwnBiases(y []float64, s float64) {
	for i, t := range n.terms {
		vector.Axpy(y[i*n.Outputs:(i+1)*n.Outputs], s, t.bias)
	}
}

// PullOwn adds the adjoint of what nodes have of their own, without their biases, to dx,
// N×F, given dy, N×C, and st = Sᵀ:
//
//	dX += Σ_k (Sᵀ)ᵏ [rows j: Σ_i dy_i W_ijkᵀ]      by Horner's rule
//
// It is what they add to the gradient of the signal.
func (n *Network) PullOwn(dx []float64, st *Shift, dy []float64) {
	if len(n.terms) == 0 {
		return
	}
	in, out := n.In, n.Outputs
	sum, next := make([]float64, len(dx)), make([]float64, len(dx))
	nodes := slices.Sorted(maps.Keys(n.terms)) // sums of neighbours are taken in one order
	for k := n.ownOrder(); k >= 0; k-- {
		st.Apply(next, sum, in)
		sum, next = next, sum
		for _, i := range nodes {
			for _, term := range n.terms[i].list {
				for f := 0; f < in && term.Hop == k; f++ {
					sum[term.Node*in+f] += vector.Dot(dy[i*out:(i+1)*out], term.Weights[f*out:(f+1)*out])
				}
			}
		}
	}
	vector.Axpy(dx, 1, sum)
}

// ownOrder returns the most hops of a term.
func (n *Network) ownOrder() int {
	most := 0
	for _, t := range n.terms {
		for _, term := range t.list {
			most = max(most, term.Hop)
		}
	}
	return most
}

// OnPerturbed returns the network as it is on Ŝ.
func (n *Network) OnPerturbed() *Network { return cmp.Or(n.Perturbed, n) }
