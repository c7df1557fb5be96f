package host_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/transport"
	"github.com/wdgnn/wdgnn/transport/mem"
)

// starHost returns host 0 of a star, which runs node 0, a neighbour of nodes 1
// to 3 on hosts 1 to 3, and the buses of these. A step has the given number of
// exchanges.
func starHost(t *testing.T, pace host.Pace, exchanges int) (*host.Host, *world, []transport.Bus, *agent.Plan) {
	t.Helper()
	m, err := gnn.NewRandom(gnn.Config{In: 1, Features: 2, Outputs: 2, Wide: &gnn.WideConfig{Order: exchanges}}, random.Stream(1, "model"))
	check(t, err)
	plan := must(agent.NewPlan(agent.PlanConfig{Model: m, Operator: graph.ShiftRowStochastic, Cost: host.MSE.Kind(), Forgiving: true}))
	directory, err := host.NewDirectory(map[transport.HostID][]agent.NodeID{0: {0}, 1: {1}, 2: {2}, 3: {3}})
	check(t, err)
	network := new(mem.Network)
	buses := make([]transport.Bus, 4)
	for k := range buses {
		buses[k], err = network.Join(transport.HostID(k))
		check(t, err)
		if k > 0 {
			check(t, buses[k].Hear([]transport.HostID{0}))
		}
		t.Cleanup(func() { buses[k].Close() })
	}
	w := &world{lines: make(chan *host.Line), answers: make(chan uint64, 1)}
	h, err := host.New(host.Config{
		Run: "pair", Nodes: []agent.NodeID{0}, Plan: plan, Cost: host.MSE, Directory: directory, Pace: pace,
		Hear:  []transport.HostID{1, 2, 3},
		Links: map[agent.NodeID][]agent.Link{0: {{Node: 1, Weight: 1}, {Node: 2, Weight: 1}, {Node: 3, Weight: 1}}},
	}, host.Env{Bus: buses[0], World: w, ReportEvery: 100 * 24 * time.Hour})
	check(t, err)
	return h, w, buses, plan
}

// frameOf returns a frame of host k with the row of exchange e at step t.
func frameOf(p *agent.Plan, k uint32, sequence, t uint64, e int) []byte {
	m := agent.Message{
		From: agent.NodeID(k), To: agent.Everyone, Time: t, Kind: agent.Row, Exchange: uint16(e), Values: make([]float32, p.Length(e)),
	}
	if e == 0 {
		m.Links, m.Degree = 1, 1
	}
	return agent.AppendFrame(nil, agent.Header{Run: host.RunHash("pair"), Plan: p.Digest(), Host: k, Sequence: sequence}, []agent.Message{m})
}

func observe(w *world, t uint64) {
	w.lines <- &host.Line{Time: t, Nodes: []host.NodeLine{{Node: 0, Row: []float32{1}}}}
}

// answered returns the step of the next answer.
func answered(t *testing.T, w *world) uint64 {
	t.Helper()
	select {
	case s := <-w.answers:
		return s
	case <-time.After(time.Hour): // of a clock that a test moves
		t.Fatal("no answer")
		return 0
	}
}

// In real time an answer comes before the deadline, whichever neighbours are
// silent and however many exchanges a step has.
func TestRealTimeWaits(t *testing.T) {
	const deadline = 40 * time.Millisecond
	for _, exchanges := range []int{1, 2, 6, 30} {
		synctest.Test(t, func(t *testing.T) {
			h, w, _, _ := starHost(t, host.Pace{Mode: host.RealTime, Deadline: deadline}, exchanges)
			done := make(chan error, 1)
			go func() { done <- h.Run(t.Context()) }()
			for s := range uint64(3) { // nobody is a suspect yet
				began := time.Now()
				observe(w, s)
				answered(t, w)
				if took := time.Since(began); took > deadline {
					t.Errorf("%d exchanges: an answer after %v, want %v at most", exchanges, took, deadline)
				}
			}
			close(w.lines)
			check(t, <-done)
		})
	}
}

// A network that is slow is not flooded: the host learns what an exchange takes
// from rows that come after it has asked, too.
func TestSlowNetwork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const steps, delay = 40, 50 * time.Millisecond
		h, w, buses, plan := starHost(t, host.Pace{Deadline: time.Second}, 1)
		done := make(chan error, 1)
		go func() { done <- h.Run(t.Context()) }()
		for s := range uint64(steps) {
			observe(w, s)
			time.Sleep(delay)
			for k := uint32(1); k < 4; k++ {
				check(t, buses[k].Send(frameOf(plan, k, s+1, s, 0)))
			}
			answered(t, w)
		}
		close(w.lines)
		check(t, <-done)
		if r := h.Report(); r.Stats.Retries > 3 || r.Agents.Expired > 0 {
			t.Errorf("silent neighbours were asked %d times and given up %d times in %d steps, want at most 3 and 0",
				r.Stats.Retries, r.Agents.Expired, steps)
		}
	})
}

// A host that all others have left behind goes on with the slowest of them.
func TestSkipsToTheSlowest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, w, buses, plan := starHost(t, host.Pace{Deadline: time.Second, Retry: 100 * time.Millisecond}, 1)
		done := make(chan error, 1)
		go func() { done <- h.Run(t.Context()) }()
		observe(w, 0)
		for k, at := range map[uint32]uint64{1: 9, 2: 7, 3: 12} {
			check(t, buses[k].Send(frameOf(plan, k, 1, at, 0)))
		}
		answered(t, w)
		for s := uint64(1); s < 7; s++ {
			observe(w, s)
		}
		observe(w, 7)
		check(t, buses[2].Send(frameOf(plan, 2, 2, 7, 0)))
		if got := answered(t, w); got != 7 {
			t.Errorf("an answer of step %d, want 7, where the slowest is", got)
		}
		close(w.lines)
		check(t, <-done)
		if s := h.Report().Stats; s.Skipped != 6 || s.CaughtUp == 0 {
			t.Errorf("%+v, want 6 steps skipped", s)
		}
	})
}

// A row from before a neighbour's silence, said again, is no sign of life; one of
// a step in which it was missed is.
func TestOldRowsProveNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, w, buses, plan := starHost(t, host.Pace{Deadline: time.Second, Retry: -1}, 1)
		done := make(chan error, 1)
		go func() { done <- h.Run(t.Context()) }()
		others := func(s uint64) {
			for k := uint32(1); k < 3; k++ {
				check(t, buses[k].Send(frameOf(plan, k, s+1, s, 0)))
			}
		}
		took := func(s uint64) time.Duration {
			began := time.Now()
			observe(w, s)
			others(s)
			answered(t, w)
			return time.Since(began)
		}
		for s := range uint64(3) {
			if s == 0 {
				check(t, buses[3].Send(frameOf(plan, 3, 1, 0, 0)))
			}
			took(s)
		}
		took(3)
		for range 3 {
			check(t, buses[3].Send(frameOf(plan, 3, 2, 0, 0))) // again
		}
		synctest.Wait()
		if d := took(4); d > 0 {
			t.Errorf("a neighbour that repeats itself is waited for, for %v", d)
		}
		check(t, buses[3].Send(frameOf(plan, 3, 3, 2, 0)))
		synctest.Wait()
		if d := took(5); d < time.Second {
			t.Errorf("a neighbour that is back is waited for for %v, want the deadline", d)
		}
		close(w.lines)
		check(t, <-done)
	})
}
