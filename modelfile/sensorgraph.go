package modelfile

import (
	"fmt"

	"github.com/wdgnn/wdgnn/graph"
)

// Tensors of the graph that a forecast model was trained on.
const (
	linksName = "online.forecast.link"      // a row per link: from, to, weight
	linkName  = "online.forecast.link.kind" // 1×2: number of nodes, 1 if links have a direction
)

// SetSensorGraph stores the graph that a forecast model was trained on, so that a
// model whose links were learned, or follow from places, needs no other file.
func (m *Model) SetSensorGraph(g *graph.Graph) {
	x := Float64s{Cols: 3}
	a := g.Adjacency()
	for i := range a.Rows {
		columns, weights := a.Row(i)
		for k, j := range columns {
			if g.Directed() || int(j) < i {
				x.Data = append(x.Data, float64(j), float64(i), float64(weights[k]))
				x.Rows++
			}
		}
	}
	delete(m.Precise, linksName)
	if x.Rows > 0 {
		m.setPrecise(linksName, x)
	}
	m.setPrecise(linkName, Float64s{Rows: 1, Cols: 2, Data: []float64{float64(g.Nodes()), bit(g.Directed())}})
}

// SensorGraph returns what SetSensorGraph stored, nil if there is nothing. It has a
// node for each sensor of Forecast.
func (m *Model) SensorGraph() (*graph.Graph, error) {
	kind, found := m.Numbers(linkName)
	if !found {
		return nil, nil
	}
	s, err := m.Forecast()
	if err != nil || s == nil {
		return nil, err
	}
	x, some := m.Numbers(linksName)
	if len(kind.Data) != 2 || kind.Data[0] != float64(len(s.Sensors)) || kind.Data[1] != 0 && kind.Data[1] != 1 || some && x.Cols != 3 {
		return nil, fmt.Errorf("modelfile: sensors' graph: %s holds %v and %s has %d columns, for %d sensors",
			linkName, kind.Data, linksName, x.Cols, len(s.Sensors))
	}
	edges := make([]graph.Edge, x.Rows)
	for e := range edges {
		row := x.Data[3*e : 3*e+3]
		if !whole(row[0]) || !whole(row[1]) {
			return nil, fmt.Errorf("modelfile: sensors' graph: link %d is from %v to %v, want nodes", e, row[0], row[1])
		}
		edges[e] = graph.Edge{From: int(row[0]), To: int(row[1]), Weight: row[2]}
	}
	g, err := graph.FromEdges(len(s.Sensors), edges, kind.Data[1] == 1)
	if err != nil {
		return nil, fmt.Errorf("modelfile: sensors' graph: %w", err)
	}
	return g, nil
}
