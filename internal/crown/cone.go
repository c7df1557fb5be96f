package crown

import (
	"slices"

	"github.com/wdgnn/wdgnn/internal/vector"
)

// cone is what one node reads through the filters of the first layers: the nodes
// within their hops, and the rows of S among them. Rows of nodes at the rim are
// left out; nothing that the node computes reads them.
type cone struct {
	nodes []int // numbers in the graph, ascending
	self  int   // place of the node among them
	shift *Shift
}

// newCone returns the cone of a node and so many hops.
func newCone(s *Shift, node, hops int) *cone {
	distance := map[int]int{node: 0}
	ring := []int{node}
	for d := 1; d <= hops && len(ring) > 0; d++ {
		var next []int
		for _, i := range ring {
			col, _ := s.Row(i)
			for _, j := range col {
				if _, seen := distance[int(j)]; !seen {
					distance[int(j)] = d
					next = append(next, int(j))
				}
			}
		}
		ring = next
	}
	c := &cone{shift: &Shift{nodes: len(distance), rowPtr: []int{0}}}
	for i := range distance {
		c.nodes = append(c.nodes, i)
	}
	slices.Sort(c.nodes)
	place := make(map[int]int32, len(c.nodes))
	for k, i := range c.nodes {
		place[i] = int32(k)
	}
	for _, i := range c.nodes {
		if distance[i] < hops {
			col, val := s.Row(i)
			for _, j := range col {
				c.shift.col = append(c.shift.col, place[int(j)])
			}
			c.shift.val = append(c.shift.val, val...)
		}
		c.shift.rowPtr = append(c.shift.rowPtr, len(c.shift.col))
	}
	c.self = int(place[node])
	return c
}

// powers returns the rows [S⁰]_i, [S¹]_i, …, [Sᴷ]_i of the cone's node, each over
// its nodes.
func (c *cone) powers(order int) [][]float64 {
	row := make([]float64, len(c.nodes))
	row[c.self] = 1
	out := [][]float64{row}
	for range order {
		next := make([]float64, len(row))
		c.shift.adopt(next, row, 1)
		out, row = append(out, next), next
	}
	return out
}

// adopt adds Sᵀ x to z, N×cols by rows each.
func (s *Shift) adopt(z, x []float64, cols int) {
	for i := range s.nodes {
		from := x[i*cols : (i+1)*cols]
		if isZero(from) {
			continue
		}
		col, val := s.Row(i)
		for e, j := range col {
			vector.Axpy(z[int(j)*cols:(int(j)+1)*cols], val[e], from)
		}
	}
}

func isZero(x []float64) bool {
	for _, v := range x {
		if v != 0 {
			return false
		}
	}
	return true
}

// gather returns the rows of x, N×cols, that belong to the cone.
func (c *cone) gather(x []float64, cols int) []float64 {
	out := make([]float64, 0, len(c.nodes)*cols)
	for _, i := range c.nodes {
		out = append(out, x[i*cols:(i+1)*cols]...)
	}
	return out
}
