package box

import (
	"encoding/json"
	"time"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/host"
	"github.com/wdgnn/wdgnn/mat"
)

// stream is a world of arrays, as wdgnn online reads them. A box says what its
// own nodes observe, and with it what the answers should have been.
type stream struct {
	config *Config
	nodes  []agent.NodeID // of this box
	out    *outbox

	steps   int
	all     int            // N
	signals mat.Dense      // (T·N)×F
	graphs  []*graph.Graph // of each step, or one for all
	targets targets

	lines chan *host.Line
	halt  chan struct{}
}

// Lines implements [host.World].
func (s *stream) Lines() <-chan *host.Line { return s.lines }

// Act implements [host.World].
func (s *stream) Act(a *host.Answer) error {
	text, err := json.Marshal(a)
	if err != nil {
		return err
	}
	return s.out.put(text)
}

// Lost returns how many answers could not be written.
func (s *stream) Lost() uint64 { return s.out.lost.Load() }

func (s *stream) start(next uint64) error {
	go s.play(next, s.config.newClock(next, time.Now()))
	return nil
}

func (s *stream) stop() { close(s.halt) }

// play says the steps from next on.
func (s *stream) play(next uint64, k clock) {
	defer close(s.lines)
	var told *graph.Graph
	for t := k.first(next, time.Now()); t < uint64(s.steps); t = k.first(t+1, time.Now()) {
		if !k.wait(t, s.halt) {
			return
		}
		g := s.graphs[min(int(t), len(s.graphs)-1)]
		select {
		case s.lines <- s.line(int(t), g, g != told):
			told = g
		case <-s.halt:
			return
		}
	}
}

// line returns what is said at step t; links only where they may have changed.
func (s *stream) line(t int, g *graph.Graph, links bool) *host.Line {
	l := &host.Line{Time: uint64(t), Nodes: make([]host.NodeLine, len(s.nodes))}
	for k, node := range s.nodes {
		n := &l.Nodes[k]
		n.Node, n.Row = node, s.signals.Row(t*s.all+int(node))
		n.Target = s.targets.of(t, int(node))
		if links {
			list := linksOf(g, int(node))
			n.Links = &list
		}
	}
	return l
}

// linksOf returns whom node i hears.
func linksOf(g *graph.Graph, i int) []host.Link {
	col, val := g.Adjacency().Row(i)
	list := make([]host.Link, len(col))
	for e, j := range col {
		list[e] = host.Link{Node: agent.NodeID(j), Weight: val[e]}
	}
	return list
}
