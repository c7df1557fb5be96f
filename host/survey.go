package host

import (
	"errors"
	"fmt"
	"time"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/transport"
)

// survey finds λmax of the network before the first step: it drives a gauge for
// each node of a host, beside those of other hosts. It is a mode of the machine:
// the world waits, frames carry estimates instead of rows. Once it is over, the
// gauges only answer hosts that are not done yet. Methods may be called on nil,
// where nothing has to be found.
type survey struct {
	gauges    []*agent.Gauge         // by cell
	hearers   map[agent.NodeID][]int // cells that hear a node, while λmax is measured
	elsewhere []bool                 // by cell: some of its neighbours are
	queue     []agent.Message        // to be delivered
	done      bool
	every     time.Duration // between two times that silent neighbours are asked
	next      time.Duration // the next of them
	moved     time.Duration // when the slowest node last made a round
	round     int           // its number
}

// surveyTime is the number of the measurement; a run makes one.
const surveyTime = 1

// measures says whether λmax is still being found.
func (s *survey) measures() bool { return s != nil && !s.done }

// prepareSurvey makes the gauges, if the configuration asks for them.
func (h *Machine) prepareSurvey() error {
	if h.cfg.Gauge == nil {
		return nil
	}
	s := &survey{every: h.cfg.Pace.Deadline / 5, hearers: map[agent.NodeID][]int{}}
	if h.cfg.Pace.Retry > 0 {
		s.every = h.cfg.Pace.Retry
	}
	for i := range h.cells {
		g, err := agent.NewGauge(h.cells[i].node.ID(), *h.cfg.Gauge)
		if err != nil {
			return fmt.Errorf("host: survey: %w", err)
		}
		s.gauges, s.elsewhere = append(s.gauges, g), append(s.elsewhere, h.cells[i].elsewhere)
		for _, l := range h.cells[i].links {
			s.hearers[l.Node] = append(s.hearers[l.Node], i)
		}
	}
	h.survey = s
	return nil
}

// beginSurvey begins to measure, or says that the machine is ready if nothing has
// to be.
func (h *Machine) beginSurvey() {
	s := h.survey
	if s == nil {
		h.actions.Ready = &Ready{Next: h.Next()}
		return
	}
	for i := range h.cells {
		if err := h.gauge(i, agent.Begin{Time: surveyTime, Links: h.cells[i].links}); err != nil {
			h.actions.Failed = fmt.Errorf("host: survey: %w", err)
			return
		}
	}
	s.moved, s.next = h.now, h.now+s.every
	h.settleSurvey()
}

// tickSurvey asks silent neighbours again, and gives them up when nobody has made
// a round for too long.
func (h *Machine) tickSurvey() {
	s := h.survey
	if h.now < s.next {
		return
	}
	s.next = h.now + s.every
	patience := h.cfg.Pace.Deadline
	if s.rounds() == 0 {
		patience = h.cfg.Pace.First
	}
	if h.now-s.moved >= patience {
		h.gaugeAll(agent.Expire{})
		s.moved = h.now
	}
	h.gaugeAll(agent.Retry{})
	h.settleSurvey()
}

// measure takes in a frame while λmax is not known. Rows in it are of hosts that
// know it already: they will be asked for again.
func (h *Machine) measure(f transport.Frame) {
	header, messages, err := h.reader.Read(f.Data)
	if err != nil {
		h.unreadable(f.From, err)
		return
	}
	if header.Run != h.hash || header.Host != uint32(f.From) {
		return
	}
	delete(h.others, f.From) // it speaks our version, if it did not before
	h.passOver(f.From)
	for k := range messages {
		if owner, ok := h.cfg.Directory.Owner(messages[k].From); ok && owner == f.From {
			h.estimate(&messages[k])
		}
	}
	h.settleSurvey()
}

// estimate hands a message about λmax to those who hear its sender. When the
// survey is over they answer neighbours that are not done.
func (h *Machine) estimate(m *agent.Message) {
	if h.survey == nil || m.Kind != agent.Estimate {
		return
	}
	if i, here := h.index[m.To]; here {
		h.gauge(i, agent.Receive{Message: m})
	} else if m.To == agent.Everyone {
		for _, i := range h.survey.hearers[m.From] {
			h.gauge(i, agent.Receive{Message: m})
		}
	}
}

// gauge applies an event to the gauge of a node.
func (h *Machine) gauge(i int, ev agent.Event) error {
	r, err := h.survey.gauges[i].Step(ev)
	h.survey.queue = append(h.survey.queue, r.Send...)
	return err
}

// gaugeAll gives an event to all gauges that wait, and delivers what they say.
func (h *Machine) gaugeAll(ev agent.Event) {
	for i, g := range h.survey.gauges {
		if g.Open() {
			h.gauge(i, ev)
		}
	}
	h.drainSurvey()
}

// settleSurvey goes on until nothing can be done without hearing from elsewhere,
// and ends the survey when every gauge is done.
func (h *Machine) settleSurvey() {
	h.drainSurvey()
	h.send()
	s := h.survey
	if r := s.rounds(); r >= 0 {
		if r != s.round {
			s.moved, s.round = h.now, r
		}
		return
	}
	scale, rounds, err := h.found()
	if err != nil {
		h.actions.Failed = err
		return
	}
	s.done = true
	h.cfg.Plan.Scale = scale
	h.plan = h.cfg.Plan.Digest()
	h.actions.Ready = &Ready{Next: h.Next(), Scale: scale, Rounds: rounds}
}

// drainSurvey delivers messages among gauges of this host, and sets the others
// aside.
func (h *Machine) drainSurvey() {
	s := h.survey
	for k := 0; k < len(s.queue); k++ {
		m := s.queue[k]
		if i, here := h.index[m.To]; here {
			h.gauge(i, agent.Receive{Message: &m})
			continue
		}
		if m.To == agent.Everyone {
			for _, i := range h.survey.hearers[m.From] {
				h.gauge(i, agent.Receive{Message: &m})
			}
		}
		if m.To != agent.Everyone || s.elsewhere[h.index[m.From]] {
			h.pending = append(h.pending, m)
		}
	}
	clear(s.queue)
	s.queue = s.queue[:0]
}

// rounds returns how many rounds the slowest node has made that is not done, -1
// if all are.
func (s *survey) rounds() int {
	least := -1
	for _, g := range s.gauges {
		if _, r, _ := g.Result(); g.Open() && (least < 0 || r < least) {
			least = r
		}
	}
	return least
}

// found returns what the nodes found, which must be the same.
func (h *Machine) found() (lambda float64, rounds int, err error) {
	found := false
	for i, g := range h.survey.gauges {
		l, r, ok := g.Result()
		if !ok {
			low, high := g.Bounds()
			return 0, 0, fmt.Errorf("host: survey: after %d rounds node %d knows only that λmax is from %v to %v; "+
				"give it as a number, or a smaller diameter", r, g.ID(), low, high)
		}
		if len(h.cells[i].links) == 0 {
			continue
		}
		if l == 0 || found && l != lambda {
			return 0, 0, fmt.Errorf("host: survey: node %d found %v for λmax, others %v: some neighbours did not take part; "+
				"start all hosts at the same time, or give λmax as a number", g.ID(), l, lambda)
		}
		lambda, rounds, found = l, r, true
	}
	if !found {
		return 0, 0, errors.New("host: survey: no node here has links; give λmax as a number")
	}
	return lambda, rounds, nil
}

// lateEstimate answers a neighbour that is not done with its survey.
func (h *Machine) lateEstimate(m *agent.Message) {
	if h.survey == nil {
		return
	}
	before := len(h.pending)
	h.estimate(m)
	h.drainSurvey()
	h.ship = h.ship || len(h.pending) > before
}
