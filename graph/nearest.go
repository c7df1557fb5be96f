package graph

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/wdgnn/wdgnn/mat"
)

// NearestConfig says how a similarity becomes a graph.
type NearestConfig struct {
	Neighbors int  // k, how many others a node hears; at least 1
	Symmetric bool // make the graph undirected, (A + Aᵀ)/2; the zero value leaves it directed
}

// Validate reports everything that is wrong with c.
func (c NearestConfig) Validate() error {
	var errs []error
	if c.Neighbors < 1 {
		errs = append(errs, fmt.Errorf("Neighbors is %d; want at least 1", c.Neighbors))
	}
	return errors.Join(errs...)
}

// Nearest returns the graph in which every node hears the k others that are
// most similar to it, with the similarity as weight:
//
//	A_ij = similarity[i][j]  if j is among the k largest of row i      similarity: N×N
//
// Of equal similarities the lower index goes first. Only positive ones count,
// so a row may have fewer than k. The diagonal is not read. With Symmetric the
// result is (A + Aᵀ)/2, in which a node may have more than k neighbours.
//
// Rows of a wrong length and values that are not finite are errors.
func Nearest(similarity [][]float64, c NearestConfig) (*Graph, error) {
	if err := errors.Join(c.Validate(), nodeCount(len(similarity)), checkSimilarity(similarity)); err != nil {
		return nil, fmt.Errorf("graph: Nearest: %w", err)
	}
	n := len(similarity)
	kept := make([][]int32, n)
	for i, row := range similarity {
		kept[i] = largest(row, i, c.Neighbors)
		slices.Sort(kept[i])
	}
	if c.Symmetric {
		return &Graph{adj: averaged(similarity, kept)}, nil
	}
	var arcs []arc
	for i, cols := range kept {
		for _, j := range cols {
			arcs = append(arcs, arc{row: int32(i), col: j, val: float32(similarity[i][j])})
		}
	}
	return &Graph{adj: compress(n, arcs), directed: true}, nil
}

func checkSimilarity(similarity [][]float64) error {
	n := len(similarity)
	for i, row := range similarity {
		if len(row) != n {
			return fmt.Errorf("row %d has %d similarities; want one per node, %d", i, len(row), n)
		}
		for j, v := range row {
			if i != j && (math.IsNaN(v) || math.Abs(v) > math.MaxFloat32) {
				return fmt.Errorf("similarity of nodes %d and %d is %v; want a finite float32, 0 where it is not known", i, j, v)
			}
		}
	}
	return nil
}

// largest returns the columns of the k largest positive values of row, column
// self left out, in descending order of value and then ascending order.
func largest(row []float64, self, k int) []int32 {
	var best []int32
	for j, v := range row {
		if j == self || float32(v) <= 0 {
			continue
		}
		if len(best) == k {
			if v <= row[best[k-1]] {
				continue
			}
			best = best[:k-1]
		}
		at := len(best)
		for at > 0 && v > row[best[at-1]] {
			at--
		}
		best = slices.Insert(best, at, int32(j))
	}
	return best
}

// averaged returns (A + Aᵀ)/2 for the A that has the values of the similarity
// in the kept columns, ascending in each row.
func averaged(similarity [][]float64, kept [][]int32) *mat.CSR {
	has := func(i, j int32) float64 {
		if _, ok := slices.BinarySearch(kept[i], j); ok {
			return similarity[i][j]
		}
		return 0
	}
	either := make([][]int32, len(kept)) // columns of A + Aᵀ
	for i, cols := range kept {
		for _, j := range cols {
			either[i] = append(either[i], j)
			either[j] = append(either[j], int32(i))
		}
	}
	var arcs []arc
	for i := range either {
		slices.Sort(either[i])
		for _, j := range slices.Compact(either[i]) {
			mean := has(int32(i), j)/2 + has(j, int32(i))/2
			if w := float32(mean); w > 0 { // halving the smallest float32 gives 0
				arcs = append(arcs, arc{row: int32(i), col: j, val: w})
			}
		}
	}
	return compress(len(kept), arcs)
}
