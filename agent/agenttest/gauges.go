package agenttest

import (
	"fmt"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/graph"
)

// Gauges is a gauge of λmax at every node of a network.
type Gauges struct {
	Network
	Nodes []*agent.Gauge
}

// NewGauges returns gauges for n nodes.
func NewGauges(n int, c agent.GaugeConfig) (*Gauges, error) {
	s := new(Gauges)
	for i := range n {
		g, err := agent.NewGauge(agent.NodeID(i), c)
		if err != nil {
			return nil, err
		}
		s.Nodes = append(s.Nodes, g)
	}
	return s, nil
}

// Measure lets all nodes find λmax of g in measurement t: it delivers until
// nobody waits. When the queue is empty, all who wait are given the same event at
// once, a Retry or an Expire, as if their deadlines fell together: silent returns
// it, given how often that happened before. Measure returns how often. Without
// silent it is an error that somebody waits in vain.
func (s *Gauges) Measure(t uint64, g *graph.Graph, silent func(stops int) agent.Event) (int, error) {
	s.graph = g
	for _, i := range s.shuffled(len(s.Nodes)) {
		if err := s.step(i, agent.Begin{Time: t, Links: agent.LinksOf(nil, g.Adjacency(), i)}); err != nil {
			return 0, err
		}
	}
	for stops := 0; ; stops++ {
		for len(s.waiting) > 0 {
			d := s.next()
			if err := s.step(int(d.to), agent.Receive{Message: &d.m}); err != nil {
				return stops, err
			}
		}
		var stuck []int
		for i, node := range s.Nodes {
			if node.Open() {
				stuck = append(stuck, i)
			}
		}
		if len(stuck) == 0 {
			return stops, nil
		}
		if silent == nil {
			return stops, fmt.Errorf("agenttest: nodes %v wait", stuck)
		}
		for _, k := range s.shuffled(len(stuck)) {
			if err := s.step(stuck[k], silent(stops)); err != nil {
				return stops, err
			}
		}
	}
}

func (s *Gauges) step(i int, ev agent.Event) error {
	r, err := s.Nodes[i].Step(ev)
	s.post(r.Send)
	return err
}
