package host_test

import (
	"slices"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/transport"
	"github.com/wdgnn/wdgnn/transport/mem"
)

// Where a node elsewhere is silent, its link is given up and no other: nodes
// here that waited for each other because of it hear each other all the same.
func TestSilenceStaysOutside(t *testing.T) {
	const steps, deadline = 6, 20 * time.Millisecond
	m, err := gnn.NewRandom(gnn.Config{In: 1, Features: 2, Outputs: 2, Wide: &gnn.WideConfig{Order: 3}}, random.Stream(1, "model"))
	check(t, err)
	plan := must(agent.NewPlan(agent.PlanConfig{Model: m, Operator: graph.ShiftRowStochastic, Cost: host.MSE.Kind()}))
	directory, err := host.NewDirectory(map[transport.HostID][]agent.NodeID{0: {0, 1, 2, 3}, 1: {4}})
	check(t, err)
	bus, err := new(mem.Network).Join(0)
	check(t, err)
	defer bus.Close()
	w := &world{lines: make(chan *host.Line), answers: make(chan uint64, 1)}
	h, err := host.New(host.Config{
		Run: "path", Nodes: []agent.NodeID{0, 1, 2, 3}, Plan: plan, Cost: host.MSE, Directory: directory,
		Pace: host.Pace{Deadline: deadline},
		Links: map[agent.NodeID][]agent.Link{ // 0 - 1 - 2 - 3 - 4
			0: {{Node: 1, Weight: 1}}, 1: {{Node: 0, Weight: 1}, {Node: 2, Weight: 1}},
			2: {{Node: 1, Weight: 1}, {Node: 3, Weight: 1}}, 3: {{Node: 2, Weight: 1}, {Node: 4, Weight: 1}},
		},
	}, host.Env{Bus: bus, World: w})
	check(t, err)
	done := make(chan error, 1)
	go func() { done <- h.Run(t.Context()) }()
	for s := range uint64(steps) {
		l := &host.Line{Time: s}
		for i := range agent.NodeID(4) {
			if s == steps-1 && i == 1 {
				continue // a node here that does not take part is not waited for either
			}
			l.Nodes = append(l.Nodes, host.NodeLine{Node: i, Row: []float32{1}})
		}
		w.lines <- l
		select {
		case <-w.answers:
		case <-time.After(patience):
			t.Fatalf("no answer at step %d", s)
		}
	}
	close(w.lines)
	check(t, <-done)
	r := h.Report()
	if want := uint64(steps + 2); r.Agents.Expired != want { // 4 -> 3 in all steps; 1 -> 0 and 1 -> 2 in the last
		t.Errorf("%d links were given up, want %d", r.Agents.Expired, want)
	}
	if want := []agent.NodeID{4}; !slices.Equal(r.Silent, want) || r.Stats.Suspected != 1 {
		t.Errorf("%v are taken for silent, want %v", r.Silent, want)
	}
}
