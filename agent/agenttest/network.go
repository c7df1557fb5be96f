package agenttest

import (
	"math/rand/v2"
	"slices"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/graph"
)

// Network holds messages until they are delivered.
type Network struct {
	// Fate decides what happens to a copy of a message to one receiver: how
	// many times it is delivered. Nil means once.
	Fate func(m *agent.Message, to agent.NodeID) int

	// Pick chooses the next of n waiting deliveries; nil means the oldest.
	Pick func(n int) int

	graph   *graph.Graph // says who hears whom
	waiting []delivery
}

type delivery struct {
	to agent.NodeID
	m  agent.Message
}

// Random returns a Pick that draws from rng.
func Random(rng *rand.Rand) func(n int) int { return rng.IntN }

// post queues messages for everyone who hears their sender.
func (n *Network) post(messages []agent.Message) {
	for k := range messages {
		m := messages[k]
		m.Values = slices.Clone(m.Values)
		for i := range n.graph.Nodes() {
			to := agent.NodeID(i)
			if m.To != to && (m.To != agent.Everyone || n.graph.Adjacency().At(i, int(m.From)) == 0) {
				continue
			}
			times := 1
			if n.Fate != nil {
				times = n.Fate(&m, to)
			}
			for range times {
				n.waiting = append(n.waiting, delivery{to, m})
			}
		}
	}
}

// next takes a delivery from the queue, which must not be empty.
func (n *Network) next() delivery {
	k := n.pick(len(n.waiting))
	d := n.waiting[k]
	n.waiting = slices.Delete(n.waiting, k, k+1)
	return d
}

func (n *Network) pick(count int) int {
	if n.Pick == nil {
		return 0
	}
	return n.Pick(count)
}

// shuffled returns the numbers below count in a picked order.
func (n *Network) shuffled(count int) []int {
	rest, order := make([]int, count), make([]int, 0, count)
	for i := range rest {
		rest[i] = i
	}
	for len(rest) > 0 {
		k := n.pick(len(rest))
		order = append(order, rest[k])
		rest = slices.Delete(rest, k, k+1)
	}
	return order
}
