package swarm

import (
	"context"
	"math"
	"time"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/host"
	"github.com/wdgnn/wdgnn/internal/live"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/transport"
)

// stager shows a run on a hub and does what those who watch ask for.
type stager struct {
	run   *run
	hub   *live.Hub
	owner map[agent.NodeID]transport.HostID

	paused bool
	steps  int // to make although paused

	right  []recent // of detectors, by node
	both   [2]recent
	before View
	at     time.Time
	rates  [4]float64 // steps, rows, late share, frames lost
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

func newStager(r *run) *stager {
	s := &stager{run: r, hub: r.Hub, owner: map[agent.NodeID]transport.HostID{}, right: make([]recent, r.Task.Nodes), at: time.Now()}
	for h, nodes := range r.divided {
		for _, i := range nodes {
			s.owner[i] = h
		}
	}
	for i := range s.right {
		s.right[i].length = 50 // signals
	}
	for k := range s.both {
		s.both[k].length = mostRecent
	}
	return s
}

// step shows a step, and holds the world while it is paused.
func (s *stager) step(ctx context.Context, m *Moment) error {
	s.watch(m)
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case c := <-s.hub.Commands():
			s.obey(c, m)
			continue
		default:
		}
		if s.hub.Due() {
			if err := s.hub.Publish(s.frame(m)); err != nil {
				return err
			}
		}
		if !s.paused {
			return nil
		}
		if s.steps > 0 {
			s.steps--
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case c := <-s.hub.Commands():
			s.obey(c, m)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// obey does what somebody asked for.
func (s *stager) obey(c live.Command, m *Moment) {
	at := float64(m.Sample.Time)
	id := s.owner[agent.NodeID(c.Node)]
	switch c.Name {
	case live.ControlPause:
		s.paused, s.steps = c.Value != 0, 0
	case live.ControlStep:
		s.steps++
	case live.ControlKill:
		if err := s.run.crew.Kill(id); err != nil {
			s.hub.Say(at, "host %d cannot be killed: %v", id, err)
			return
		}
		s.hub.Say(at, "host %d is down with nodes %s; its neighbours carry on", id, host.FormatNodes(s.run.divided[id]))
	case live.ControlRestart:
		if err := s.run.crew.Start(id); err != nil {
			s.hub.Say(at, "host %d cannot be started: %v", id, err)
			return
		}
		s.hub.Say(at, "host %d was started again", id)
	}
}

// watch counts answers.
func (s *stager) watch(m *Moment) {
	c, ok := m.Cost.(loss.CrossEntropy)
	if !ok {
		return
	}
	for i, label := range c.Labels {
		if label == loss.NoLabel {
			continue
		}
		right := func(y []float32) float64 {
			if best(y) == int(label) {
				return 100
			}
			return 0
		}
		if m.Fresh[i] {
			s.right[i].add(right(m.Outputs.Row(i)))
			s.both[learnerAgents].add(right(m.Outputs.Row(i)))
		}
		s.both[learnerFrozen].add(right(s.run.frozen.y.Row(i)))
	}
}

// rate computes what happened per second, about once a second.
func (s *stager) rate(v *View) {
	spent := time.Since(s.at).Seconds()
	if spent < 1 && s.before.Step > 0 {
		return
	}
	now, was := &v.Counters, &s.before.Counters
	received, expired := since(now.Agents.Received, was.Agents.Received), since(now.Agents.Expired, was.Agents.Expired)
	s.rates = [4]float64{
		float64(v.Step-s.before.Step) / spent, received / spent,
		100 * expired / max(received+expired, 1), since(now.Host.Gaps, was.Host.Gaps) / spent,
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

// frame is what is shown now.
func (s *stager) frame(m *Moment) *live.Frame {
	v := s.run.view()
	s.rate(v)
	n := s.run.Task.Nodes
	f := &live.Frame{Time: float64(m.Sample.Time), Down: s.stopped()}
	behind, apart := blank(n), blank(n)
	for node, d := range s.run.distances(v.Reports) {
		apart[node] = float32(d)
	}
	for _, r := range v.Reports {
		for _, node := range s.run.divided[r.Host] {
			behind[node] = float32(max(float64(m.Sample.Time)-float64(r.Time)-s.rates[0], 0)) // reports are a second old
		}
	}
	variation := math.NaN()
	if w, ok := s.run.Task.World.(*FlockWorld); ok {
		variation = w.swarm.VelocityVariation()
		f.Values = append(f.Values, costs(m, n))
		for i, p := range w.swarm.Positions() {
			u := w.swarm.Velocities()[i]
			f.Positions, f.Velocities = append(f.Positions, float32(p[0]), float32(p[1])), append(f.Velocities, float32(u[0]), float32(u[1]))
		}
		f.Links = pairs(w.Graph())
		f.Curves = live.Numbers{variation}
	} else {
		right := blank(n)
		for i := range s.right {
			right[i] = float32(s.right[i].mean())
		}
		f.Values, f.Out = append(f.Values, right), s.lost()
		f.Curves = live.Numbers{s.both[learnerFrozen].mean(), s.both[learnerAgents].mean()}
	}
	f.Values = append(f.Values, apart, behind)
	f.Curves = append(f.Curves, v.Disagreement, s.rates[0], s.rates[2])
	f.Counters = live.Numbers{float64(v.HostsUp), s.rates[0], s.rates[1], s.rates[2], s.rates[3], float64(v.Missing)}
	pause := 0.0
	if s.paused {
		pause = 1
	}
	f.Settings = live.Numbers{pause, math.NaN(), math.NaN(), math.NaN()}
	return f
}

// stopped returns the nodes of hosts that do not run.
func (s *stager) stopped() []int32 {
	up := s.run.crew.Ports()
	nodes := []int32{}
	for h, list := range s.run.divided {
		if _, ok := up[h]; ok {
			continue
		}
		for _, i := range list {
			nodes = append(nodes, int32(i))
		}
	}
	return nodes
}

// lost returns the links of the scene that are out.
func (s *stager) lost() []int32 {
	now := s.run.Task.World.Graph().Adjacency()
	out := []int32{}
	for k, e := range s.hub.Scene().Edges {
		if now.At(int(e[0]), int(e[1])) == 0 {
			out = append(out, int32(k))
		}
	}
	return out
}

// costs returns what the answers cost the nodes.
func costs(m *Moment, n int) live.Floats {
	v := blank(n)
	j, ok := m.Cost.(loss.Local)
	if !ok {
		return v
	}
	for i := range v {
		v[i] = float32(j.EvalNode(i, nil, m.Outputs.Row(i)))
	}
	return v
}

// pairs returns the links of a graph, each once.
func pairs(g *graph.Graph) [][2]int32 {
	list := [][2]int32{}
	for i := range g.Nodes() {
		for _, j := range g.Neighbors(i) {
			if int32(i) < j {
				list = append(list, [2]int32{int32(i), j})
			}
		}
	}
	return list
}

// blank returns values of n nodes that have none.
func blank(n int) live.Floats {
	v := make(live.Floats, n)
	for i := range v {
		v[i] = float32(math.NaN())
	}
	return v
}
