package graph

import "fmt"

// Ring returns n nodes in a circle: node i and node i+1 hear each other, and
// so do the last and the first. Two nodes share one edge, one node has none.
// It panics if n < 0.
func Ring(n int) *Graph {
	mustCount("Ring", n)
	pairs := make([]pair, 0, n)
	for i := range n - 1 {
		pairs = append(pairs, pair{int32(i), int32(i + 1)})
		if i == 0 && n > 2 {
			pairs = append(pairs, pair{0, int32(n - 1)})
		}
	}
	return fromPairs(n, pairs)
}

// Grid returns rows×cols nodes on a rectangular lattice without wrapping:
// node r·cols+c hears the nodes above, below, left and right of it. It panics
// if rows < 0 or cols < 0.
func Grid(rows, cols int) *Graph {
	mustCount("Grid", rows)
	mustCount("Grid", cols)
	n := rows * cols
	mustCount("Grid", n)
	pairs := make([]pair, 0, 2*n)
	for i := range n {
		if i%cols+1 < cols {
			pairs = append(pairs, pair{int32(i), int32(i + 1)})
		}
		if i+cols < n {
			pairs = append(pairs, pair{int32(i), int32(i + cols)})
		}
	}
	return fromPairs(n, pairs)
}

func mustCount(op string, n int) {
	if err := nodeCount(n); err != nil {
		panic(fmt.Sprintf("graph: %s: %v", op, err))
	}
}
