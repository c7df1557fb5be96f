package graph

import "github.com/wdgnn/wdgnn/mat"

// Connected says whether every node can reach every other along links. In a
// directed graph that means strongly connected. A graph of one node or none
// is connected.
func (g *Graph) Connected() bool {
	_, count := components(g.adj)
	return count <= 1
}

// Components returns the component of each node and the number of components.
// Nodes are in one component if they reach each other, in a directed graph
// along the direction of the links. Components are numbered in the order of
// their lowest node.
func (g *Graph) Components() (component []int, count int) { return components(g.adj) }

// components finds the strongly connected components of the pattern of a by
// Tarjan's algorithm, with an explicit stack so that long chains are no
// trouble. For a symmetric pattern they are the connected components.
func components(a *mat.CSR) (component []int, count int) {
	n := a.Rows
	var (
		order = make([]int, n) // 1 + when a node was reached, 0 if it was not
		low   = make([]int, n) // earliest order known to be reachable on the stack
		edge  = make([]int, n) // next entry of the node's row to follow
		open  = make([]bool, n)
		stack []int // nodes whose component is not known
		path  []int // nodes being visited
		clock = 0
	)
	component = make([]int, n)
	enter := func(i int) {
		clock++
		order[i], low[i], edge[i], open[i] = clock, clock, a.RowPtr[i], true
		stack, path = append(stack, i), append(path, i)
	}
	for root := range n {
		if order[root] != 0 {
			continue
		}
		enter(root)
		for len(path) > 0 {
			i := path[len(path)-1]
			if edge[i] < a.RowPtr[i+1] {
				j := int(a.Col[edge[i]])
				edge[i]++
				if order[j] == 0 {
					enter(j)
				} else if open[j] {
					low[i] = min(low[i], order[j])
				}
				continue
			}
			path = path[:len(path)-1]
			if len(path) > 0 {
				up := path[len(path)-1]
				low[up] = min(low[up], low[i])
			}
			if low[i] != order[i] {
				continue
			}
			for { // i is the first of its component: the rest lies above it
				j := stack[len(stack)-1]
				stack = stack[:len(stack)-1]
				open[j], component[j] = false, count
				if j == i {
					break
				}
			}
			count++
		}
	}
	return renumbered(component, count), count
}

// renumbered gives components numbers in the order of their lowest node.
func renumbered(component []int, count int) []int {
	number := make([]int, count)
	next := 0
	for i, c := range component {
		if number[c] == 0 {
			next++
			number[c] = next
		}
		component[i] = number[c] - 1
	}
	return component
}
