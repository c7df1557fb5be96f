package agent_test

import (
	"testing"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/kernel"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/rule"
)

// village delivers messages at once and by reference, as a host does among its
// own nodes.
type village struct {
	nodes    []*agent.Node
	links    [][]agent.Link
	inbox    []delivery
	time     uint64
	feedback loss.Loss
	rows     mat.Dense
}

type delivery struct {
	to int
	m  agent.Message
}

func newVillage(t testing.TB, delayed bool) *village {
	t.Helper()
	g, err := graph.SBM(graph.SBMConfig{Sizes: []int{10, 10, 10, 10, 10}, Intra: 0.8, Inter: 0.2}, random.Stream(1, "graph"))
	if err != nil {
		t.Fatal(err)
	}
	m, err := gnn.NewRandom(gnn.Config{
		In: 1, Features: 32, Outputs: 5, Wide: &gnn.WideConfig{Order: 5},
		Deep: []gnn.LayerConfig{{Order: 5, Features: 32}, {Order: 5, Features: 32}},
	}, random.Stream(1, "init"))
	if err != nil {
		t.Fatal(err)
	}
	f, err := rule.NewBasis(rule.BasisConfig{Inputs: 6, Features: 32, Gain: 1, Readout: m.Params.Readout.Weight})
	if err != nil {
		t.Fatal(err)
	}
	paper := rule.Paper(false).Ungated()
	p := newPlan(t, agent.PlanConfig{
		Model: m, Operator: graph.ShiftRowStochastic, Basis: f, Rule: &paper, Delayed: delayed, Cost: loss.CrossEntropy{},
	})
	v := &village{rows: mat.NewDense(50, 1, nil)}
	labels := make([]int32, 50)
	scratch := new(agent.Scratch)
	for i := range 50 {
		v.rows.Set(i, 0, float32(i)/50)
		labels[i] = loss.NoLabel
		if i%10 == 1 {
			labels[i] = 3
		}
		v.nodes = append(v.nodes, agent.NewNode(agent.NodeID(i), p, scratch))
		var links []agent.Link
		for _, j := range g.Neighbors(i) {
			links = append(links, agent.Link{Node: agent.NodeID(j), Weight: 1})
		}
		v.links = append(v.links, links)
	}
	v.feedback = loss.CrossEntropy{Labels: labels}
	return v
}

// step takes one step of all nodes.
func (v *village) step(t testing.TB) {
	v.time++
	v.inbox = v.inbox[:0]
	for i, n := range v.nodes {
		v.take(t, n, agent.Begin{Time: v.time, Links: v.links[i], Row: v.rows.Row(i)})
	}
	for k := 0; k < len(v.inbox); k++ {
		v.take(t, v.nodes[v.inbox[k].to], agent.Receive{Message: &v.inbox[k].m})
	}
}

func (v *village) take(t testing.TB, n *agent.Node, ev agent.Event) {
	r, err := n.Step(ev)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range r.Send {
		for _, l := range v.links[m.From] {
			v.inbox = append(v.inbox, delivery{int(l.Node), m})
		}
	}
	if r.Prediction != nil {
		if r, err = n.Step(agent.Feedback{Loss: v.feedback, Index: int(n.ID())}); err != nil || !r.Done {
			t.Fatal(err, r.Done)
		}
	}
}

// One step of source localization with 50 agents in one process, with every kernel
// set that the machine has.
func BenchmarkStep(b *testing.B) {
	chosen := mat.Kernels()
	for _, set := range kernel.Names() {
		if set.Lacks == "" {
			b.Run(set.Name, func(b *testing.B) {
				if err := mat.UseKernels(set.Name); err != nil {
					b.Fatal(err)
				}
				benchmarkStep(b)
			})
		}
	}
	if err := mat.UseKernels(chosen); err != nil {
		b.Fatal(err)
	}
}

func benchmarkStep(b *testing.B) {
	for _, delayed := range []bool{false, true} {
		name := "multi-hop"
		if delayed {
			name = "delayed"
		}
		b.Run(name, func(b *testing.B) {
			v := newVillage(b, delayed)
			v.step(b)
			b.ReportAllocs()
			b.ResetTimer()
			for range b.N {
				v.step(b)
			}
			b.ReportMetric(float64(len(v.inbox)), "deliveries/op")
		})
	}
}

// Steps allocate nothing but what turns events into an interface.
func TestStepAllocatesLittle(t *testing.T) {
	if raceEnabled {
		t.Skipf("SKIPPED %s: the race detector allocates; it runs without -race", t.Name())
	}
	v := newVillage(t, false)
	v.step(t)
	if got := testing.AllocsPerRun(20, func() { v.step(t) }); got > 0 {
		t.Logf("%v allocations in a step of %d deliveries", got, len(v.inbox))
		if got > float64(len(v.inbox))+200 {
			t.Errorf("%v allocations in a step of %d deliveries, want at most one for each", got, len(v.inbox))
		}
	}
}
