package robust

import (
	"slices"

	"github.com/wdgnn/wdgnn/graph"
)

// Kind is what of a network is lost.
type Kind string

// The kinds. A link of an undirected graph is lost in both directions; in a sequence
// of graphs it is lost at every step. A node that is lost is heard by nobody and hears
// nobody; its own answers are not among those that its loss can flip.
const (
	Links Kind = "links"
	Nodes Kind = "nodes"
)

// Part is a link or a node that may be lost, and what that alone does.
type Part struct {
	// Ends are the node, or who is heard on the link and who hears it: the lower
	// first, if they hear each other.
	Ends []int `json:"ends"`

	Flips int     `json:"flips"` // answers that its loss alone flips
	Move  float64 `json:"move"`  // the farthest that its loss alone moves one, in the user's units
}

// PartName writes a link as 12–17 or 12→17, a node as 12.
func (q *Question) PartName(p *Part) string {
	switch e := p.Ends; {
	case len(e) == 1:
		return q.Name(e[0])
	case q.Graphs[0].Directed():
		return q.Name(e[0]) + "→" + q.Name(e[1])
	default:
		return q.Name(e[0]) + "–" + q.Name(e[1])
	}
}

// parts lists what can be lost: all links of all steps, or all nodes that have one.
func (q *Question) parts(of Kind) []Part {
	n, directed := q.Nodes(), q.Graphs[0].Directed()
	var keys []int
	linked := make([]bool, n)
	for _, g := range q.Graphs {
		for i := range n {
			for _, j := range g.Neighbors(i) {
				linked[i], linked[j] = true, true
				if directed || int(j) < i {
					keys = append(keys, int(j)*n+i)
				}
			}
		}
	}
	var parts []Part
	if of == Nodes {
		for i, some := range linked {
			if some {
				parts = append(parts, Part{Ends: []int{i}})
			}
		}
		return parts
	}
	slices.Sort(keys)
	for _, k := range slices.Compact(keys) {
		parts = append(parts, Part{Ends: []int{k / n, k % n}})
	}
	return parts
}

// left returns what says whether node i still hears node j when parts are lost.
func left(directed bool, lost ...*Part) func(i, j int) bool {
	return func(i, j int) bool {
		for _, p := range lost {
			switch e := p.Ends; {
			case len(e) == 1:
				if i == e[0] || j == e[0] {
					return false
				}
			case i == e[1] && j == e[0], !directed && i == e[0] && j == e[1]:
				return false
			}
		}
		return true
	}
}

// touched returns the rows of the shift that the loss of a part may change, in the
// network as it is and in any that has lost more: rows of nodes that hear less, and,
// where weights depend on the degrees of both ends, of those that hear them; all
// rows where they depend on the whole graph.
func (q *Question) touched(p *Part) []int32 {
	n := q.Nodes()
	if !q.Operator.Local() {
		all := make([]int32, q.rows())
		for i := range all {
			all[i] = int32(i)
		}
		return all
	}
	far := q.Operator == graph.ShiftSymmetric || q.Operator == graph.ShiftNormalizedLaplacian
	var rows []int32
	for t := range q.Steps() {
		g, hit := q.Graphs[t], map[int]bool{}
		switch e := p.Ends; {
		case len(e) == 1:
			hit[e[0]] = true
			for i := range n {
				if _, found := slices.BinarySearch(g.Neighbors(i), int32(e[0])); found {
					hit[i] = true
				}
			}
		case g.Directed():
			hit[e[1]] = true
		default:
			hit[e[0]], hit[e[1]] = true, true
		}
		if far {
			for i := range n {
				if !hit[i] && slices.ContainsFunc(g.Neighbors(i), func(j int32) bool { return hit[int(j)] }) {
					rows = append(rows, int32(t*n+i))
				}
			}
		}
		for i := range hit {
			rows = append(rows, int32(t*n+i))
		}
	}
	slices.Sort(rows)
	return rows
}
