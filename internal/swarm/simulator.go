package swarm

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/host"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/transport"
)

// World is a stream of samples on graphs that nodes can be shown link by link.
type World interface {
	online.World

	// Graph returns the graph of the latest sample. It is undirected.
	Graph() *graph.Graph

	// Near returns who may become neighbours within some steps, nil if links
	// do not change or everybody may.
	Near() *graph.Graph
}

// Port is how a stage reaches one host. It is used by one goroutine.
type Port interface {
	// Say hands a line over. A host that is gone is an error and is left out
	// of this step.
	Say(l *host.Line) error
}

// Stage plays a world to hosts.
type Stage struct {
	World   World
	Hosts   map[transport.HostID][]agent.NodeID // who runs which nodes, ascending
	Outputs int                                 // C
	Cost    host.Cost

	// Answers is where the hosts' answers arrive.
	Answers <-chan *host.Answer

	// Ports returns the ports of hosts that are up, at the beginning of a
	// step.
	Ports func() map[transport.HostID]Port

	// Period is the time between two steps; 0 means lockstep: the next step
	// begins when every host has answered, or after Patience. A host that did
	// not answer is waited for no longer until it answers again.
	Period   time.Duration
	Patience time.Duration // 0 means 10 s

	links [][]agent.Link // as told last, by node
	near  [][]agent.NodeID
	told  map[transport.HostID]Port // that know all links so far
	quiet map[transport.HostID]bool // that did not answer and are not waited for
	y     mat.Dense
	fresh []bool        // nodes that answered in this step
	held  time.Duration // for how long watch held the world: the clock stood still
}

// Moment is what a stage saw of one step.
type Moment struct {
	Sample  graph.Sample
	Outputs mat.Dense // N×C; what a silent node answered last
	Fresh   []bool    // nodes that answered in time
	Missing int       // nodes that did not
	Cost    loss.Loss
}

// Run plays the world to its end. Watch, if not nil, sees every step after the
// answers are in; an error of its own ends the play.
func (s *Stage) Run(ctx context.Context, watch func(*Moment) error) error {
	if s.Patience == 0 {
		s.Patience = 10 * time.Second
	}
	s.told, s.quiet = map[transport.HostID]Port{}, map[transport.HostID]bool{}
	next := time.Now()
	for sample := range s.World.Samples() {
		if err := s.begin(sample); err != nil {
			return err
		}
		ports, err := s.show(ctx, sample)
		if err != nil {
			return err
		}
		next = next.Add(s.Period)
		if err := s.gather(ctx, uint64(sample.Time), ports, next); err != nil {
			return err
		}
		s.remember(ports)
		m := &Moment{Sample: sample, Outputs: s.y, Fresh: s.fresh, Cost: s.World.Reveal(s.y)}
		for _, ok := range s.fresh {
			if !ok {
				m.Missing++
			}
		}
		if watch != nil {
			if err := watch(m); err != nil {
				return err
			}
			next, s.held = next.Add(s.held), 0
		}
		for id, port := range ports {
			if err := port.Say(s.tell(m, s.Hosts[id])); err != nil {
				delete(s.told, id)
			}
		}
	}
	return ctx.Err()
}

// begin prepares a step and finds out whose links have changed.
func (s *Stage) begin(sample graph.Sample) error {
	n := sample.Signal.Rows
	if s.links == nil {
		s.links, s.near = make([][]agent.Link, n), make([][]agent.NodeID, n)
		s.y, s.fresh = mat.NewDense(n, s.Outputs, nil), make([]bool, n)
	}
	if g := s.World.Graph(); g.Directed() || g.Nodes() != n {
		return fmt.Errorf("swarm: a graph of %d nodes, directed: %v; agents need an undirected one of %d", g.Nodes(), g.Directed(), n)
	}
	clear(s.fresh)
	return nil
}

// observe returns what the nodes of a host see. Links are told where they have
// changed, or to a host that is new here.
func (s *Stage) observe(sample graph.Sample, nodes []agent.NodeID, all bool) *host.Line {
	l := &host.Line{Time: uint64(sample.Time), Nodes: make([]host.NodeLine, len(nodes))}
	near := s.World.Near()
	for k, node := range nodes {
		n := &l.Nodes[k]
		n.Node, n.Row = node, slices.Clone(sample.Signal.Row(int(node)))
		now := agent.LinksOf(nil, s.World.Graph().Adjacency(), int(node))
		if all || !slices.Equal(now, s.links[node]) {
			n.SetLinks(now)
			s.links[node] = now
		}
		if near != nil {
			if list := nearOf(near, int(node)); all || !slices.Equal(list, s.near[node]) {
				n.Near, s.near[node] = list, list
			}
		}
	}
	return l
}

func nearOf(g *graph.Graph, i int) []agent.NodeID {
	col, _ := g.Adjacency().Row(i)
	list := make([]agent.NodeID, len(col))
	for e, j := range col {
		list[e] = agent.NodeID(j)
	}
	return list
}

// gather waits for the answers of the step.
func (s *Stage) gather(ctx context.Context, t uint64, ports map[transport.HostID]Port, next time.Time) error {
	waiting := s.expected(ports)
	left := s.Patience
	if s.Period > 0 {
		left = time.Until(next)
	}
	end := time.NewTimer(left)
	defer end.Stop()
	look := time.NewTicker(2 * standstill)
	defer look.Stop()
	for len(waiting) > 0 || s.Period > 0 {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case a := <-s.Answers:
			id := transport.HostID(a.Host)
			if a.Time == t {
				s.accept(a)
				if s.answered(id) {
					delete(waiting, id)
				}
			} else if a.Time+1 == t {
				delete(s.quiet, id) // it has nearly caught up
			}
		case <-look.C:
			s.missed(waiting)
		case <-end.C:
			return nil
		}
	}
	return nil
}

// accept takes in an answer: of nodes that the host runs, once.
func (s *Stage) accept(a *host.Answer) {
	for _, o := range a.Outputs {
		if _, runs := slices.BinarySearch(s.Hosts[transport.HostID(a.Host)], o.Node); !runs || len(o.Value) != s.Outputs || s.fresh[o.Node] {
			continue
		}
		copy(s.y.Row(int(o.Node)), o.Value)
		s.fresh[o.Node] = true
	}
}

// tell returns what the answers of a host's nodes cost. Nodes that did not
// answer in time are told nothing.
func (s *Stage) tell(m *Moment, nodes []agent.NodeID) *host.Line {
	l := &host.Line{Time: uint64(m.Sample.Time), Nodes: make([]host.NodeLine, len(nodes))}
	targeted, _ := m.Cost.(loss.Targeted)
	local, _ := m.Cost.(loss.Local)
	for k, node := range nodes {
		n, i := &l.Nodes[k], int(node)
		n.Node = node
		switch {
		case !s.fresh[i]:
		case s.Cost != host.Gradient && targeted != nil:
			target := make([]float32, targeted.TargetLen(s.Outputs))
			if targeted.TargetOf(i, target) {
				n.Target = target
			}
		case s.Cost == host.Gradient && local != nil:
			n.Gradient = make([]float32, s.Outputs)
			n.Cost = local.EvalNode(i, n.Gradient, s.y.Row(i))
		}
	}
	return l
}
