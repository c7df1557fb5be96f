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
// give the same graph on every machine. A [Builder] does the same for robots
// that move, in memory that it reuses.
//
// A coordinate that is not finite and a radius that is not positive are
// errors, and so is anything beyond 1e150 metres.
func Geometric(positions [][2]float64, radiusMeters float64) (*Graph, error) {
	var b Builder
	if _, err := b.Geometric(positions, radiusMeters); err != nil {
		return nil, err
	}
	adj := b.adj // without the builder's scratch
	return &Graph{adj: &adj}, nil
}

// checkPlane reports a radius or a position that Geometric cannot work with.
func checkPlane(positions [][2]float64, radiusMeters float64) error {
	if !(radiusMeters > 0 && radiusMeters <= farthest) {
		return fmt.Errorf("graph: Geometric: radius %v m; want a positive number", radiusMeters)
	}
	if err := nodeCount(len(positions)); err != nil {
		return fmt.Errorf("graph: Geometric: %w", err)
	}
	for i, p := range positions {
		if !(math.Abs(p[0]) <= farthest && math.Abs(p[1]) <= farthest) {
			return fmt.Errorf("graph: Geometric: node %d is at (%v, %v) m; want finite coordinates", i, p[0], p[1])
		}
	}
	return nil
}

// within says whether p and q are at most √r2 apart. The conversions keep the
// compiler from fusing the sum, which would round differently elsewhere.
func within(p, q *[2]float64, r2 float64) bool {
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

// sort puts points into cells of side radius or more, at most about one cell
// per point, so that a small radius on a wide plane costs no memory. It
// overwrites c.
func (c *cells) sort(points [][2]float64, radius float64) {
	n := len(points)
	lo, hi := corners(points)
	// The factor keeps points that are r apart in adjacent cells although
	// their cell numbers are rounded.
	side := radius * (1 + 1e-6)
	width, height := hi[0]-lo[0], hi[1]-lo[1]
	side = max(side, math.Sqrt(width/float64(max(n, 1)))*math.Sqrt(height), max(width, height)/float64(max(n, 1)))
	c.cols = int(width/side) + 1
	c.rows = int(height/side) + 1
	c.at = resized(c.at, n)
	c.order = resized(c.order, n)
	c.start = resized(c.start, c.cols*c.rows+1)
	clear(c.start)
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
}

// corners returns the smallest and the largest coordinates of points.
func corners(points [][2]float64) (lo, hi [2]float64) {
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
	return lo, hi
}
