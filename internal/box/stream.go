package box

import (
	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/internal/data"
	"github.com/wdgnn/wdgnn/loss"
)

// stream is a world of arrays, as wdgnn online reads them. A box says what its
// own nodes observe, and with it what the answers should have been.
type stream struct {
	config *Config
	nodes  []agent.NodeID // of this box
	out    *outbox

	files *data.Stream
	rows  []int // target row, within a step, of each node of this box; -1 if it is not asked
	delay int   // steps that targets come late

	lines chan *host.Line
	spare []*host.Line // that were sent, in turn: whoever hears one is done with it before it comes again
	turn  int
	text  []byte // of an answer
	halt  chan struct{}
}

// manyNodes is from where on lines are long, and few wait to be heard.
const manyNodes = 1000

// newStream returns a world of files for the given nodes of this box.
func (c *Config) newStream(files *data.Stream, nodes []agent.NodeID, out *outbox) *stream {
	ahead := 4
	if len(nodes) > manyNodes {
		ahead = 1
	}
	s := &stream{config: c, nodes: nodes, out: out, files: files, lines: make(chan *host.Line, ahead), halt: make(chan struct{})}
	if c.Learn != nil {
		s.delay = c.Learn.Delay
	}
	place := make(map[int]int, len(files.Read))
	for r, i := range files.Read {
		place[i] = r
	}
	for _, node := range nodes {
		r, ok := place[int(node)]
		if !ok {
			r = -1
		}
		s.rows = append(s.rows, r)
	}
	return s
}

// Lines implements [host.World].
func (s *stream) Lines() <-chan *host.Line { return s.lines }

// Act implements [host.World].
func (s *stream) Act(a *host.Answer) error {
	text, err := a.AppendText(s.text[:0])
	if err != nil {
		return err
	}
	s.text = text
	return s.out.put(text)
}

// Lost returns how many answers could not be written.
func (s *stream) Lost() uint64 { return s.out.lost.Load() }

func (s *stream) start(next uint64) error {
	go s.send(next, s.config.newClock(next))
	return nil
}

func (s *stream) stop() { close(s.halt) }

// send sends the steps from next on.
func (s *stream) send(next uint64, k *clock) {
	defer close(s.lines)
	var sent *graph.Graph
	for t := k.first(next); t < uint64(s.files.Steps); t = k.first(t + 1) {
		if !k.wait(t, s.halt) {
			return
		}
		g := s.files.Graph(int(t))
		select {
		case s.lines <- s.line(int(t), g, g != sent):
			sent = g
		case <-s.halt:
			return
		}
		if l := s.late(int(t)); l != nil {
			select {
			case s.lines <- l:
			case <-s.halt:
				return
			}
		}
	}
	k.end(s.halt)
}

// late returns what answers of the step should have been that targets come late
// for at step t; nil if there are none.
func (s *stream) late(t int) *host.Line {
	if s.delay == 0 || t < s.delay {
		return nil
	}
	l := &host.Line{Time: uint64(t - s.delay)}
	for k, node := range s.nodes {
		if target := s.target(t-s.delay, k); target != nil {
			l.Nodes = append(l.Nodes, host.NodeLine{Node: node, Target: target})
		}
	}
	if l.Nodes == nil {
		return nil
	}
	return l
}

// line returns what is sent at step t; links only where they may have changed.
func (s *stream) line(t int, g *graph.Graph, links bool) *host.Line {
	l := s.next()
	l.Time = uint64(t)
	for k, node := range s.nodes {
		n := &l.Nodes[k]
		n.Node, n.Row = node, s.files.Signals.Row(s.files.Place(t, k))
		if s.delay == 0 {
			n.Target = s.target(t, k)
		}
		if links {
			n.SetLinks(agent.LinksOf(nil, g.Adjacency(), int(node)))
		}
	}
	return l
}

// next returns a line for all nodes that says nothing yet. Beside those that wait to
// be heard one is heard and one is being written.
func (s *stream) next() *host.Line {
	if len(s.spare) < cap(s.lines)+3 {
		s.spare = append(s.spare, &host.Line{Nodes: make([]host.NodeLine, len(s.nodes))})
		return s.spare[len(s.spare)-1]
	}
	l := s.spare[s.turn]
	s.turn = (s.turn + 1) % len(s.spare)
	clear(l.Nodes)
	return l
}

// target returns what the answer of the k-th node should have been at step t,
// nil if that is not known.
func (s *stream) target(t, k int) []float32 {
	if s.rows[k] < 0 {
		return nil
	}
	f, row := s.files, t*len(s.files.Read)+s.rows[k]
	switch {
	case f.Labels != nil && f.Labels[row] != loss.NoLabel:
		return []float32{float32(f.Labels[row])}
	case f.Mask != nil && f.Mask[row]:
		return f.Values.Row(row)
	}
	return nil
}
