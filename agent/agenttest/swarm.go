// Package agenttest runs agents in one goroutine under a schedule of one's own
// choosing: which message is delivered next, which is lost, doubled or late.
// Nothing depends on a clock, so a schedule can be repeated.
package agenttest

import (
	"fmt"
	"slices"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
)

// Swarm is all agents of a network.
type Swarm struct {
	Network
	Nodes []*agent.Node

	outputs mat.Dense
	answers []bool // nodes that predicted in this step
	done    []bool
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

// Begin opens step t at all nodes, in a picked order, on the graph g.
func (s *Swarm) Begin(t uint64, g *graph.Graph, signal mat.Dense) error {
	s.graph = g
	clear(s.answers)
	clear(s.done)
	for _, i := range s.shuffled(len(s.Nodes)) {
		if err := s.BeginNode(i, t, g, signal.Row(i)); err != nil {
			return err
		}
	}
	return nil
}

// BeginNode opens step t at node i.
func (s *Swarm) BeginNode(i int, t uint64, g *graph.Graph, row []float32) error {
	s.graph = g
	return s.Step(i, agent.Begin{Time: t, Links: agent.LinksOf(nil, g.Adjacency(), i), Row: row})
}

// Read opens step t at all nodes, which forecast, in a picked order: with a row of
// readings each and, unless truths is nil, what the world was.
func (s *Swarm) Read(t uint64, g *graph.Graph, readings mat.Dense, truths []float32) error {
	s.graph = g
	clear(s.answers)
	clear(s.done)
	for _, i := range s.shuffled(len(s.Nodes)) {
		ev := agent.Begin{Time: t, Links: agent.LinksOf(nil, g.Adjacency(), i), Row: readings.Row(i)}
		if truths != nil {
			ev.Truth = truths[i : i+1]
		}
		if err := s.Step(i, ev); err != nil {
			return err
		}
	}
	return nil
}

// Step applies an event to node i and puts what it sends into the queue.
func (s *Swarm) Step(i int, ev agent.Event) error {
	r, err := s.Nodes[i].Step(ev)
	s.post(r.Send)
	if r.Prediction != nil {
		copy(s.outputs.Row(i), r.Prediction)
		s.answers[i] = true
	}
	s.done[i] = s.done[i] || r.Done
	return err
}

// Deliver delivers one message of the queue, which must not be empty.
func (s *Swarm) Deliver() error {
	d := s.next()
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
