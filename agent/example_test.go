package agent_test

import (
	"fmt"

	"github.com/wdgnn/wdgnn/agent"
)

// Three nodes in a line find λmax = √2 of their network. A real host delivers
// messages over a bus; here they are handed over at once.
func ExampleGauge() {
	links := [][]agent.Link{
		{{Node: 1, Weight: 1}},
		{{Node: 0, Weight: 1}, {Node: 2, Weight: 1}},
		{{Node: 1, Weight: 1}},
	}
	var nodes []*agent.Gauge
	for i := range links {
		g, err := agent.NewGauge(agent.NodeID(i), agent.GaugeConfig{Diameter: 2})
		if err != nil {
			panic(err)
		}
		nodes = append(nodes, g)
	}
	var queue []agent.Message
	step := func(i int, ev agent.Event) {
		r, err := nodes[i].Step(ev)
		if err != nil {
			panic(err)
		}
		for _, m := range r.Send {
			m.Values = append([]float32(nil), m.Values...) // they belong to the gauge
			queue = append(queue, m)
		}
	}
	for i := range nodes {
		step(i, agent.Begin{Time: 1, Links: links[i]})
	}
	for len(queue) > 0 {
		m := queue[0]
		queue = queue[1:]
		for _, l := range links[m.From] {
			step(int(l.Node), agent.Receive{Message: &m})
		}
	}
	for _, g := range nodes {
		lambda, rounds, ok := g.Result()
		fmt.Printf("node %d: %.6f after %d rounds, %v\n", g.ID(), lambda, rounds, ok)
	}
	// Output:
	// node 0: 1.414214 after 32 rounds, true
	// node 1: 1.414214 after 32 rounds, true
	// node 2: 1.414214 after 32 rounds, true
}
