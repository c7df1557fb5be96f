package host_test

import (
	"container/heap"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/transport"
)

// lossyNet plays hosts of a node or two each, all of them neighbours, in virtual time: a
// frame takes a millisecond and up to half of one more, and some are lost.
type lossyNet struct {
	nodes    int // of each host
	machines []*host.Machine
	wakes    []time.Duration
	steps    []uint64 // answers of each
	queue    flights
	rng      *rand.Rand
	loss     float64
	frames   int
	bytes    int
	most     uint64 // steps
	began    []time.Duration
	longest  time.Duration // step of a host but its first ones
}

// flight is a frame on its way.
type flight struct {
	at    time.Duration
	order int
	to    int
	frame transport.Frame
}

type flights []flight

func (f flights) Len() int { return len(f) }

func (f flights) Less(a, b int) bool {
	return f[a].at < f[b].at || f[a].at == f[b].at && f[a].order < f[b].order
}
func (f flights) Swap(a, b int) { f[a], f[b] = f[b], f[a] }
func (f *flights) Push(x any)   { *f = append(*f, x.(flight)) }
func (f *flights) Pop() any {
	last := (*f)[len(*f)-1]
	*f = (*f)[:len(*f)-1]
	return last
}

const (
	lossyHosts     = 10
	lossyExchanges = 3
)

func newLossyNet(t *testing.T, nodes int, pace host.Pace, loss float64, steps uint64) *lossyNet {
	t.Helper()
	c := gnn.Config{In: 1, Features: 2, Outputs: 2, Wide: &gnn.WideConfig{Order: lossyExchanges}}
	m, err := gnn.NewRandom(c, random.Stream(1, "model"))
	check(t, err)
	plan := must(agent.NewPlan(agent.PlanConfig{Model: m, Operator: graph.ShiftRowStochastic, Cost: host.MSE.Kind()}))
	owners := map[transport.HostID][]agent.NodeID{}
	for k := range lossyHosts * nodes {
		id := transport.HostID(k / nodes)
		owners[id] = append(owners[id], agent.NodeID(k))
	}
	directory, err := host.NewDirectory(owners)
	check(t, err)
	n := &lossyNet{nodes: nodes, rng: random.Stream(2, "loss"), loss: loss, most: steps}
	for k := range lossyHosts {
		id := transport.HostID(k)
		c := host.Config{
			Run: "lossy", Host: id, Nodes: owners[id], Plan: plan, Cost: host.MSE, Directory: directory, Pace: pace,
			Links: map[agent.NodeID][]agent.Link{},
		}
		for _, i := range c.Nodes {
			for j := range agent.NodeID(lossyHosts * nodes) {
				if j != i {
					c.Links[i] = append(c.Links[i], agent.Link{Node: j, Weight: 1})
				}
			}
		}
		machine, err := host.NewMachine(c, nil)
		check(t, err)
		n.machines = append(n.machines, machine)
	}
	n.wakes, n.steps, n.began = make([]time.Duration, lossyHosts), make([]uint64, lossyHosts), make([]time.Duration, lossyHosts)
	return n
}

// step tells a machine what happened. Its frames leave, and its answer is followed by
// the next line at once.
func (n *lossyNet) step(now time.Duration, k int, ev host.Event) {
	for ev != nil {
		a := n.machines[k].Step(now, ev)
		n.wakes[k], ev = a.Wake, nil
		for _, f := range a.Frames {
			n.send(now, k, f)
		}
		if a.Answer != nil {
			if n.steps[k] > 1 {
				n.longest = max(n.longest, now-n.began[k])
			}
			n.began[k] = now
			if n.steps[k]++; n.steps[k] < n.most {
				ev = n.observation(k, n.steps[k])
			}
		}
	}
}

func (n *lossyNet) observation(k int, t uint64) *host.Line {
	l := &host.Line{Time: t}
	for i := range n.nodes {
		l.Nodes = append(l.Nodes, host.NodeLine{Node: agent.NodeID(k*n.nodes + i), Row: []float32{1}})
	}
	return l
}

func (n *lossyNet) send(now time.Duration, from int, data []byte) {
	n.frames++
	n.bytes += len(data)
	for to := range n.machines {
		if to == from || n.rng.Float64() < n.loss {
			continue
		}
		at := now + time.Millisecond + time.Duration(n.rng.Int64N(int64(time.Millisecond/2)))
		frame := transport.Frame{From: transport.HostID(from), Data: append([]byte(nil), data...)}
		heap.Push(&n.queue, flight{at, n.frames, to, frame})
	}
}

// run returns how long all steps took.
func (n *lossyNet) run(t *testing.T) (now time.Duration) {
	t.Helper()
	for k := range n.machines {
		n.step(0, k, host.Start{})
		n.step(0, k, n.observation(k, 0))
	}
	for {
		first := -1
		for k, at := range n.wakes {
			if at > 0 && (first < 0 || at < n.wakes[first]) {
				first = k
			}
		}
		switch {
		case len(n.queue) > 0 && (first < 0 || n.queue[0].at <= n.wakes[first]):
			f := heap.Pop(&n.queue).(flight)
			now = max(now, f.at)
			n.step(now, f.to, host.Arrive{Frame: f.frame})
		case first >= 0:
			now = max(now, n.wakes[first])
			n.step(now, first, host.Tick{})
		default:
			return now
		}
		if now > time.Hour {
			t.Fatalf("after %v hosts are at steps %v of %d", now, n.steps, n.most)
		}
	}
}

// A network that loses frames is slower, and not more than it has to be. Where it
// loses none, there is a frame per host and exchange and nothing else in it.
func TestLossyNetwork(t *testing.T) {
	const steps = 150
	whole := newLossyNet(t, 1, host.Pace{}, 0, steps)
	took := whole.run(t)
	const size = 32 + 40 + 4 // of a frame with a row of one value
	if got, want := whole.frames, lossyHosts*lossyExchanges*steps; got != want || whole.bytes != want*size {
		t.Errorf("nothing is lost: %d frames of %d bytes, want %d of %d", got, whole.bytes, want, want*size)
	}
	for _, c := range []struct{ loss, share, frames float64 }{{0.01, 0.5, 2}, {0.05, 0.25, 4}, {0.1, 0.12, 5}} {
		n := newLossyNet(t, 1, host.Pace{}, c.loss, steps)
		lossy := n.run(t)
		share, frames := float64(took)/float64(lossy), float64(n.frames)/float64(whole.frames)
		given := uint64(0)
		for _, m := range n.machines {
			given += m.Step(lossy, host.Look{}).Report.Agents.Expired
		}
		t.Logf("%.0f %% lost: %.2f of the rate, %.2f times the frames", 100*c.loss, share, frames)
		if share < c.share || frames > c.frames || given > 0 {
			t.Errorf("%.0f %% lost: %.2f of the rate, %.2f times the frames, %d rows given up; want %v at least, %v at most, none",
				100*c.loss, share, frames, given, c.share, c.frames)
		}
	}
}
