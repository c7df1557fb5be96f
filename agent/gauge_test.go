package agent_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/agent/agenttest"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/random"
)

// edges builds a graph of unit weights, or of those that weigh returns.
func edges(t testing.TB, n int, weigh func() float64, pairs ...[2]int) *graph.Graph {
	t.Helper()
	var list []graph.Edge
	for _, p := range pairs {
		w := 1.0
		if weigh != nil {
			w = weigh()
		}
		list = append(list, graph.Edge{From: p[0], To: p[1], Weight: w})
	}
	g, err := graph.FromEdges(n, list, false)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// gaugeCase is a network and a diameter that is right for each of its parts.
type gaugeCase struct {
	name     string
	graph    *graph.Graph
	diameter int
}

func gaugeCases(t testing.TB) []gaugeCase {
	t.Helper()
	path := func(first, n int) (pairs [][2]int) {
		for i := range n - 1 {
			pairs = append(pairs, [2]int{first + i, first + i + 1})
		}
		return pairs
	}
	var star, bipartite, clique [][2]int
	for i := range 30 {
		star = append(star, [2]int{0, i + 1})
	}
	for i := range 4 {
		for j := range 7 {
			bipartite = append(bipartite, [2]int{i, 4 + j})
		}
	}
	for i := range 12 {
		for j := range i {
			clique = append(clique, [2]int{j, i})
		}
	}
	sbm, err := graph.SBM(graph.SBMConfig{Sizes: []int{10, 10, 10, 10, 10}, Intra: 0.8, Inter: 0.2}, random.Stream(1, "graph"))
	if err != nil {
		t.Fatal(err)
	}
	rng := random.Stream(2, "weights")
	weigh := func() float64 { return math.Exp(4 * rng.NormFloat64()) }
	return []gaugeCase{
		{"two nodes", edges(t, 2, nil, [2]int{0, 1}), 1},
		{"path", edges(t, 20, nil, path(0, 20)...), 19},
		{"even cycle", graph.Ring(16), 8},
		{"odd cycle, diameter from the number of nodes", graph.Ring(15), 14},
		{"star", edges(t, 31, nil, star...), 2},
		{"complete bipartite", edges(t, 11, nil, bipartite...), 2},
		{"SBM", sbm, 4},
		{"weighted path", edges(t, 12, weigh, path(0, 12)...), 11},
		{"weighted clique", edges(t, 12, weigh, clique...), 1},
		{"clique with a tail of 40", edges(t, 52, nil, slices.Concat(clique, path(11, 41))...), 41},
		{"clique, path and isolated nodes", edges(t, 20, nil, slices.Concat(clique, path(13, 5))...), 4},
		{"no links", edges(t, 3, nil), 1},
	}
}

// parts returns λmax of each node's part of g.
func parts(g *graph.Graph) []float64 {
	component, count := g.Components()
	lambda := make([]float64, g.Nodes())
	for c := range count {
		part := new(graph.Builder).Keep(g, false, func(i, j int) bool { return component[i] == c })
		for i := range lambda {
			if component[i] == c {
				lambda[i] = graph.LargestEigenvalue(part.Adjacency())
			}
		}
	}
	return lambda
}

// checkGauges compares what nodes found with λmax of their part of g, to the
// tolerance, and with each other, to the bit.
func checkGauges(t testing.TB, s *agenttest.Gauges, g *graph.Graph, tolerance float64) {
	t.Helper()
	component, count := g.Components()
	first := make([]float64, count)
	for i, want := range parts(g) {
		got, _, ok := s.Nodes[i].Result()
		lower, upper := s.Nodes[i].Bounds()
		if !ok || math.Abs(got-want) > tolerance*want || lower > want*(1+1e-9) || upper < want*(1-1e-9) {
			t.Errorf("node %d found %v in %v to %v, ok %v; want %v to %v", i, got, lower, upper, ok, want, tolerance)
		}
		if c := component[i]; first[c] == 0 {
			first[c] = got
		} else if first[c] != got {
			t.Errorf("node %d found %v, others of its part %v: want the same bits", i, got, first[c])
		}
	}
}

func measured(
	t testing.TB, g *graph.Graph, c agent.GaugeConfig, prepare func(s *agenttest.Gauges), silent func(int) agent.Event,
) *agenttest.Gauges {
	t.Helper()
	s, err := agenttest.NewGauges(g.Nodes(), c)
	if err != nil {
		t.Fatal(err)
	}
	if prepare != nil {
		prepare(s)
	}
	if _, err := s.Measure(0, g, silent); err != nil {
		t.Fatal(err)
	}
	return s
}

// Nodes that hear their neighbours only find λmax of the network, all of them
// the same bits.
func TestGauge(t *testing.T) {
	for _, c := range gaugeCases(t) {
		for _, tolerance := range []float64{1e-3, 1e-6, 1e-10} {
			s := measured(t, c.graph, agent.GaugeConfig{Diameter: c.diameter, Tolerance: tolerance}, nil, nil)
			checkGauges(t, s, c.graph, tolerance)
			lambda, rounds, _ := s.Nodes[0].Result()
			t.Logf("%s, tolerance %v: λmax %.9g after %d rounds and %d deliveries", c.name, tolerance, lambda, rounds, s.Sent())
			if t.Failed() {
				t.Fatal(c.name)
			}
		}
	}
}

// The order of deliveries, duplicates, and losses that are made good by asking
// again change nothing.
func TestGaugeSchedules(t *testing.T) {
	seeds := uint64(5)
	if testing.Short() {
		seeds = 1
	}
	for _, c := range gaugeCases(t) {
		want := c.inOrder(t)
		for seed := range seeds {
			t.Run(fmt.Sprintf("%s/%d", c.name, seed), func(t *testing.T) { compareGauges(t, c, want, seed) })
		}
	}
}

func FuzzGaugeSchedules(f *testing.F) {
	f.Add(uint64(1), byte(0))
	f.Add(uint64(2), byte(6))
	f.Fuzz(func(t *testing.T, seed uint64, which byte) {
		list := gaugeCases(t)
		c := list[int(which)%len(list)]
		compareGauges(t, c, c.inOrder(t), seed)
	})
}

// config is how the graph of a case is measured.
func (c *gaugeCase) config() agent.GaugeConfig {
	return agent.GaugeConfig{Diameter: c.diameter, Tolerance: 1e-4}
}

// inOrder measures with every message delivered once, in order.
func (c *gaugeCase) inOrder(t *testing.T) *agenttest.Gauges {
	t.Helper()
	return measured(t, c.graph, c.config(), nil, nil)
}

func compareGauges(t *testing.T, c gaugeCase, want *agenttest.Gauges, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 1))
	got := measured(t, c.graph, c.config(), func(s *agenttest.Gauges) {
		s.Pick = agenttest.Random(rng)
		s.Fate = func(*agent.Message, agent.NodeID) int { return min(rng.IntN(10), 8) / 2 % 3 } // 0, 1 or 2 times
	}, func(int) agent.Event { return agent.Retry{} })
	for i := range got.Nodes {
		a, rounds, ok := got.Nodes[i].Result()
		b, wantRounds, wantOK := want.Nodes[i].Result()
		if a != b || rounds != wantRounds || ok != wantOK {
			t.Errorf("node %d found %v after %d rounds, %v; want %v after %d, %v as in order", i, a, rounds, ok, b, wantRounds, wantOK)
		}
	}
}
