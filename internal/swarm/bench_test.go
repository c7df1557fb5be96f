package swarm

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/internal/box"
	"github.com/wdgnn/wdgnn/internal/host"
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
		if got, err := FindMeasurement(m.Name); err != nil || got.Name != m.Name {
			t.Errorf("%s: found %q, %v", m.Name, got.Name, err)
		}
	}
	if _, err := FindMeasurement("speed"); err == nil || !strings.Contains(err.Error(), "sourceloc-mem") {
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
		tm.watch(&View{Seconds: 1, Counters: Sums{Agents: agent.Stats{Expired: 7}}})
		tm.watch(&View{Seconds: 3, Counters: Sums{Agents: agent.Stats{Expired: 9}}})
		steps := 0
		for {
			steps++
			if err := tm.step(&Moment{Missing: 1}); err != nil {
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
func TestBenchFlockStaysTogether(t *testing.T) {
	task, err := (&Bench{Seed: 1}).benchFlock(1500)
	if err != nil {
		t.Fatal(err)
	}
	least := math.MaxInt
	if _, err := Up(t.Context(), Options{Task: task, Run: "bench", Hosts: 1, Bus: BusMem, OnStep: func(*Moment) error {
		least = min(least, task.World.Graph().Edges())
		return nil
	}}); err != nil {
		t.Fatal(err)
	}
	if least < 150 {
		t.Errorf("%d links at times, want 150 at least", least)
	}
}

// Probes keep in step with their neighbours.
func TestProbesKeepInStep(t *testing.T) {
	network := new(mem.Network)
	const hosts, enough = 3, 50
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	rounds, errs := make([]int, hosts), make([]error, hosts)
	var all sync.WaitGroup
	for id := range transport.HostID(hosts) {
		bus, err := network.Join(id)
		if err != nil {
			t.Fatal(err)
		}
		defer bus.Close()
		p := &Probe{Host: id, Frames: []int{100, 0}}
		for other := range transport.HostID(hosts) {
			if other != id {
				p.Hear = append(p.Hear, other)
			}
		}
		if err := bus.Hear(p.Hear); err != nil {
			t.Fatal(err)
		}
		all.Go(func() {
			rounds[id], errs[id] = p.pass(ctx, &counted{Bus: bus, after: enough, then: cancel})
		})
	}
	all.Wait()
	for id := range hosts {
		if errs[id] != nil || rounds[id] < rounds[0]-1 || rounds[id] > rounds[0]+1 || rounds[id] < enough-2 {
			t.Errorf("host %d passed %d rounds, %v; host 0 %d, want about %d everywhere", id, rounds[id], errs[id], rounds[0], enough)
		}
	}
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
	task, err := (&Bench{Seed: 1}).benchSource(1)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := task.Plan()
	if err != nil {
		t.Fatal(err)
	}
	r := &run{Options: &Options{Task: task}, plan: plan, divided: Partition(task.Graph, task.Nodes)}
	got := r.probeFrames(0)
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
	if cut := CutEdges(p.graph, p.divided); degree < 8 || degree > 11 || cut == 0 || cut > p.graph.Edges()/10 {
		t.Errorf("degree %.1f, %d of %d links between hosts, want about 10 and few", degree, cut, p.graph.Edges())
	}
}
