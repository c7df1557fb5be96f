package graph

import "github.com/wdgnn/wdgnn/mat"

// Builder builds graphs that replace each other, such as those of moving robots
// at successive time steps. It reuses its memory and allocates nothing once it
// has built a graph of that size.
//
// A graph that a Builder returns is valid until the Builder builds the next
// one; Clone keeps it for longer. The zero Builder is ready to use. It is not
// safe for concurrent use.
type Builder struct {
	cells cells
	found []int32 // nodes near 0, near 1, …, each in the order of cells
	next  []int   // next free entry of each row
	adj   mat.CSR
	graph Graph
}

// Geometric returns the graph of the nodes at the given positions, with the
// links and errors of the function [Geometric].
func (b *Builder) Geometric(positions [][2]float64, radiusMeters float64) (*Graph, error) {
	if err := checkPlane(positions, radiusMeters); err != nil {
		return nil, err
	}
	b.cells.sort(positions, radiusMeters)
	b.find(positions, radiusMeters*radiusMeters)
	b.fill()
	return b.result(len(positions), false), nil
}

// find collects the points that are at most √r2 from each point, itself
// included, and the row offsets without it: found[rowPtr[i]+i:rowPtr[i+1]+i+1]
// are those near i.
//
// Whether a candidate is near is a coin toss for the processor, so the loop is
// written such that it compiles without a branch: every candidate is stored,
// and those that are near move the end.
func (b *Builder) find(points [][2]float64, r2 float64) {
	c, end := &b.cells, 0
	rowPtr, found := resized(b.adj.RowPtr, len(points)+1), b.found[:cap(b.found)]
	rowPtr[0] = 0
	for i := range points {
		p := &points[i]
		x, y := int(c.at[i])%c.cols, int(c.at[i])/c.cols
		left, right := max(x-1, 0), min(x+1, c.cols-1)
		for row := max(y-1, 0); row <= min(y+1, c.rows-1); row++ {
			candidates := c.order[c.start[row*c.cols+left]:c.start[row*c.cols+right+1]]
			if end+len(candidates) > len(found) {
				found = append(found, make([]int32, len(candidates)+7*(len(points)-i))...)
			}
			near := found[end : end+len(candidates)]
			k := 0
			for _, j := range candidates {
				near[k] = j
				if within(p, &points[j], r2) {
					k++
				}
			}
			end += k
		}
		rowPtr[i+1] = end - i - 1
	}
	b.adj.RowPtr, b.found = rowPtr, found
}

// fill sorts what find collected into rows of ones. Being neighbours is mutual:
// handing i to each of its neighbours, i ascending, fills every row in order.
func (b *Builder) fill() {
	rowPtr := b.adj.RowPtr
	n := len(rowPtr) - 1
	b.adj.Col, b.adj.Val = resized(b.adj.Col, rowPtr[n]), resized(b.adj.Val, rowPtr[n])
	b.next = resized(b.next, n)
	copy(b.next, rowPtr)
	for i := range n {
		for _, j := range b.found[rowPtr[i]+i : rowPtr[i+1]+i+1] {
			if int(j) != i {
				b.adj.Col[b.next[j]] = int32(i)
				b.next[j]++
			}
		}
	}
	for e := range b.adj.Val {
		b.adj.Val[e] = 1
	}
}

// Keep returns the graph of the links of g that keep wants, with their weights.
// It asks keep(i, j) once for every link j → i of g, row by row in ascending
// order. The result is directed if g is or if directed says so; for an
// undirected result keep(i, j) and keep(j, i) must agree.
//
// Keep panics if g was built by b.
func (b *Builder) Keep(g *Graph, directed bool, keep func(i, j int) bool) *Graph {
	if g == &b.graph {
		panic("graph: Keep: the graph belongs to the builder that would overwrite it")
	}
	n := g.Nodes()
	rowPtr, cols, vals := resized(b.adj.RowPtr, n+1), b.adj.Col[:0], b.adj.Val[:0]
	rowPtr[0] = 0
	for i := range n {
		col, val := g.adj.Row(i)
		for e, j := range col {
			if keep(i, int(j)) {
				cols, vals = append(cols, j), append(vals, val[e])
			}
		}
		rowPtr[i+1] = len(cols)
	}
	b.adj.RowPtr, b.adj.Col, b.adj.Val = rowPtr, cols, vals
	return b.result(n, directed || g.directed)
}

// result returns the graph of n nodes whose adjacency is in b.adj.
func (b *Builder) result(n int, directed bool) *Graph {
	b.adj.Rows, b.adj.Cols = n, n
	b.graph = Graph{adj: &b.adj, directed: directed}
	return &b.graph
}

// resized returns a slice of length n that reuses the memory of s if it is
// large enough. Its elements are undefined. Memory that has grown once is
// likely to grow again and gets a quarter more than it needs.
func resized[T any](s []T, n int) []T {
	switch {
	case cap(s) >= n:
		return s[:n]
	case cap(s) == 0:
		return make([]T, n)
	}
	return make([]T, n, n+n/4)
}
