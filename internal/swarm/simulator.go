package swarm

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/host"
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

// lateWorld is a world that does not always tell what answers cost, or tells it
// late.
type lateWorld interface {
	// known says whether anything is known of what the answers of the latest
	// sample cost; late returns what those of so many steps before did.
	known() bool
	late(delay int) loss.Loss
}

// truthWorld is a world of nodes that forecast: they learn from what they are shown,
// and are told nothing else.
type truthWorld interface {
	// truth returns what a node should have been shown at the latest sample, nil if
	// it was.
	truth(node agent.NodeID) []float32
}

// port is how a simulator reaches one host. It is used by one goroutine.
type port interface {
	// send hands a line over. A host that is gone is an error and is left out
	// of this step.
	send(l *host.Line) error
}

// simulator plays a world to hosts: it sends them what their nodes observe,
// gathers their answers and tells them what these cost.
type simulator struct {
	world   World
	hosts   map[transport.HostID][]agent.NodeID // who runs which nodes, ascending
	outputs int                                 // C
	cost    host.Cost
	delay   int // steps that nodes are told late what their answers cost

	// answers is where the hosts' answers arrive.
	answers <-chan *host.Answer

	// ports returns the ports of hosts that are up, at the beginning of a
	// step.
	ports func() map[transport.HostID]port

	// period is the time between two steps; 0 means lockstep: the next step
	// begins when every host has answered, or after timeout. A host that did
	// not answer is a straggler: nobody waits for it until it answers again.
	period  time.Duration
	timeout time.Duration // 0 means 10 s

	links      [][]agent.Link // as sent last, by node
	near       [][]agent.NodeID
	synced     map[transport.HostID]port // that know all links so far
	stragglers map[transport.HostID]bool // that did not answer and are not waited for
	y          mat.Dense
	fresh      []bool        // nodes that answered in this step
	paused     time.Duration // by watch: the clock stood still
}

// Step is what a simulator saw of one step.
type Step struct {
	Sample  graph.Sample
	Outputs mat.Dense // N×C; what a silent node answered last
	Fresh   []bool    // nodes that answered in time
	Missing int       // nodes that did not
	Cost    loss.Loss
	Known   bool      // somebody knows something of it
	Late    loss.Loss // what nodes are told in its place, of an earlier step; nil if nothing comes late
}

// told returns what nodes are told at the step.
func (m *Step) told() loss.Loss {
	if m.Late != nil {
		return m.Late
	}
	return m.Cost
}

// run plays the world to its end. Watch, if not nil, sees every step after the
// answers are in; an error of its own ends the run.
func (s *simulator) run(ctx context.Context, watch func(*Step) error) error {
	if s.timeout == 0 {
		s.timeout = 10 * time.Second
	}
	s.synced, s.stragglers = map[transport.HostID]port{}, map[transport.HostID]bool{}
	next := time.Now()
	for sample := range s.world.Samples() {
		if err := s.begin(sample); err != nil {
			return err
		}
		ports, err := s.observeAll(ctx, sample)
		if err != nil {
			return err
		}
		next = next.Add(s.period)
		if err := s.gather(ctx, uint64(sample.Time), ports, next); err != nil {
			return err
		}
		s.noteStragglers(ports)
		m := &Step{Sample: sample, Outputs: s.y, Fresh: s.fresh, Cost: s.world.Reveal(s.y), Known: true}
		if w, ok := s.world.(lateWorld); ok {
			m.Known = w.known()
			if s.delay > 0 {
				m.Late = w.late(s.delay)
			}
		}
		for _, ok := range s.fresh {
			if !ok {
				m.Missing++
			}
		}
		if watch != nil {
			if err := watch(m); err != nil {
				return err
			}
			next, s.paused = next.Add(s.paused), 0
		}
		for id, port := range ports {
			if err := s.tell(port, m, s.hosts[id]); err != nil {
				delete(s.synced, id)
			}
		}
	}
	if w, ok := s.world.(interface{ Err() error }); ok && w.Err() != nil {
		return w.Err()
	}
	return ctx.Err()
}

// begin prepares a step and finds out whose links have changed.
func (s *simulator) begin(sample graph.Sample) error {
	n := sample.Signal.Rows
	if s.links == nil {
		s.links, s.near = make([][]agent.Link, n), make([][]agent.NodeID, n)
		s.y, s.fresh = mat.NewDense(n, s.outputs, nil), make([]bool, n)
	}
	if g := s.world.Graph(); g.Directed() || g.Nodes() != n {
		return fmt.Errorf("swarm: a graph of %d nodes, directed: %v; agents need an undirected one of %d", g.Nodes(), g.Directed(), n)
	}
	clear(s.fresh)
	return nil
}

// observe returns what the nodes of a host see. Links are sent where they have
// changed, or to a host that is new here.
func (s *simulator) observe(sample graph.Sample, nodes []agent.NodeID, all bool) *host.Line {
	l := &host.Line{Time: uint64(sample.Time), Nodes: make([]host.NodeLine, len(nodes))}
	near := s.world.Near()
	truths, forecasts := s.world.(truthWorld)
	for k, node := range nodes {
		n := &l.Nodes[k]
		n.Node, n.Row = node, slices.Clone(sample.Signal.Row(int(node)))
		if forecasts {
			n.Target = truths.truth(node)
		}
		now := agent.LinksOf(nil, s.world.Graph().Adjacency(), int(node))
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
func (s *simulator) gather(ctx context.Context, t uint64, ports map[transport.HostID]port, next time.Time) error {
	waiting := s.expected(ports)
	left := s.timeout
	if s.period > 0 {
		left = time.Until(next)
	}
	end := time.NewTimer(left)
	defer end.Stop()
	check := time.NewTicker(2 * retryDelay)
	defer check.Stop()
	for len(waiting) > 0 || s.period > 0 {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case a := <-s.answers:
			id := transport.HostID(a.Host)
			if a.Time == t {
				s.accept(a)
				if s.answered(id) {
					delete(waiting, id)
				}
			} else if a.Time+1 == t {
				delete(s.stragglers, id) // it has nearly caught up
			}
		case <-check.C:
			s.dropGone(waiting)
		case <-end.C:
			return nil
		}
	}
	return nil
}

// accept takes in an answer: of nodes that the host runs, once.
func (s *simulator) accept(a *host.Answer) {
	for _, o := range a.Outputs {
		if _, runs := slices.BinarySearch(s.hosts[transport.HostID(a.Host)], o.Node); !runs || len(o.Value) != s.outputs || s.fresh[o.Node] {
			continue
		}
		copy(s.y.Row(int(o.Node)), o.Value)
		s.fresh[o.Node] = true
	}
	if _, forecasts := s.world.(truthWorld); forecasts && a.Error == "" {
		s.acceptSilence(transport.HostID(a.Host))
	}
}

// acceptSilence takes in that nodes of a host that has answered have nothing to say:
// sensors that were not in training, before they hear one that was.
func (s *simulator) acceptSilence(id transport.HostID) {
	for _, node := range s.hosts[id] {
		if s.fresh[node] {
			continue
		}
		for c := range s.outputs {
			s.y.Row(int(node))[c] = float32(math.NaN())
		}
		s.fresh[node] = true
	}
}

// tell tells a host what answers of its nodes cost: those of an earlier step if they
// are told late, and otherwise those of this step, which it ends.
func (s *simulator) tell(p port, m *Step, nodes []agent.NodeID) error {
	if _, forecasts := s.world.(truthWorld); forecasts {
		return nil
	}
	if m.Late != nil && m.Sample.Time >= s.delay {
		if err := p.send(s.late(m, nodes)); err != nil {
			return err
		}
	}
	return p.send(s.feedback(m, nodes))
}

// late returns what answers of an earlier step should have been.
func (s *simulator) late(m *Step, nodes []agent.NodeID) *host.Line {
	l := &host.Line{Time: uint64(m.Sample.Time - s.delay), Nodes: []host.NodeLine{}}
	for _, node := range nodes {
		if target := s.target(m.Late, node); target != nil {
			l.Nodes = append(l.Nodes, host.NodeLine{Node: node, Target: target})
		}
	}
	return l
}

// target returns what the answer of a node should have been, nil if that is not
// known.
func (s *simulator) target(j loss.Loss, node agent.NodeID) []float32 {
	targeted, ok := j.(loss.Targeted)
	if !ok {
		return nil
	}
	target := make([]float32, targeted.TargetLen(s.outputs))
	if !targeted.TargetOf(int(node), target) {
		return nil
	}
	return target
}

// feedback returns what the answers of a host's nodes cost. Nodes that did not
// answer in time get none.
func (s *simulator) feedback(m *Step, nodes []agent.NodeID) *host.Line {
	l := &host.Line{Time: uint64(m.Sample.Time), Nodes: make([]host.NodeLine, len(nodes))}
	local, _ := m.Cost.(loss.Local)
	for k, node := range nodes {
		n, i := &l.Nodes[k], int(node)
		n.Node = node
		switch {
		case !s.fresh[i] || m.Late != nil:
		case s.cost != host.Gradient:
			n.Target = s.target(m.Cost, node)
		case s.cost == host.Gradient && local != nil:
			n.Gradient = make([]float32, s.outputs)
			n.Cost = local.EvalNode(i, n.Gradient, s.y.Row(i))
		}
	}
	return l
}
