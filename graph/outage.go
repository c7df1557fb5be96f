package graph

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/wdgnn/wdgnn/mat"
)

// Outage decides which links of a graph fail, for every outage probability p
// at once: each edge has one uniform number u, drawn when the Outage is made,
// and is out at all p > u. The subgraphs are therefore nested, and curves over
// p compare like with like. An undirected edge fails in both directions
// together; in a directed graph each direction has its own number.
//
// An Outage never changes; any number of goroutines may use it.
type Outage struct {
	graph   *Graph
	uniform []float64 // per entry of A, 0 ≤ u < 1, equal for (i,j) and (j,i) of an undirected graph
}

// NewOutage draws the numbers, one per edge: for an undirected graph in
// ascending order of the lower node, then of the higher; for a directed graph
// row by row.
func NewOutage(g *Graph, rng *rand.Rand) *Outage {
	a := g.adj
	o := &Outage{graph: g, uniform: make([]float64, a.NNZ())}
	if g.directed {
		for e := range o.uniform {
			o.uniform[e] = rng.Float64()
		}
		return o
	}
	next := slices.Clone(a.RowPtr) // next entry of row j below the diagonal
	for i := range a.Rows {
		for e := a.RowPtr[i]; e < a.RowPtr[i+1]; e++ {
			if j := a.Col[e]; int(j) > i {
				u := rng.Float64()
				o.uniform[e], o.uniform[next[j]] = u, u // A_ji is the next entry of row j, as i ascends
				next[j]++
			}
		}
	}
	return o
}

// At returns the subgraph whose edges survive outage probability p, those with
// u ≥ p. It has all nodes, the surviving edges with their weights, and at p = 0
// is the graph itself. If p < q, the edges at q are among those at p. A p
// outside 0 ≤ p ≤ 1 is an error.
func (o *Outage) At(p float64) (*Graph, error) {
	if err := probability("outage probability", p); err != nil {
		return nil, fmt.Errorf("graph: Outage: %w", err)
	}
	a := o.graph.adj
	kept := 0
	for _, u := range o.uniform {
		if u >= p {
			kept++
		}
	}
	sub := &mat.CSR{
		Rows: a.Rows, Cols: a.Cols,
		RowPtr: make([]int, a.Rows+1),
		Col:    make([]int32, 0, kept),
		Val:    make([]float32, 0, kept),
	}
	for i := range a.Rows {
		for e := a.RowPtr[i]; e < a.RowPtr[i+1]; e++ {
			if o.uniform[e] >= p {
				sub.Col, sub.Val = append(sub.Col, a.Col[e]), append(sub.Val, a.Val[e])
			}
		}
		sub.RowPtr[i+1] = len(sub.Col)
	}
	return &Graph{adj: sub, directed: o.graph.directed}, nil
}
