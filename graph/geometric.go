package graph

import (
	"fmt"
	"math"
)

// farthest bounds coordinates and radii, so that squared distances stay finite.
const farthest = 1e150

// Geometric returns the undirected, unweighted graph of the nodes at the given
// positions in the plane: i and j hear each other if
//
//	‖p_i - p_j‖ ≤ r        positions and radius in metres
//
// as robots within communication range do. Nodes are sorted into square cells
// of side r or more, and only adjacent cells are compared. The same positions
// give the same graph on every machine.
//
// A coordinate that is not finite and a radius that is not positive are
// errors, and so is anything beyond 1e150 metres.
func Geometric(positions [][2]float64, radiusMeters float64) (*Graph, error) {
	if !(radiusMeters > 0 && radiusMeters <= farthest) {
		return nil, fmt.Errorf("graph: Geometric: radius %v m; want a positive number", radiusMeters)
	}
	if err := nodeCount(len(positions)); err != nil {
		return nil, fmt.Errorf("graph: Geometric: %w", err)
	}
	for i, p := range positions {
		if !(math.Abs(p[0]) <= farthest && math.Abs(p[1]) <= farthest) {
			return nil, fmt.Errorf("graph: Geometric: node %d is at (%v, %v) m; want finite coordinates", i, p[0], p[1])
		}
	}
	near := sortIntoCells(positions, radiusMeters)
	return near.graph(positions, radiusMeters), nil
}

// within says whether p and q are at most √r2 apart. The conversions keep the
// compiler from fusing the sum, which would round differently elsewhere.
func within(p, q [2]float64, r2 float64) bool {
	dx, dy := p[0]-q[0], p[1]-q[1]
	return float64(dx*dx)+float64(dy*dy) <= r2
}

// cells is a partition of the plane's points into a grid of square cells,
// stored row by row: cell c holds the points order[start[c]:start[c+1]]. Three
// neighbouring cells of a row are one run of order.
type cells struct {
	cols, rows int
	at         []int32 // cell of each point
	start      []int32 // cols·rows+1
	order      []int32 // points, cell by cell
}

// sortIntoCells puts points into cells of side radius or more, at most about
// one cell per point, so that a small radius on a wide plane costs no memory.
func sortIntoCells(points [][2]float64, radius float64) *cells {
	n := len(points)
	lo, hi := [2]float64{}, [2]float64{}
	for i, p := range points {
		for d := range p {
			if i == 0 || p[d] < lo[d] {
				lo[d] = p[d]
			}
			if i == 0 || p[d] > hi[d] {
				hi[d] = p[d]
			}
		}
	}
	// The factor keeps points that are r apart in adjacent cells although
	// their cell numbers are rounded.
	side := radius * (1 + 1e-6)
	width, height := hi[0]-lo[0], hi[1]-lo[1]
	side = max(side, math.Sqrt(width/float64(max(n, 1)))*math.Sqrt(height), max(width, height)/float64(max(n, 1)))
	c := &cells{
		cols: int(width/side) + 1,
		rows: int(height/side) + 1,
		at:   make([]int32, n),
	}
	c.start = make([]int32, c.cols*c.rows+1)
	c.order = make([]int32, n)
	for i, p := range points {
		at := int32((p[1]-lo[1])/side)*int32(c.cols) + int32((p[0]-lo[0])/side)
		c.at[i] = at
		c.start[at+1]++
	}
	for k := range c.cols * c.rows {
		c.start[k+1] += c.start[k]
	}
	for i := n - 1; i >= 0; i-- { // from the ends of the cells to their starts
		end := c.start[c.at[i]+1:]
		end[0]--
		c.order[end[0]] = int32(i)
	}
	copy(c.start, c.start[1:]) // start[k+1] has become the start of cell k
	c.start[c.cols*c.rows] = int32(n)
	return c
}

// graph links the points that are within radius of each other.
func (c *cells) graph(points [][2]float64, radius float64) *Graph {
	n, r2 := len(points), radius*radius
	rowPtr := make([]int, n+1)
	found := make([]int32, 0, 8*n) // neighbours of 0, of 1, …, each in cell order
	for i, p := range points {
		x, y := int(c.at[i])%c.cols, int(c.at[i])/c.cols
		left, right := max(x-1, 0), min(x+1, c.cols-1)
		for row := max(y-1, 0); row <= min(y+1, c.rows-1); row++ {
			for _, j := range c.order[c.start[row*c.cols+left]:c.start[row*c.cols+right+1]] {
				if within(p, points[j], r2) && int(j) != i {
					found = append(found, j)
				}
			}
		}
		rowPtr[i+1] = len(found)
	}
	// Being neighbours is mutual: handing i to each of its neighbours, i
	// ascending, fills every row in order.
	col := make([]int32, len(found))
	next := make([]int, n)
	copy(next, rowPtr)
	for i := range n {
		for _, j := range found[rowPtr[i]:rowPtr[i+1]] {
			col[next[j]] = int32(i)
			next[j]++
		}
	}
	return &Graph{adj: unweighted(n, rowPtr, col)}
}
