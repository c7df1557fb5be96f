package lifecycle

import (
	"fmt"
	"slices"

	"github.com/wdgnn/wdgnn/graph"
)

const (
	fewHops   = 10   // an order that nobody is warned of
	manyTimes = 3    // an order so many times the diameter is far beyond it
	mostRoots = 1000 // nodes from which distances are counted, at most
)

// Notes say what was done with the files, and which orders of the model are far
// beyond the diameter of the graph, for people to read.
func (t *Training) Notes() []string {
	notes := slices.Clone(t.Data.Notes())
	if t.Data.graph == nil {
		return notes
	}
	order := t.Model.Params.Wide.Order()
	for l := range t.Model.Params.Deep {
		order = max(order, t.Model.Params.Deep[l].Order())
	}
	if order <= fewHops {
		return notes
	}
	if far := diameter(t.Data.graph); order > manyTimes*far {
		notes = append(notes, fmt.Sprintf("warning: the model has a filter of order %d, and the farthest nodes are %d links apart: "+
			"more hops reach nobody else and take time and memory; try an order of %d at most", order, far, max(far, 1)))
	}
	return notes
}

// diameter returns how many links the farthest nodes of g are apart that reach each
// other; in a large graph, of an even choice of nodes and all others.
func diameter(g *graph.Graph) (far int) {
	n := g.Nodes()
	for root := 0; root < n; root += 1 + n/mostRoots {
		hops, queue := make([]int, n), []int{root}
		hops[root] = 1
		for len(queue) > 0 {
			i := queue[0]
			queue = queue[1:]
			far = max(far, hops[i]-1)
			for _, j := range g.Neighbors(i) {
				if hops[j] == 0 {
					hops[j] = hops[i] + 1
					queue = append(queue, int(j))
				}
			}
		}
	}
	return far
}
