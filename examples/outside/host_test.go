package outside_test

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/rule"
	"github.com/wdgnn/wdgnn/transport"
)

// Doubles is a world of one's own, for the nodes of one host: six nodes of a
// ring see a number each and want twice the sum of their neighbours', as in
// ExampleMomentum. What it will say is known from the start; a world that acts
// on answers says its next line in Act.
type Doubles struct {
	lines   chan *host.Line
	answers int
}

func newDoubles(nodes []agent.NodeID) *Doubles {
	const n, steps = 6, 200
	w, rng := &Doubles{lines: make(chan *host.Line, steps)}, random.Stream(1, "signals")
	for t := range uint64(steps) {
		var x [n]float32
		for i := range x {
			x[i] = rng.Float32()
		}
		line := &host.Line{Time: t}
		for _, i := range nodes {
			want := 2 * (x[(i+n-1)%n] + x[(i+1)%n])
			line.Nodes = append(line.Nodes, host.NodeLine{Node: i, Row: x[i : i+1], Target: []float32{want}})
		}
		w.lines <- line
	}
	close(w.lines)
	return w
}

func (w *Doubles) Lines() <-chan *host.Line { return w.lines }

func (w *Doubles) Act(a *host.Answer) error {
	w.answers += len(a.Outputs)
	return nil
}

// Agents on three hosts, with a rule, a world and a network of one's own:
// Momentum, Doubles and Room. They learn what those of ExampleMomentum do.
func Example_host() {
	model := must(gnn.New(gnn.Config{In: 1, Features: 1, Wide: &gnn.WideConfig{Order: 1}, NoBias: true}))
	momentum := rule.Config{Rule: Momentum{Gamma: 0.03, Mu: 0.5}}
	basis := must(online.NewBasis(model, momentum, nil))
	plan := must(agent.NewPlan(agent.PlanConfig{Model: model, Operator: graph.ShiftAdjacency, Rule: &momentum, Basis: basis}))

	nodes := map[transport.HostID][]agent.NodeID{0: {0, 1, 2}, 1: {3}, 2: {4, 5}}
	directory, ring := must(host.NewDirectory(nodes)), graph.Ring(6).Adjacency()
	var room Room
	var worlds [3]*Doubles
	var hosts [3]*host.Host
	for id := range transport.HostID(3) {
		links := map[agent.NodeID][]agent.Link{}
		for _, i := range nodes[id] {
			links[i] = agent.LinksOf(nil, ring, int(i))
		}
		worlds[id] = newDoubles(nodes[id])
		hosts[id] = must(host.New(host.Config{
			Run: "doubles", Host: id, Nodes: nodes[id], Plan: plan, Cost: host.MSE, Directory: directory, Links: links,
			Pace: host.Pace{Deadline: time.Minute}, // patient: the same numbers on a slow machine
		}, host.Env{World: worlds[id], Bus: room.Join(id)}))
	}
	var running sync.WaitGroup
	for _, h := range hosts {
		running.Go(func() { check(h.Run(context.Background())) })
	}
	running.Wait()
	fmt.Println(worlds[0].answers+worlds[1].answers+worlds[2].answers, "answers")
	fmt.Printf("node 0 learned %.2f\n", hosts[0].Report().Params[0])
	// Output:
	// 1200 answers
	// node 0 learned [0.07 1.96]
}
