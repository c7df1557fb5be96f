package swarm

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/host"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/rule"
	"github.com/wdgnn/wdgnn/transport"
	"github.com/wdgnn/wdgnn/transport/mem"
)

// toy is a world of random signals on a graph that loses other links every few
// steps; some nodes are told a class.
type toy struct {
	nodes, steps, features, classes int
	seed                            uint64

	graph *graph.Graph
	now   int
}

func (w *toy) Graph() *graph.Graph { return w.graph }
func (w *toy) Near() *graph.Graph  { return nil }

func (w *toy) Samples() iter.Seq[graph.Sample] {
	return func(yield func(graph.Sample) bool) {
		whole, err := graph.SBM(graph.SBMConfig{Sizes: []int{w.nodes / 2, w.nodes - w.nodes/2}, Intra: 0.5, Inter: 0.1}, random.Stream(w.seed, "graph"))
		if err != nil {
			panic(err)
		}
		for t := range w.steps {
			if t%3 == 0 {
				if w.graph, err = graph.NewOutage(whole, random.Stream(w.seed, "outage", t)).At(0.2); err != nil {
					panic(err)
				}
			}
			w.now = t
			s := graph.Sample{Time: t, Signal: mat.NewDense(w.nodes, w.features, nil)}
			rng := random.Stream(w.seed, "signal", t)
			for i := range s.Signal.Data {
				s.Signal.Data[i] = float32(rng.NormFloat64())
			}
			if s.Shift, err = graph.ShiftRowStochastic.Of(w.graph); err != nil {
				panic(err)
			}
			if s.Mixing, err = graph.Metropolis(w.graph); err != nil {
				panic(err)
			}
			if !yield(s) {
				return
			}
		}
	}
}

func (w *toy) Reveal(mat.Dense) loss.Loss {
	labels := make([]int32, w.nodes)
	for i := range labels {
		labels[i] = loss.NoLabel
		if (i+w.now)%3 == 0 {
			labels[i] = int32((i + w.now) % w.classes)
		}
	}
	return loss.CrossEntropy{Labels: labels}
}

// setting is a model with a way to learn.
type setting struct {
	name    string
	delayed bool
	rule    rule.Config
}

var settings = []setting{
	{"multi-hop, literal", false, rule.Literal(false)},
	{"multi-hop, window of 4", false, rule.Config{StepSize: rule.StepSize{Value: 0.1}, Window: 4, Mixing: 0.3, Ridge: 0.01}},
	{"delayed, literal", true, rule.Literal(false)},
}

// plan returns the plan of a setting on the toy world.
func plan(t testing.TB, w *toy, s *setting) (*agent.Plan, *gnn.WideDeep) {
	t.Helper()
	m, err := gnn.NewRandom(gnn.Config{
		In: w.features, Features: 6, Outputs: w.classes, Wide: &gnn.WideConfig{Order: 2},
		Deep: []gnn.LayerConfig{{Order: 2, Features: 6}, {Order: 1, Features: 6}},
	}, random.Stream(w.seed, "init"))
	if err != nil {
		t.Fatal(err)
	}
	f, err := (&online.Config{Nodes: w.nodes, Rule: s.rule}).Frame(m)
	if err != nil {
		t.Fatal(err)
	}
	p := &agent.Plan{Model: m, Operator: graph.ShiftRowStochastic, Delayed: s.delayed, Frame: f, Rule: &s.rule, Cost: host.CrossEntropy.Kind()}
	if err := p.Validate(); err != nil {
		t.Fatal(err)
	}
	return p, m
}

// consensus returns the parameters that online.Consensus ends with.
func consensus(t testing.TB, w *toy, s *setting, m *gnn.WideDeep) *online.Consensus {
	t.Helper()
	l, err := online.NewConsensus(m, online.Config{Nodes: w.nodes, Rule: s.rule, Delayed: s.delayed, HopByHop: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := online.Play(t.Context(), mat.NewDense(w.nodes, w.classes, nil), l, w, nil); err != nil {
		t.Fatal(err)
	}
	return l
}

// play runs a swarm of hosts on the given buses and returns their reports.
func play(t testing.TB, w *toy, s *setting, p *agent.Plan, buses []transport.Bus, pace host.Pace) []*host.Report {
	t.Helper()
	local := NewLocal()
	divided := Divide(w.nodes, len(buses))
	directory, err := host.NewDirectory(divided)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var hosts []*host.Host
	for k, bus := range buses {
		h, err := local.Start(ctx, host.Config{
			Run: "toy", Host: transport.HostID(k), Nodes: divided[transport.HostID(k)], Plan: p, Cost: host.CrossEntropy,
			Directory: directory, Bus: bus, Pace: pace,
		})
		if err != nil {
			t.Fatal(err)
		}
		hosts = append(hosts, h)
	}
	stage := &Stage{World: w, Hosts: divided, Outputs: w.classes, Cost: host.CrossEntropy, Answers: local.Answers, Ports: local.Ports}
	if err := stage.Run(ctx, nil); err != nil {
		t.Fatal(err)
	}
	if err := local.Close(); err != nil {
		t.Fatal(err)
	}
	var reports []*host.Report
	for _, h := range hosts {
		reports = append(reports, h.Report())
	}
	return reports
}

// sameBits compares parameters of all nodes with those of one process.
func sameBits(t *testing.T, w *toy, want *online.Consensus, reports []*host.Report) {
	t.Helper()
	seen := 0
	for _, r := range reports {
		for node, params := range r.Params {
			seen++
			if !slices.Equal(params, want.Params(int(node))) {
				t.Errorf("node %d: parameters %v, want %v", node, params, want.Params(int(node)))
			}
		}
		if r.Agents.Expired > 0 {
			t.Errorf("host %d gave up %d links though nothing was lost", r.Host, r.Agents.Expired)
		}
	}
	if seen != w.nodes {
		t.Errorf("%d nodes reported, want %d", seen, w.nodes)
	}
}

// join returns buses of hosts in one process.
func join(t testing.TB, hosts int) []transport.Bus {
	t.Helper()
	network := new(mem.Network)
	var buses []transport.Bus
	for k := range hosts {
		b, err := network.Join(transport.HostID(k))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { b.Close() })
		buses = append(buses, b)
	}
	return buses
}

// However many hosts the nodes are divided among, agents end with the bits of
// the learner in one process.
// Reference: Section 3, eq. (9).
func TestSameBitsOverMem(t *testing.T) {
	for _, s := range settings {
		for _, hosts := range []int{1, 3, 12} {
			t.Run(fmt.Sprintf("%s, %d hosts", s.name, hosts), func(t *testing.T) {
				w := &toy{nodes: 12, steps: 20, features: 2, classes: 3, seed: 5}
				p, m := plan(t, w, &s)
				want := consensus(t, w, &s, m)
				sameBits(t, w, want, play(t, w, &s, p, join(t, hosts), host.Pace{Deadline: 20 * time.Second, Retry: 20 * time.Millisecond}))
			})
		}
	}
}
