package host

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/transport"
)

// SurveyConfig describes a Survey. Its fields mean what they mean in Config.
type SurveyConfig struct {
	Run       string
	Host      transport.HostID
	Nodes     []agent.NodeID
	Plan      *agent.Plan                   // whose scale is to be found
	Links     map[agent.NodeID][]agent.Link // undirected; of every node that has any
	Directory *Directory                    // nil if all nodes are here
	Bus       transport.Bus
	Pace      Pace // Deadline, First and Retry, of a round
	Gauge     agent.GaugeConfig
	Log       *slog.Logger
}

// Survey finds λmax of the network: it drives a gauge for each node of a host,
// beside those of other hosts. It is used by one goroutine: Run first, and then
// the Host that it is handed to, which answers those who are not done yet.
type Survey struct {
	cfg     SurveyConfig
	hash    uint32
	plan    uint32         // digest without a scale
	gauges  []*agent.Gauge // by node, ascending
	index   map[agent.NodeID]int
	hearers map[agent.NodeID][]int
	queue   []agent.Message
	away    []agent.Message // for other hosts
	frame   []byte
	sent    uint64
	reader  agent.Reader
}

// surveyTime is the number of the measurement; a run makes one.
const surveyTime = 1

// NewSurvey returns a survey that has not begun.
func NewSurvey(c SurveyConfig) (*Survey, error) {
	c.Pace.Mode = Lockstep
	c.Pace.fill()
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	s := &Survey{cfg: c, hash: RunHash(c.Run), plan: unmeasured(c.Plan), index: map[agent.NodeID]int{}, hearers: map[agent.NodeID][]int{}}
	for _, id := range slices.Sorted(slices.Values(c.Nodes)) {
		g, err := agent.NewGauge(id, c.Gauge)
		if err != nil {
			return nil, fmt.Errorf("host: survey: %w", err)
		}
		s.index[id] = len(s.gauges)
		s.gauges = append(s.gauges, g)
		for _, l := range c.Links[id] {
			s.hearers[l.Node] = append(s.hearers[l.Node], s.index[id])
		}
	}
	return s, nil
}

// Run measures, and returns λmax and the number of rounds.
func (s *Survey) Run(ctx context.Context) (lambda float64, rounds int, err error) {
	var frames <-chan transport.Frame
	if s.cfg.Bus != nil {
		if err := s.listen(); err != nil {
			return 0, 0, err
		}
		frames = s.cfg.Bus.Frames()
	}
	for i, g := range s.gauges {
		if err := s.step(i, agent.Begin{Time: surveyTime, Links: s.cfg.Links[g.ID()]}); err != nil {
			return 0, 0, fmt.Errorf("host: survey: %w", err)
		}
	}
	s.settle()
	every := s.cfg.Pace.Retry
	if every == 0 {
		every = s.cfg.Pace.Deadline / 5
	}
	ticks := time.NewTicker(every)
	defer ticks.Stop()
	moved, round := time.Now(), 0
	for s.open() {
		select {
		case <-ctx.Done():
			return 0, 0, ctx.Err()
		case f, ok := <-frames:
			if !ok {
				return 0, 0, transport.ErrClosed
			}
			s.take(f)
		case now := <-ticks.C:
			patience := s.cfg.Pace.Deadline
			if s.rounds() == 0 {
				patience = s.cfg.Pace.First
			}
			if now.Sub(moved) >= patience {
				s.all(agent.Expire{})
				moved = now
			}
			s.all(agent.Retry{})
		}
		if r := s.rounds(); r != round {
			moved, round = time.Now(), r
		}
	}
	return s.result()
}

// listen hears the hosts of all neighbours.
func (s *Survey) listen() error {
	var hosts []transport.HostID
	for node := range s.hearers {
		if owner, ok := s.cfg.Directory.Owner(node); ok && owner != s.cfg.Host {
			hosts = append(hosts, owner)
		}
	}
	slices.Sort(hosts)
	return s.cfg.Bus.Hear(slices.Compact(hosts))
}

func (s *Survey) open() bool {
	return slices.ContainsFunc(s.gauges, (*agent.Gauge).Open)
}

// rounds returns how many rounds the slowest node has made.
func (s *Survey) rounds() int {
	least := -1
	for _, g := range s.gauges {
		if _, r, _ := g.Result(); g.Open() && (least < 0 || r < least) {
			least = r
		}
	}
	return least
}

// result returns what the nodes found, which must be the same.
func (s *Survey) result() (lambda float64, rounds int, err error) {
	found := false
	for _, g := range s.gauges {
		l, r, ok := g.Result()
		if !ok {
			low, high := g.Bounds()
			return 0, 0, fmt.Errorf("host: survey: after %d rounds node %d knows only that λmax is from %v to %v; give it as a number, or a smaller diameter", r, g.ID(), low, high)
		}
		if len(s.cfg.Links[g.ID()]) == 0 {
			continue
		}
		if l == 0 || found && l != lambda {
			return 0, 0, fmt.Errorf("host: survey: node %d found %v for λmax, others %v: some neighbours did not take part; start all hosts at the same time, or give λmax as a number", g.ID(), l, lambda)
		}
		lambda, rounds, found = l, r, true
	}
	if !found {
		return 0, 0, errors.New("host: survey: no node here has links; give λmax as a number")
	}
	return lambda, rounds, nil
}

func (s *Survey) step(i int, ev agent.Event) error {
	r, err := s.gauges[i].Step(ev)
	s.queue = append(s.queue, r.Send...)
	return err
}

// all gives an event to whoever waits.
func (s *Survey) all(ev agent.Event) {
	for i := range s.gauges {
		if s.gauges[i].Open() {
			s.step(i, ev)
		}
	}
	s.settle()
}

// settle delivers what can be delivered here and sends the rest.
func (s *Survey) settle() {
	s.drain()
	for len(s.away) > 0 {
		batch := s.away[:min(len(s.away), frameRoom/100)]
		s.away = s.away[len(batch):]
		if s.cfg.Bus == nil {
			continue
		}
		s.sent++
		s.frame = agent.AppendFrame(s.frame[:0], agent.Header{Run: s.hash, Plan: s.plan, Host: uint32(s.cfg.Host), Sequence: s.sent}, batch)
		if err := s.cfg.Bus.Send(s.frame); err != nil {
			s.cfg.Log.Debug("frame not sent", "err", err)
		}
	}
	s.away = s.away[:0]
}

// drain delivers messages among nodes of this host, and sets the others aside.
func (s *Survey) drain() {
	for k := 0; k < len(s.queue); k++ {
		m := s.queue[k]
		if i, here := s.index[m.To]; here {
			s.step(i, agent.Receive{Message: &m})
			continue
		}
		if m.To == agent.Everyone {
			for _, i := range s.hearers[m.From] {
				s.step(i, agent.Receive{Message: &m})
			}
		}
		if m.To != agent.Everyone || s.heardElsewhere(m.From) {
			s.away = append(s.away, m)
		}
	}
	clear(s.queue)
	s.queue = s.queue[:0]
}

// heardElsewhere says whether node has a neighbour on another host.
func (s *Survey) heardElsewhere(node agent.NodeID) bool {
	for _, l := range s.cfg.Links[node] {
		if _, here := s.index[l.Node]; !here {
			return true
		}
	}
	return false
}

// take takes in a frame of another host.
func (s *Survey) take(f transport.Frame) {
	header, messages, err := s.reader.Read(f.Data)
	if err != nil || header.Run != s.hash || header.Host != uint32(f.From) {
		return
	}
	for k := range messages {
		m := &messages[k]
		if owner, ok := s.cfg.Directory.Owner(m.From); !ok || owner != f.From || m.Kind != agent.Estimate {
			continue
		}
		s.receive(m)
	}
	s.settle()
}

func (s *Survey) receive(m *agent.Message) {
	if i, here := s.index[m.To]; here {
		s.step(i, agent.Receive{Message: m})
	} else if m.To == agent.Everyone {
		for _, i := range s.hearers[m.From] {
			s.step(i, agent.Receive{Message: m})
		}
	}
}

// lateEstimate answers a neighbour that is not done with its survey.
func (h *Host) lateEstimate(m *agent.Message) {
	s := h.cfg.Survey
	if s == nil {
		return
	}
	s.receive(m)
	s.drain()
	h.pending, h.ship = append(h.pending, s.away...), h.ship || len(s.away) > 0
	s.away = s.away[:0]
}
