package agents

import (
	"bufio"
	"context"
	"errors"
	"math"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/internal/box"
	"github.com/wdgnn/wdgnn/internal/swarm"
	"github.com/wdgnn/wdgnn/transport"
	"github.com/wdgnn/wdgnn/transport/mem"
)

func TestMeasurementsAreNamed(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range Measurements() {
		if m.Name == "" || m.Title == "" || m.About == "" || m.Wanted == "" || m.run == nil || seen[m.Name] {
			t.Errorf("%q: %q, wanted %q; want a name of its own, words and what to do", m.Name, m.About, m.Wanted)
		}
		seen[m.Name] = true
		if got, err := Find(m.Name); err != nil || got.Name != m.Name {
			t.Errorf("%s: found %q, %v", m.Name, got.Name, err)
		}
	}
	if _, err := Find("speed"); err == nil || !strings.Contains(err.Error(), "sourceloc-mem") {
		t.Errorf("got %v, want a list of those that there are", err)
	}
}

func TestGoals(t *testing.T) {
	for _, c := range []struct {
		goal Goal
		want bool
	}{
		{Goal{Value: 60, Wanted: 60}, true},
		{Goal{Value: 59.9, Wanted: 60}, false},
		{Goal{Value: 1, Wanted: 1, Below: true}, false},
		{Goal{Value: 0.9, Wanted: 1, Below: true}, true},
	} {
		if got := c.goal.Met(); got != c.want {
			t.Errorf("%+v: met %v, want %v", c.goal, got, c.want)
		}
	}
}

// What happens while a run warms up does not count.
func TestTimingWarmsUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tm := &timing{long: time.Second}
		tm.watch(&swarm.View{Seconds: 1, Counters: swarm.Sums{Agents: agent.Stats{Expired: 7}}})
		tm.watch(&swarm.View{Seconds: 3, Counters: swarm.Sums{Agents: agent.Stats{Expired: 9}}})
		steps := 0
		for {
			steps++
			if err := tm.step(&swarm.Step{Missing: 1}); err != nil {
				if !errors.Is(err, errEnough) {
					t.Fatal(err)
				}
				break
			}
			time.Sleep(100 * time.Millisecond)
		}
		if tm.steps != 10 || tm.missing != 10 || tm.last.Sub(tm.from) != time.Second {
			t.Errorf("%d steps and %d missing in %v of %d steps, want 10 in a second", tm.steps, tm.missing, tm.last.Sub(tm.from), steps)
		}
		if tm.before.Agents.Expired != 7 {
			t.Errorf("counters from %d on, want 7, those of the warm-up", tm.before.Agents.Expired)
		}
	})
}

// The robots of a measurement keep their neighbours however long it takes.
func TestFlockStaysTogether(t *testing.T) {
	task, err := (&Bench{Seed: 1}).flockTask(1500)
	if err != nil {
		t.Fatal(err)
	}
	least := math.MaxInt
	if _, err := swarm.Up(t.Context(), swarm.Options{Task: task, Run: "bench", Hosts: 1, Bus: swarm.BusMem, OnStep: func(*swarm.Step) error {
		least = min(least, task.World.Graph().Edges())
		return nil
	}}); err != nil {
		t.Fatal(err)
	}
	if least < 150 {
		t.Errorf("%d links at times, want 150 at least", least)
	}
}

// Probes keep in step with their neighbours. All of them hear before any sends: a
// frame that nobody hears is lost.
func TestProbesKeepInStep(t *testing.T) {
	network := new(mem.Network)
	const hosts, enough = 3, 50
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	probes, buses := make([]*Probe, hosts), make([]transport.Bus, hosts)
	for id := range transport.HostID(hosts) {
		probes[id], buses[id] = joinProbe(t, network, id, hosts)
	}
	rounds, errs := make([]int, hosts), make([]error, hosts)
	var all sync.WaitGroup
	for id, p := range probes {
		all.Go(func() {
			rounds[id], errs[id] = p.pass(ctx, &counted{Bus: buses[id], after: enough, then: cancel})
		})
	}
	all.Wait()
	for id := range hosts {
		if errs[id] != nil || rounds[id] < rounds[0]-1 || rounds[id] > rounds[0]+1 || rounds[id] < enough-2 {
			t.Errorf("host %d passed %d rounds, %v; host 0 %d, want about %d everywhere", id, rounds[id], errs[id], rounds[0], enough)
		}
	}
}

// joinProbe returns a probe that hears all other hosts of a network.
func joinProbe(t *testing.T, network *mem.Network, id transport.HostID, hosts int) (*Probe, transport.Bus) {
	t.Helper()
	p := &Probe{Host: id, Frames: []int{100, 0}}
	for other := range transport.HostID(hosts) {
		if other != id {
			p.Hear = append(p.Hear, other)
		}
	}
	bus, err := network.Join(id)
	if err == nil {
		err = bus.Hear(p.Hear)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { bus.Close() })
	return p, bus
}

// A probe whose neighbour's frame was lost ends and says whom it waited for.
func TestProbeDoesNotWaitForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := new(mem.Network)
		p, bus := joinProbe(t, network, 0, 3)
		_, second := joinProbe(t, network, 1, 3)
		if err := second.Send(make([]byte, probeHeader)); err != nil { // round 0; of host 2 nothing comes
			t.Fatal(err)
		}
		began := time.Now()
		_, err := p.pass(t.Context(), bus)
		if err == nil || !strings.Contains(err.Error(), "round 0: none came from host 2") || time.Since(began) != probeTimeout {
			t.Errorf("after %v got %v, want after %v that host 2 was waited for in round 0", time.Since(began), err, probeTimeout)
		}
	})
}

// Nobody says when to begin: a probe ends and says so.
func TestProbeIsNeverStarted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		err := new(Probe).await(t.Context(), make(chan error))
		if err == nil || !strings.Contains(err.Error(), "when to begin") {
			t.Errorf("got %v, want that nobody said when to begin", err)
		}
	})
}

// A process that prints nothing is waited for so long and no longer.
func TestSilentProbeProcess(t *testing.T) {
	cmd := exec.Command("sleep", "60")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &probeProcess{id: 7, cmd: cmd, out: bufio.NewReader(out)}
	_, err = p.line(t.Context(), "start", 50*time.Millisecond)
	cmd.Wait() // killed
	if err == nil || !strings.Contains(err.Error(), "host 7 did not start within 50ms") {
		t.Errorf("got %v, want that host 7 did not start", err)
	}
}

// Hosts that report for ever and make no steps are not watched for ever.
func TestPlaneIsNotWatchedForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &plane{nodes: 4, hosts: 2, steps: 100}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		reports := make(chan *host.Report)
		go func() {
			for k := uint64(0); ; k++ { // host 0 goes on, host 1 does not
				select {
				case reports <- &host.Report{Host: transport.HostID(k % 2), Time: k * (1 - k%2) % 50}:
					time.Sleep(time.Second)
				case <-ctx.Done():
					return
				}
			}
		}()
		_, err := p.watch(ctx, 2, reports, time.Now(), time.Second)
		if err == nil || !strings.Contains(err.Error(), "host 1 did not make them") {
			t.Errorf("got %v, want that host 1 was waited for", err)
		}
	})
}

// The time that counts begins when all hosts are warm, and lasts for enough steps,
// however long they take.
func TestPlaneCountsWarmSteps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &plane{nodes: 4, hosts: 2, steps: 100}
		var err error
		if p.graph, err = graph.FromEdges(4, []graph.Edge{{From: 1, To: 2, Weight: 1}}, false); err != nil {
			t.Fatal(err)
		}
		p.divided = swarm.Divide(p.nodes, p.hosts)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		reports := make(chan *host.Report)
		go func() { // host 0 is there alone for a minute; then a step takes 5 s
			for second := uint64(0); ; second++ {
				for id := range transport.HostID(2) {
					at := uint64(2)
					if second > 60 {
						at += (second - 60) / 5
					}
					if id == 1 && second <= 60 {
						continue
					}
					select {
					case reports <- &host.Report{Host: id, Time: at}:
					case <-ctx.Done():
						return
					}
				}
				select {
				case <-time.After(time.Second):
				case <-ctx.Done():
					return
				}
			}
		}()
		f, err := p.watch(ctx, 2, reports, time.Now(), time.Second)
		if err != nil {
			t.Fatal(err)
		}
		if f.Steps != planeLeast || f.Rate < 0.19 || f.Rate > 0.21 || f.StartSeconds < 60 || f.StartSeconds > 62 {
			t.Errorf("got %d steps at %.3f a second, %.1f s after the start; want %d at about 0.2, 61 s after it",
				f.Steps, f.Rate, f.StartSeconds, planeLeast)
		}
	})
}

// counted is a bus that does something after so many frames.
type counted struct {
	transport.Bus
	sent, after int
	then        func()
}

func (c *counted) Send(frame []byte) error {
	if c.sent++; c.sent == c.after {
		c.then()
	}
	return c.Bus.Send(frame)
}

// The frames of a probe are those of the agents it stands for.
func TestProbeFrames(t *testing.T) {
	task, err := (&Bench{Seed: 1}).sourceTask(1)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := task.Plan()
	if err != nil {
		t.Fatal(err)
	}
	p := &probes{task: task, plan: plan, divided: swarm.Partition(task.Graph, task.Nodes)}
	got := p.frames(0)
	const header, row = 32, 40 // bytes, doc/wire.md
	want := []int{header + row + 4*(1+6*5)}
	for e := 1; e < 10; e++ {
		width := 1
		if e >= 5 {
			width = 32
		}
		want = append(want, header+row+4*width)
	}
	if len(got) != len(want) {
		t.Fatalf("%d rounds, want %d", len(got), len(want))
	}
	for e := range want {
		if got[e] != want[e] {
			t.Errorf("round %d: %d bytes, want %d", e, got[e], want[e])
		}
	}
}

// What a plane writes is what a box reads, and its strips have few links
// between them.
func TestPlane(t *testing.T) {
	p := &plane{dir: t.TempDir(), nodes: 2000, hosts: 4, steps: 3, seed: 1}
	if err := p.write(); err != nil {
		t.Fatal(err)
	}
	if err := box.Save(p.file(2), p.config(2, "nats://127.0.0.1:4222")); err != nil {
		t.Fatal(err)
	}
	c, err := box.Load(p.file(2))
	if err != nil {
		t.Fatal(err)
	}
	if nodes, err := host.ParseNodes(c.Hosts[2].Nodes); err != nil || len(nodes) != 500 || nodes[0] != 1000 {
		t.Errorf("host 2 has %d nodes, %v, want 500 from 1000 on", len(nodes), err)
	}
	degree := 2 * float64(p.graph.Edges()) / float64(p.nodes)
	if cut := cutEdges(p.graph, p.divided); degree < 8 || degree > 11 || cut == 0 || cut > p.graph.Edges()/10 {
		t.Errorf("degree %.1f, %d of %d links between hosts, want about 10 and few", degree, cut, p.graph.Edges())
	}
}
