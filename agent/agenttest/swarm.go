// Package agenttest runs agents in one goroutine under a schedule of one's own
// choosing: which message is delivered next, which is lost, doubled or late.
// Nothing depends on a clock, so a schedule can be repeated.
package agenttest

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
)

// Swarm is all agents of a network. Messages wait in it until they are
// delivered.
type Swarm struct {
	Nodes []*agent.Node

	// Fate decides what happens to a copy of a message to one receiver: how
	// many times it is delivered. Nil means once.
	Fate func(m *agent.Message, to agent.NodeID) int

	// Pick chooses the next of n waiting deliveries; nil means the oldest.
	Pick func(n int) int

	graph   *graph.Graph
	waiting []delivery
	outputs mat.Dense
	answers []bool // nodes that predicted in this step
	done    []bool
}

type delivery struct {
	to agent.NodeID
	m  agent.Message
}

// New returns a swarm of n agents.
func New(n int, p *agent.Plan) *Swarm {
	s := &Swarm{outputs: mat.NewDense(n, p.Model.Outputs(), nil), answers: make([]bool, n), done: make([]bool, n)}
	scratch := new(agent.Scratch)
	for i := range n {
		s.Nodes = append(s.Nodes, agent.NewNode(agent.NodeID(i), p, scratch))
	}
	return s
}

// Random returns a Pick that draws from rng.
func Random(rng *rand.Rand) func(n int) int { return rng.IntN }

// Begin opens step t at all nodes, in a picked order, on the graph g.
func (s *Swarm) Begin(t uint64, g *graph.Graph, signal mat.Dense) error {
	s.graph = g
	clear(s.answers)
	clear(s.done)
	order := make([]int, len(s.Nodes))
	for i := range order {
		order[i] = i
	}
	for len(order) > 0 {
		k := s.pick(len(order))
		if err := s.BeginNode(order[k], t, g, signal.Row(order[k])); err != nil {
			return err
		}
		order = slices.Delete(order, k, k+1)
	}
	return nil
}

// BeginNode opens step t at node i.
func (s *Swarm) BeginNode(i int, t uint64, g *graph.Graph, row []float32) error {
	s.graph = g
	var links []agent.Link
	col, val := g.Adjacency().Row(i)
	for e, j := range col {
		links = append(links, agent.Link{Node: agent.NodeID(j), Weight: val[e]})
	}
	return s.Step(i, agent.Begin{Time: t, Links: links, Row: row})
}

// Step applies an event to node i and puts what it sends into the queue.
func (s *Swarm) Step(i int, ev agent.Event) error {
	r, err := s.Nodes[i].Step(ev)
	for k := range r.Send {
		s.post(&r.Send[k])
	}
	if r.Prediction != nil {
		copy(s.outputs.Row(i), r.Prediction)
		s.answers[i] = true
	}
	s.done[i] = s.done[i] || r.Done
	return err
}

// post queues a message for everyone who hears its sender.
func (s *Swarm) post(m *agent.Message) {
	copied := *m
	copied.Values = slices.Clone(m.Values)
	for i := range s.Nodes {
		to := agent.NodeID(i)
		if m.To != to && (m.To != agent.Everyone || s.graph.Adjacency().At(i, int(m.From)) == 0) {
			continue
		}
		times := 1
		if s.Fate != nil {
			times = s.Fate(m, to)
		}
		for range times {
			s.waiting = append(s.waiting, delivery{to, copied})
		}
	}
}

func (s *Swarm) pick(n int) int {
	if s.Pick == nil {
		return 0
	}
	return s.Pick(n)
}

// Waiting returns how many deliveries are in the queue.
func (s *Swarm) Waiting() int { return len(s.waiting) }

// Deliver delivers one message of the queue, which must not be empty.
func (s *Swarm) Deliver() error {
	k := s.pick(len(s.waiting))
	d := s.waiting[k]
	s.waiting = slices.Delete(s.waiting, k, k+1)
	return s.Step(int(d.to), agent.Receive{Message: &d.m})
}

// RunToQuiet delivers until the queue is empty.
func (s *Swarm) RunToQuiet() error {
	for len(s.waiting) > 0 {
		if err := s.Deliver(); err != nil {
			return err
		}
	}
	return nil
}

// Expire runs to quiet and expires whoever still waits, until every node has
// predicted. It returns how often somebody waited in vain.
func (s *Swarm) Expire() (int, error) {
	expired := 0
	for {
		if err := s.RunToQuiet(); err != nil {
			return expired, err
		}
		stuck := slices.Index(s.answers, false)
		if stuck < 0 {
			return expired, nil
		}
		expired++
		if err := s.Step(stuck, agent.Expire{}); err != nil {
			return expired, err
		}
	}
}

// Outputs returns the predictions of this step, N×C.
func (s *Swarm) Outputs() mat.Dense { return s.outputs }

// Feedback tells every node that predicted what it cost; node i is row i.
func (s *Swarm) Feedback(j loss.Loss) error {
	for i := range s.Nodes {
		if !s.answers[i] {
			return fmt.Errorf("agenttest: node %d has no prediction", i)
		}
		if err := s.Step(i, agent.Feedback{Loss: j, Index: i}); err != nil {
			return err
		}
		if !s.done[i] {
			return fmt.Errorf("agenttest: node %d is not done", i)
		}
	}
	return nil
}
