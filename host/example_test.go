package host_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
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
	"github.com/wdgnn/wdgnn/transport/mem"
)

// Sign is a rule of one's own: a node mixes its neighbours' numbers with its
// own, and moves each by a small step, down the slope, however steep it is.
type Sign struct{ Gamma float32 }

func (Sign) Sent() int { return 1 } // x_i
func (Sign) Kept() int { return 0 }

func (r Sign) Step(next rule.Vectors, s *rule.Step) {
	s.Heard.Mix(next[0], 0)
	s.Cost.Gradient(s.Spare, s.Now[0])
	for e, slope := range s.Spare {
		next[0][e] -= float32(math.Copysign(float64(r.Gamma), float64(slope)))
	}
}

// Sums is a world of one's own: all nodes of a ring see a number, and each is to
// say the sum of what its two neighbours see. When the nodes of a host have
// answered it tells them what they see next.
type Sums struct {
	nodes []agent.NodeID // of the host
	lines chan *host.Line
	rng   *rand.Rand // the same for all hosts
	want  map[agent.NodeID]float32
	off   []float64 // by how much the answers were, step by step
}

func newSums(nodes []agent.NodeID) *Sums {
	w := &Sums{nodes: nodes, lines: make(chan *host.Line, 1), rng: random.Stream(1, "sums"), want: map[agent.NodeID]float32{}}
	w.say(0)
	return w
}

func (w *Sums) Lines() <-chan *host.Line { return w.lines }

// Act hears the answers of a step, and says the next line: the last of 200 is
// followed by the end.
func (w *Sums) Act(a *host.Answer) error {
	sum := 0.0
	for _, o := range a.Outputs {
		sum += math.Abs(float64(o.Value[0] - w.want[o.Node]))
	}
	w.off = append(w.off, sum/float64(len(a.Outputs)))
	if a.Time == 199 {
		close(w.lines)
		return nil
	}
	w.say(a.Time + 1)
	return nil
}

// say tells the host's nodes what they see at step t, and what they should answer.
func (w *Sums) say(t uint64) {
	var x [4]float32
	for i := range x {
		x[i] = 2*w.rng.Float32() - 1
	}
	line := &host.Line{Time: t}
	for _, i := range w.nodes {
		w.want[i] = x[(i+3)%4] + x[(i+1)%4]
		line.Nodes = append(line.Nodes, host.NodeLine{Node: i, Row: x[i : i+1], Target: []float32{w.want[i]}})
	}
	w.lines <- line
}

// Agents of four nodes on two hosts, with a rule and a world of one's own. What
// joins the hosts is any transport.Bus; here they share a process.
func Example() {
	model := must(gnn.New(gnn.Config{In: 1, Features: 1, Wide: &gnn.WideConfig{Order: 1}, NoBias: true}))
	learn := rule.Config{Rule: Sign{Gamma: 0.01}}
	basis := must(online.NewBasis(model, learn, nil))
	plan := must(agent.NewPlan(agent.PlanConfig{Model: model, Operator: graph.ShiftAdjacency, Rule: &learn, Basis: basis}))

	nodes := map[transport.HostID][]agent.NodeID{0: {0, 1}, 1: {2, 3}}
	directory, ring := must(host.NewDirectory(nodes)), graph.Ring(4).Adjacency()
	var network mem.Network
	var worlds []*Sums
	var hosts []*host.Host
	for id := range transport.HostID(2) {
		links := map[agent.NodeID][]agent.Link{}
		for _, i := range nodes[id] {
			links[i] = agent.LinksOf(nil, ring, int(i))
		}
		c := host.Config{
			Run: "sums", Host: id, Nodes: nodes[id], Plan: plan, Cost: host.MSE, Directory: directory, Links: links,
			Pace: host.Pace{Deadline: time.Minute}, // patient: the same numbers on a slow machine
		}
		worlds = append(worlds, newSums(nodes[id]))
		hosts = append(hosts, must(host.New(c, host.Env{World: worlds[id], Bus: must(network.Join(id))})))
	}
	var running sync.WaitGroup
	for _, h := range hosts {
		running.Go(func() { try(h.Run(context.Background())) })
	}
	running.Wait()
	fmt.Printf("off by %.2f at first, by %.2f in the end\n", worlds[0].off[0], worlds[0].off[199])
	fmt.Printf("node 2 learned %.2f: not its own number, but its neighbours'\n", hosts[1].Report().Params[2])
	// Output:
	// off by 0.44 at first, by 0.00 in the end
	// node 2 learned [0.01 0.99]: not its own number, but its neighbours'
}

func must[T any](v T, err error) T {
	try(err)
	return v
}

func try(err error) {
	if err != nil {
		panic(err)
	}
}
