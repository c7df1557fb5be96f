package graph_test

import (
	"fmt"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/random"
)

// show prints a small matrix.
func show(a *mat.CSR) {
	for i := range a.Rows {
		for j := range a.Cols {
			fmt.Printf("%6.2f", a.At(i, j))
		}
		fmt.Println()
	}
}

// Three sensors in a line. Node 1 hears both others.
func ExampleGraph() {
	g, err := graph.FromEdges(3, []graph.Edge{
		{From: 0, To: 1, Weight: 1},
		{From: 1, To: 2, Weight: 1},
	}, false)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(g)
	fmt.Println("1 hears", g.Neighbors(1))
	// Output:
	// undirected graph of 3 nodes and 2 edges
	// 1 hears [0 2]
}

// A mistake in an edge list is reported with its place.
func ExampleFromEdges() {
	_, err := graph.FromEdges(3, []graph.Edge{
		{From: 0, To: 1, Weight: 1},
		{From: 1, To: 3, Weight: 1},
	}, false)
	fmt.Println(err)
	// Output:
	// graph: FromEdges: edge at position 1, 1 → 3: no node 3 among 3; nodes count from 0
}

// The graph of the paper's source localisation: five communities of ten.
func ExampleSBM() {
	rng := random.Stream(1, "graph")
	c := graph.SBMConfig{Sizes: []int{10, 10, 10, 10, 10}, Intra: 0.8, Inter: 0.2}
	g, err := graph.UntilConnected(100, func() (*graph.Graph, error) { return graph.SBM(c, rng) })
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(g.Nodes(), "nodes, connected:", g.Connected())
	// Output:
	// 50 nodes, connected: true
}

// Robots hear each other within two metres.
func ExampleGeometric() {
	positions := [][2]float64{{0, 0}, {1.5, 0}, {1.5, 2}, {9, 9}}
	g, err := graph.Geometric(positions, 2)
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range g.Nodes() {
		fmt.Println(i, "hears", g.Neighbors(i))
	}
	// Output:
	// 0 hears [1]
	// 1 hears [0 2]
	// 2 hears [1]
	// 3 hears []
}

func ExampleShift() {
	g := graph.Grid(1, 3) // 0 - 1 - 2
	for _, name := range []string{"spectral", "laplacian"} {
		s, err := graph.ParseShift(name)
		if err != nil {
			fmt.Println(err)
			return
		}
		op, err := s.Of(g)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(s, "local:", s.Local())
		show(op)
	}
	// Output:
	// spectral local: false
	//   0.00  0.71  0.00
	//   0.71  0.00  0.71
	//   0.00  0.71  0.00
	// laplacian local: true
	//   1.00 -1.00  0.00
	//  -1.00  2.00 -1.00
	//   0.00 -1.00  1.00
}

func ExampleMixing() {
	w, err := graph.MixingMetropolis.Of(graph.Grid(1, 3))
	if err != nil {
		fmt.Println(err)
		return
	}
	show(w)
	fmt.Printf("σ₂ = %.3f\n", graph.SecondSingularValue(w))
	// Output:
	//   0.67  0.33  0.00
	//   0.33  0.33  0.33
	//   0.00  0.33  0.67
	// σ₂ = 0.667
}

// One Outage serves every probability, and the subgraphs are nested.
func ExampleOutage() {
	outage := graph.NewOutage(graph.Ring(5), random.Stream(1, "outage"))
	for _, p := range []float64{0, 0.3, 0.6, 1} {
		g, err := outage.At(p)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("p = %.1f:", p)
		for i := range g.Nodes() {
			for _, j := range g.Neighbors(i) {
				if int(j) > i {
					fmt.Printf(" %d-%d", i, j)
				}
			}
		}
		fmt.Println()
	}
	// Output:
	// p = 0.0: 0-1 0-4 1-2 2-3 3-4
	// p = 0.3: 0-1 0-4 3-4
	// p = 0.6: 3-4
	// p = 1.0:
}

// Warm-started λmax for graphs that change a little at a time.
func ExampleTracker() {
	var tracker graph.Tracker
	for step := range 3 {
		x := 1 + 0.4*float64(step) // node 2 walks away
		g, err := graph.Geometric([][2]float64{{0, 0}, {0, 1}, {x, 0}}, 1.5)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%d edges, λmax = %.4f\n", g.Edges(), tracker.Largest(g))
	}
	// Output:
	// 3 edges, λmax = 2.0000
	// 2 edges, λmax = 1.4142
	// 1 edges, λmax = 1.0000
}

// One hop takes one step: at time t, S_t moves what was known at t-1.
func ExampleSpaceTime() {
	pair := graph.Ring(2)
	apart, err := graph.FromEdges(2, nil, false)
	if err != nil {
		fmt.Println(err)
		return
	}
	show(graph.SpaceTime([]*mat.CSR{pair.Adjacency(), pair.Adjacency(), apart.Adjacency()}))
	// Output:
	//   0.00  0.00  0.00  0.00  0.00  0.00
	//   0.00  0.00  0.00  0.00  0.00  0.00
	//   0.00  1.00  0.00  0.00  0.00  0.00
	//   1.00  0.00  0.00  0.00  0.00  0.00
	//   0.00  0.00  0.00  0.00  0.00  0.00
	//   0.00  0.00  0.00  0.00  0.00  0.00
}
