package swarm

import (
	"context"
	"math"
	"time"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/internal/live"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/transport"
)

// publisher publishes a run on a hub and does what its viewers ask for.
type publisher struct {
	run   *run
	hub   *live.Hub
	owner map[agent.NodeID]transport.HostID

	control

	right  []recent // answers of detectors, by node, %
	cost   []recent // and what they cost
	both   [2]recent
	before View
	at     time.Time
	rates  rates

	view  *View       // as it was seen last
	seen  time.Time   // when
	apart live.Floats // ‖𝒜_i - mean‖ by node
	links *graph.Graph
	out   []int32 // links of the scene that are out in links

	stepped time.Time // when the latest step was made
	slow    bool      // it was a slow one, and its messages have not been shown
}

// rates are what happened per second, lately.
type rates struct {
	steps, received float64 // steps of the world; rows that nodes received
	late, lost      float64 // rows that did not come in time; frames that did not come
	share           float64 // of rows that did not come in time, %
}

const mostRecent = 500 // answers: of five detectors to 100 signals

// recent is the mean of the last values.
type recent struct {
	values [mostRecent]float64
	length int // how many count
	n      int
}

func (r *recent) add(v float64) {
	r.values[r.n%r.length] = v
	r.n++
}

func (r *recent) mean() float64 {
	count := min(r.n, r.length)
	sum := 0.0
	for _, v := range r.values[:count] {
		sum += v
	}
	return sum / float64(count) // NaN if nothing was added
}

func newPublisher(r *run) *publisher {
	s := &publisher{
		run: r, hub: r.Hub, owner: map[agent.NodeID]transport.HostID{}, at: time.Now(),
		right: make([]recent, r.Task.Nodes), cost: make([]recent, r.Task.Nodes),
		control: control{speed: fastest, loss: r.Faults.Loss, sent: map[transport.HostID]float64{}, up: map[transport.HostID]bool{}},
	}
	for h, nodes := range r.divided {
		s.up[h] = true // the world begins when all are
		for _, i := range nodes {
			s.owner[i] = h
		}
	}
	for i := range s.right {
		s.right[i].length, s.cost[i].length = 50, 50 // signals
	}
	for k := range s.both {
		s.both[k].length = mostRecent
	}
	return s
}

// step publishes a step, waits while the world is paused or slow, and returns for
// how long it did.
func (s *publisher) step(ctx context.Context, m *Step) (paused time.Duration, err error) {
	s.watch(m)
	s.slow = time.Since(s.stepped) > slowStep
	s.stepped = time.Now()
	for {
		s.handleAll(m)
		if s.hub.Due() {
			if err := s.hub.Publish(s.frame(m)); err != nil {
				return paused, err
			}
		}
		wait := s.delay()
		if wait == 0 {
			return paused, nil
		}
		began := time.Now()
		select {
		case <-ctx.Done():
			return paused, ctx.Err()
		case c := <-s.hub.Commands():
			s.handle(c, m)
		case <-time.After(wait):
		}
		paused += time.Since(began)
	}
}

// slowStep is the time between two steps whose messages people can follow.
const slowStep = 80 * time.Millisecond

// handleAll does what viewers have asked for so far.
func (s *publisher) handleAll(m *Step) {
	for {
		select {
		case c := <-s.hub.Commands():
			s.handle(c, m)
		default:
			s.poll(m)
			return
		}
	}
}

// watch counts answers.
func (s *publisher) watch(m *Step) {
	c, ok := m.Cost.(loss.CrossEntropy)
	if !ok {
		s.watchValues(m)
		return
	}
	for i, label := range c.Labels {
		if label == loss.NoLabel {
			continue
		}
		right := func(y []float32) float64 {
			if mat.Argmax(y) == int(label) {
				return 100
			}
			return 0
		}
		if m.Fresh[i] {
			s.right[i].add(right(m.Outputs.Row(i)))
			s.cost[i].add(c.EvalNode(i, nil, m.Outputs.Row(i)))
			s.both[learnerAgents].add(right(m.Outputs.Row(i)))
		}
		s.both[learnerFrozen].add(right(s.run.frozen.y.Row(i)))
	}
}

// watchValues counts what answers cost that are numbers.
func (s *publisher) watchValues(m *Step) {
	if c, ok := m.Cost.(judged); ok && m.Known {
		s.both[learnerAgents].add(float64(c))
		s.both[learnerFrozen].add(s.run.frozen.series.trained)
	}
	local, isLocal := m.Cost.(loss.Local)
	targeted, isTargeted := m.Cost.(loss.Targeted)
	if !isLocal || !isTargeted || s.run.frozen == nil {
		return
	}
	target := make([]float32, targeted.TargetLen(m.Outputs.Cols))
	for i := range m.Outputs.Rows {
		if !targeted.TargetOf(i, target) {
			continue
		}
		if m.Fresh[i] {
			cost := local.EvalNode(i, nil, m.Outputs.Row(i))
			s.cost[i].add(cost)
			s.both[learnerAgents].add(cost)
		}
		s.both[learnerFrozen].add(local.EvalNode(i, nil, s.run.frozen.y.Row(i)))
	}
}

// rate computes what happened per second, about once a second.
func (s *publisher) rate(v *View) {
	spent := time.Since(s.at).Seconds()
	if spent < 1 && s.before.Step > 0 {
		return
	}
	now, was := &v.Counters, &s.before.Counters
	received, expired := since(now.Agents.Received, was.Agents.Received), since(now.Agents.Expired, was.Agents.Expired)
	s.rates = rates{
		steps: float64(v.Step-s.before.Step) / spent, received: received / spent, late: expired / spent,
		lost: since(now.Host.Gaps, was.Host.Gaps) / spent, share: 100 * expired / max(received+expired, 1),
	}
	s.before, s.at = *v, time.Now()
}

// since returns what was counted since then. A host that was started again counts
// anew.
func since(now, then uint64) float64 {
	if now < then {
		return 0
	}
	return float64(now - then)
}

// viewGap is the time between two views of all hosts: they report once a second.
const viewGap = 250 * time.Millisecond

// latest returns how things are, or were a moment ago.
func (s *publisher) latest() *View {
	if s.view != nil && time.Since(s.seen) < viewGap {
		return s.view
	}
	s.view, s.seen, s.apart = s.run.view(), time.Now(), blank(s.run.Task.Nodes)
	for node, d := range s.run.distances(s.view.Reports) {
		s.apart[node] = float32(d)
	}
	s.rate(s.view)
	return s.view
}

// gates returns 1 for nodes that answer with what they learned, 0 for those that
// answer as trained, and nothing for those that nobody judged.
func gates(reports []*host.Report, nodes int) live.Floats {
	v := blank(nodes)
	for _, r := range reports {
		if r.Gate == nil {
			continue
		}
		for _, i := range r.Gate.Open {
			v[i] = 1
		}
		for _, c := range r.Gate.Closed {
			v[c.Node] = 0
		}
	}
	return v
}

// frame returns what is published now.
func (s *publisher) frame(m *Step) *live.Frame {
	v, n := s.latest(), s.run.Task.Nodes
	f := &live.Frame{Time: float64(m.Sample.Time), Down: s.stopped()}
	behind := blank(n)
	for _, r := range v.Reports {
		for _, node := range s.run.divided[r.Host] {
			behind[node] = float32(math.Round(max(float64(m.Sample.Time)-float64(r.Time)-s.rates.steps, 0))) // reports are a second old
		}
	}
	if w, ok := s.run.Task.World.(*flockWorld); ok {
		f.Values = append(f.Values, costs(m, n))
		for i, p := range w.swarm.Positions() {
			u := w.swarm.Velocities()[i]
			f.Positions, f.Velocities = append(f.Positions, float32(p[0]), float32(p[1])), append(f.Velocities, float32(u[0]), float32(u[1]))
		}
		f.Links = pairs(w.Graph())
		f.Curves = live.Numbers{w.swarm.VelocityVariation()}
	} else {
		right, cost := blank(n), blank(n)
		for i := range n {
			right[i], cost[i] = float32(s.right[i].mean()), float32(s.cost[i].mean())
		}
		if s.run.Task.cost == host.CrossEntropy {
			f.Values = append(f.Values, right)
		}
		f.Values, f.Out = append(f.Values, cost), s.lost()
		f.Curves = live.Numbers{s.both[learnerFrozen].mean(), s.both[learnerAgents].mean()}
	}
	f.Values = append(f.Values, s.apart, behind)
	if s.run.Task.rule.Gate != nil {
		f.Values = append(f.Values, gates(v.Reports, n))
	}
	k := &s.rates
	f.Curves = append(f.Curves, k.steps, k.received, k.lost, k.late, v.Disagreement)
	f.Counters = live.Numbers{float64(s.running()), k.steps, k.received, k.share, k.lost, float64(v.Missing)}
	f.Settings = s.settings()
	if s.slow {
		f.Pulses = s.pulses(f)
		s.slow = false
	}
	return f
}
