package graph

import (
	"fmt"
	"math"
	"slices"

	"github.com/wdgnn/wdgnn/mat"
)

// Graph is a weighted graph 𝒢 on the nodes 0 … N-1, kept as its adjacency
// matrix A. Row i receives: A_ij > 0 is the weight of the link j → i. There
// are no self loops, and an undirected graph has A = Aᵀ.
//
// A Graph never changes once built, unless a [Builder] built it; any number of
// goroutines may use it.
type Graph struct {
	adj      *mat.CSR // N×N, positive values, no diagonal
	directed bool
}

// Sample is the paper's pair (X, S): what a network observes at one step.
//
//	Shift: N×N   Signal: N×F, row i is what node i sees
//
// Distributed learning also needs W_t, which lives on the same links.
type Sample struct {
	Time   int      // t, the online step
	Shift  *mat.CSR // S_t
	Mixing *mat.CSR // W_t, with a diagonal entry in every row; nil if nobody mixes
	Signal mat.Dense
}

// Nodes returns N.
func (g *Graph) Nodes() int { return g.adj.Rows }

// Edges returns the number of edges. An undirected edge counts once.
func (g *Graph) Edges() int {
	if g.directed {
		return g.adj.NNZ()
	}
	return g.adj.NNZ() / 2
}

// Directed says whether links have a direction. If not, A = Aᵀ.
func (g *Graph) Directed() bool { return g.directed }

// Adjacency returns A, N×N. It is the graph's own and must not be changed.
func (g *Graph) Adjacency() *mat.CSR { return g.adj }

// Neighbors returns 𝒩_i, the nodes that i hears, in ascending order. The slice
// belongs to the graph and must not be changed.
func (g *Graph) Neighbors(i int) []int32 {
	g.check("Neighbors", i)
	col, _ := g.adj.Row(i)
	return col
}

// Degree returns d_i = |𝒩_i|, the number of nodes that i hears.
func (g *Graph) Degree(i int) int {
	g.check("Degree", i)
	return g.adj.RowPtr[i+1] - g.adj.RowPtr[i]
}

// Degrees returns d_i for every node.
func (g *Graph) Degrees() []int {
	d := make([]int, g.Nodes())
	for i := range d {
		d[i] = g.adj.RowPtr[i+1] - g.adj.RowPtr[i]
	}
	return d
}

// MaxDegree returns the largest d_i, 0 if there are no nodes.
func (g *Graph) MaxDegree() int {
	most := 0
	for i := range g.Nodes() {
		most = max(most, g.adj.RowPtr[i+1]-g.adj.RowPtr[i])
	}
	return most
}

// WeightedDegree returns D_ii = Σ_j A_ij, summed over ascending j.
func (g *Graph) WeightedDegree(i int) float64 {
	g.check("WeightedDegree", i)
	sum := 0.0
	_, val := g.adj.Row(i)
	for _, v := range val {
		sum += float64(v)
	}
	return sum
}

// Clone returns a copy of the graph that shares no memory with it, for a graph
// whose Builder goes on building.
func (g *Graph) Clone() *Graph {
	adj := *g.adj
	adj.RowPtr, adj.Col, adj.Val = slices.Clone(adj.RowPtr), slices.Clone(adj.Col), slices.Clone(adj.Val)
	return &Graph{adj: &adj, directed: g.directed}
}

// String describes the graph in a few words.
func (g *Graph) String() string {
	kind := "undirected"
	if g.directed {
		kind = "directed"
	}
	return fmt.Sprintf("%s graph of %d nodes and %d edges", kind, g.Nodes(), g.Edges())
}

func (g *Graph) check(op string, i int) {
	if uint(i) >= uint(g.Nodes()) {
		panic(fmt.Sprintf("graph: %s: node %d of %d", op, i, g.Nodes()))
	}
}

// nodeCount reports a number of nodes that no graph can have.
func nodeCount(n int) error {
	if n < 0 || n > math.MaxInt32 {
		return fmt.Errorf("%d nodes: want 0 to %d", n, math.MaxInt32)
	}
	return nil
}

// pair is the undirected edge between i and j, i < j, with weight 1.
type pair struct{ i, j int32 }

// fromPairs returns the undirected graph with the given edges, which must be
// sorted by i, then by j. Rows come out sorted: row r gets its smaller
// neighbours from pairs (i,r), all of which precede the pairs (r,j).
func fromPairs(n int, pairs []pair) *Graph {
	rowPtr := make([]int, n+1)
	for _, e := range pairs {
		rowPtr[e.i+1]++
		rowPtr[e.j+1]++
	}
	for i := range n {
		rowPtr[i+1] += rowPtr[i]
	}
	col := make([]int32, 2*len(pairs))
	next := make([]int, n)
	copy(next, rowPtr)
	for _, e := range pairs {
		col[next[e.i]], col[next[e.j]] = e.j, e.i
		next[e.i]++
		next[e.j]++
	}
	return &Graph{adj: unweighted(n, rowPtr, col)}
}

// unweighted returns the n×n matrix with ones in the given places.
func unweighted(n int, rowPtr []int, col []int32) *mat.CSR {
	val := make([]float32, len(col))
	for e := range val {
		val[e] = 1
	}
	return &mat.CSR{Rows: n, Cols: n, RowPtr: rowPtr, Col: col, Val: val}
}
