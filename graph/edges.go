package graph

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/wdgnn/wdgnn/mat"
)

// Edge is one link of an edge list: From is heard by To, so it becomes entry
// (To,From) of A. In an undirected graph the two hear each other.
type Edge struct {
	From, To int
	Weight   float64 // positive and finite; 1 where links have no weight
}

// FromEdges returns the graph with nodes 0 … n-1 and the given edges, in any
// order. It refuses, naming the position of the edge in the list and the node
// or weight at fault: a node outside the graph, a self loop, a weight that is
// not positive and finite as a float32, and a second edge between the same
// nodes (in the same direction, if directed).
func FromEdges(n int, edges []Edge, directed bool) (*Graph, error) {
	if err := nodeCount(n); err != nil {
		return nil, fmt.Errorf("graph: FromEdges: %w", err)
	}
	arcs := make([]arc, 0, 2*len(edges))
	for pos, e := range edges {
		if err := e.check(n); err != nil {
			return nil, fmt.Errorf("graph: FromEdges: edge at position %d, %d → %d: %w", pos, e.From, e.To, err)
		}
		w := float32(e.Weight)
		arcs = append(arcs, arc{row: int32(e.To), col: int32(e.From), val: w, pos: pos})
		if !directed {
			arcs = append(arcs, arc{row: int32(e.From), col: int32(e.To), val: w, pos: pos})
		}
	}
	slices.SortFunc(arcs, func(a, b arc) int {
		return cmp.Or(cmp.Compare(a.row, b.row), cmp.Compare(a.col, b.col), cmp.Compare(a.pos, b.pos))
	})
	if first, again, ok := firstRepeat(arcs); ok {
		e := edges[again]
		return nil, fmt.Errorf("graph: FromEdges: edge at position %d, %d → %d: same nodes as the edge at position %d; "+
			"keep one of the two or add their weights", again, e.From, e.To, first)
	}
	return &Graph{adj: compress(n, arcs), directed: directed}, nil
}

// check reports what is wrong with e in a graph of n nodes.
func (e Edge) check(n int) error {
	for _, node := range []int{e.From, e.To} {
		if node < 0 || node >= n {
			return fmt.Errorf("no node %d among %d; nodes count from 0", node, n)
		}
	}
	if e.From == e.To {
		return fmt.Errorf("node %d linked to itself; leave self loops out", e.From)
	}
	if math.IsNaN(e.Weight) || math.IsInf(e.Weight, 0) || e.Weight < 0 {
		return fmt.Errorf("weight %v; want a positive number", e.Weight)
	}
	if w := float32(e.Weight); w == 0 {
		return fmt.Errorf("weight %v is 0 as a float32; leave the edge out, or write 1 if it has no weight", e.Weight)
	} else if math.IsInf(float64(w), 0) {
		return fmt.Errorf("weight %v does not fit a float32; scale the weights down", e.Weight)
	}
	return nil
}

// arc is an entry of A and the position of its edge in the list.
type arc struct {
	row, col int32
	val      float32
	pos      int
}

// firstRepeat returns the positions of the first edge in the list that repeats
// an earlier one, and of that earlier one. Arcs are sorted.
func firstRepeat(arcs []arc) (first, again int, found bool) {
	for k := 1; k < len(arcs); k++ {
		a, b := arcs[k-1], arcs[k]
		if a.row == b.row && a.col == b.col && (!found || b.pos < again) {
			first, again, found = a.pos, b.pos, true
		}
	}
	return first, again, found
}

// compress returns the n×n matrix with the given entries, sorted by row and
// column.
func compress(n int, arcs []arc) *mat.CSR {
	a := &mat.CSR{
		Rows: n, Cols: n,
		RowPtr: make([]int, n+1),
		Col:    make([]int32, len(arcs)),
		Val:    make([]float32, len(arcs)),
	}
	for k, e := range arcs {
		a.RowPtr[e.row+1]++
		a.Col[k], a.Val[k] = e.col, e.val
	}
	for i := range n {
		a.RowPtr[i+1] += a.RowPtr[i]
	}
	return a
}
