package agents

import (
	"fmt"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/online"
)

// crew is all agents of a network in one process, paced as in real time: every
// exchange has one deadline for all, at which whoever misses a message gives the
// link up for the rest of the step. Nothing is sent again. Nodes and links are
// served in ascending order, so that a run can be repeated to the last bit.
//
// Hosts do not serve here, since their deadlines are those of a clock, nor does
// agenttest, whose schedule is a test's to pick: a table loses messages by
// exchange and link, drawn in a fixed order, over thousands of steps, and copies
// none of them per receiver.
type crew struct {
	plan    *agent.Plan
	nodes   []*agent.Node
	dead    []bool    // nodes that neither hear nor say anything any more
	outputs mat.Dense // of the latest step, N×C; 0 for dead nodes

	posted  [][]agent.Message // by exchange and node
	unheard [][2]int          // of the latest step: i did not hear the first message of j
	links   []agent.Link      // scratch
}

// newCrew returns agents of a plan, whose Basis and Delayed c says. They learn by its
// rule, unless it is nil.
func newCrew(of agent.PlanConfig, c online.Config) (_ *crew, err error) {
	of.Delayed = c.Delayed
	if of.Rule != nil {
		if of.Basis, err = online.NewBasis(of.Model, *of.Rule, c.Moment); err != nil {
			return nil, err
		}
	}
	p, err := agent.NewPlan(of)
	if err != nil {
		return nil, err
	}
	w := &crew{plan: p, dead: make([]bool, c.Nodes), outputs: mat.NewDense(c.Nodes, p.Model.Outputs(), nil)}
	scratch := new(agent.Scratch)
	for i := range c.Nodes {
		w.nodes = append(w.nodes, agent.NewNode(agent.NodeID(i), p, scratch))
	}
	for range p.Exchanges() {
		w.posted = append(w.posted, make([]agent.Message, c.Nodes))
	}
	return w, nil
}

// kill silences nodes for good. Nobody tells the others.
func (w *crew) kill(nodes []int) {
	for _, i := range nodes {
		w.dead[i] = true
		clear(w.outputs.Row(i))
	}
}

// step lets all nodes observe and predict. A node expects to hear its
// neighbours in g. Arrives says whether the message of exchange e from j reaches
// i, and is asked once for each, alive or not; nil means always.
func (w *crew) step(t int, g *graph.Graph, signal mat.Dense, arrives func(e, i, j int) bool) error {
	w.unheard = w.unheard[:0]
	for i := range w.nodes {
		if w.dead[i] {
			continue
		}
		w.links = agent.LinksOf(w.links[:0], g.Adjacency(), i)
		if err := w.take(i, agent.Begin{Time: uint64(t), Links: w.links, Row: signal.Row(i)}); err != nil {
			return err
		}
	}
	for e := range w.posted {
		for i := range w.nodes {
			if err := w.exchange(e, i, g.Neighbors(i), arrives); err != nil {
				return err
			}
		}
	}
	return nil
}

// exchange delivers to node i what its neighbours sent in exchange e, up to the
// deadline.
func (w *crew) exchange(e, i int, neighbors []int32, arrives func(e, i, j int) bool) error {
	for _, j := range neighbors {
		here := arrives == nil || arrives(e, i, int(j))
		switch {
		case w.dead[i]:
		case here && !w.dead[j]:
			if err := w.take(i, agent.Receive{Message: &w.posted[e][j]}); err != nil {
				return err
			}
		case e == 0:
			w.unheard = append(w.unheard, [2]int{i, int(j)})
		}
	}
	if at, waits := w.nodes[i].Waits(); waits && at == e && !w.dead[i] {
		return w.take(i, agent.Expire{})
	}
	return nil
}

// take applies an event to node i and keeps what it says.
func (w *crew) take(i int, ev agent.Event) error {
	r, err := w.nodes[i].Step(ev)
	if err != nil {
		return fmt.Errorf("node %d: %w", i, err)
	}
	for _, m := range r.Send {
		kept := &w.posted[m.Exchange][i]
		m.Values = append(kept.Values[:0], m.Values...) // they are the node's
		*kept = m
	}
	if r.Prediction != nil {
		copy(w.outputs.Row(i), r.Prediction)
	}
	return nil
}

// feedback tells every node what its prediction cost, and ends the step.
func (w *crew) feedback(j loss.Loss) error {
	for i := range w.nodes {
		if w.dead[i] {
			continue
		}
		if err := w.take(i, agent.Feedback{Loss: j, Index: i}); err != nil {
			return err
		}
	}
	return nil
}

// stats returns the counts of all nodes together.
func (w *crew) stats() (sum agent.Stats) {
	for _, n := range w.nodes {
		sum.Add(n.Stats())
	}
	return sum
}
