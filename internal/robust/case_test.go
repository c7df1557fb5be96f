package robust

import (
	"fmt"
	"math"
	"testing"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/random"
)

// instance is a question with the edges of its graphs, for a loop that knows nothing
// of plans and reuses nothing.
type instance struct {
	name     string
	question *Question
	edges    [][]graph.Edge // by step
}

// drawn describes a random question.
type drawn struct {
	nodes, edges, samples, steps, features int
	deep                                   []gnn.LayerConfig
	wide                                   int // order; below 0 for none
	shift                                  graph.Shift
	directed, classify                     bool
	read                                   []int
	seed                                   uint64
}

// draw makes it. With fewer edges than nodes the graph is of several parts.
func draw(t testing.TB, d drawn) *instance {
	t.Helper()
	rng := random.Stream(d.seed, "robust case")
	c := gnn.Config{In: max(d.features, 1), Features: 5, Outputs: 3, Deep: d.deep}
	if d.wide >= 0 {
		c.Wide = &gnn.WideConfig{Order: d.wide}
	}
	if len(d.deep) > 0 {
		c.Features = d.deep[len(d.deep)-1].Features
	}
	m, err := gnn.NewRandom(c, rng)
	if err != nil {
		t.Fatal(err)
	}
	in := &instance{name: fmt.Sprintf("%v, %d layers, seed %d", d.shift, len(d.deep), d.seed)}
	q := &Question{
		Network: m, Operator: d.shift, Delayed: d.steps > 0, Samples: d.samples, Read: d.read, Classify: d.classify,
	}
	for range max(d.steps, 1) {
		taken := map[[2]int]bool{}
		var edges []graph.Edge
		for len(edges) < d.edges {
			i, j := rng.IntN(d.nodes), rng.IntN(d.nodes)
			if i == j || taken[[2]int{i, j}] || !d.directed && taken[[2]int{j, i}] {
				continue
			}
			taken[[2]int{i, j}] = true
			edges = append(edges, graph.Edge{From: i, To: j, Weight: 0.5 + rng.Float64()})
		}
		g, err := graph.FromEdges(d.nodes, edges, d.directed)
		if err != nil {
			t.Fatal(err)
		}
		in.edges, q.Graphs = append(in.edges, edges), append(q.Graphs, g)
	}
	q.Signals = mat.NewDense(d.samples*q.rows(), c.In, nil)
	for i := range q.Signals.Data {
		q.Signals.Data[i] = float32(rng.NormFloat64())
	}
	in.question = q
	return in
}

// without returns all answers when edges are left out, by Predict, one sample at a
// time.
func (in *instance) without(t testing.TB, lost func(e graph.Edge) bool) [][]float32 {
	t.Helper()
	q := in.question
	var graphs []*graph.Graph
	for _, edges := range in.edges {
		var kept []graph.Edge
		for _, e := range edges {
			if !lost(e) {
				kept = append(kept, e)
			}
		}
		g, err := graph.FromEdges(q.Nodes(), kept, q.Graphs[0].Directed())
		if err != nil {
			t.Fatal(err)
		}
		graphs = append(graphs, g)
	}
	s, err := q.Shift(graphs)
	if err != nil {
		t.Fatal(err)
	}
	y := mat.NewDense(s.Rows, q.Network.Outputs(), nil)
	var out [][]float32
	for k := range q.Samples {
		q.Network.Predict(y, s, q.Signals.View(k*s.Rows, 0, s.Rows, q.Signals.Cols))
		for _, row := range q.Readers() {
			out = append(out, append([]float32(nil), y.Row(int(row))...))
		}
	}
	return out
}

// hit says whether an edge is lost with a part.
func hit(p Part, directed bool, e graph.Edge) bool {
	if len(p.Ends) == 1 {
		return e.From == p.Ends[0] || e.To == p.Ends[0]
	}
	same := e.From == p.Ends[0] && e.To == p.Ends[1]
	return same || !directed && e.From == p.Ends[1] && e.To == p.Ends[0]
}

// brute is what all losses of some parts do to every answer, each one run.
type brute struct {
	flipped []bool
	margin  []float64
	move    []float64
	flips   []int // by loss
}

// try runs a list of losses.
func (in *instance) try(t testing.TB, before [][]float32, losses [][]Part) *brute {
	t.Helper()
	q := in.question
	b := &brute{flipped: make([]bool, len(before)), margin: make([]float64, len(before)), move: make([]float64, len(before))}
	for a, y := range before {
		b.margin[a] = lead(y, mat.Argmax(y))
	}
	readers := q.Readers()
	for _, lost := range losses {
		after := in.without(t, func(e graph.Edge) bool {
			for _, p := range lost {
				if hit(p, q.Graphs[0].Directed(), e) {
					return true
				}
			}
			return false
		})
		flips := 0
		for a, y := range after {
			dead := false
			for _, p := range lost {
				dead = dead || len(p.Ends) == 1 && p.Ends[0] == int(readers[a%len(readers)])%q.Nodes()
			}
			if dead {
				continue
			}
			c := mat.Argmax(before[a])
			if mat.Argmax(y) != c {
				flips++
				b.flipped[a] = true
			}
			b.margin[a] = min(b.margin[a], lead(y, c))
			for k := range y {
				b.move[a] = max(b.move[a], math.Abs(float64(y[k])-float64(before[a][k])))
			}
		}
		b.flips = append(b.flips, flips)
	}
	return b
}

// lead returns how far output c is above the others.
func lead(y []float32, c int) float64 {
	other := math.Inf(-1)
	for k, v := range y {
		if k != c {
			other = max(other, float64(v))
		}
	}
	return float64(y[c]) - other
}
