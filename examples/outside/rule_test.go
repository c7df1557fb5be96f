package outside_test

import (
	"fmt"
	"slices"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/agent/agenttest"
	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/rule"
)

// Momentum is eq. (9) with a memory of the last move:
//
//	x_{i,t+1} = Σ_j W_ij x_{j,t} - γ ∇J_{i,t}(x_{i,t}) + μ (x_{i,t} - x_{i,t-1})
type Momentum struct{ Gamma, Mu float32 }

func (Momentum) Sent() int { return 1 } // x_t
func (Momentum) Kept() int { return 1 } // x_{t-1}

func (m Momentum) Step(next rule.Vectors, s *rule.Step) {
	x, before, gradient := s.Now[0], s.Now[1], s.Spare
	s.Cost.Gradient(gradient, x)
	s.Heard.Mix(next[0], 0)
	for e := range x {
		next[0][e] += m.Mu*(x[e]-before[e]) - m.Gamma*gradient[e]
	}
	copy(next[1], x)
}

// The rule runs for all nodes of a network in one process, and in agents, a
// state machine per node, that hear their neighbours only. Nodes of a ring see
// a number each and want twice the sum of their neighbours'.
func ExampleMomentum() {
	const n = 6
	ring, rng := graph.Ring(n), random.Stream(1, "signals")
	model := must(gnn.New(gnn.Config{In: 1, Features: 1, Wide: &gnn.WideConfig{Order: 1}, NoBias: true}))
	momentum := rule.Config{Rule: Momentum{Gamma: 0.03, Mu: 0.5}}
	learner := must(online.NewConsensus(must(online.NewObserver(model, online.Config{Nodes: n})), momentum))

	plan := agent.PlanConfig{Model: model, Operator: graph.ShiftAdjacency, Basis: learner.Basis(), Rule: &momentum}
	swarm := agenttest.New(n, must(agent.NewPlan(plan)))

	sample := graph.Sample{Shift: must(graph.ShiftAdjacency.Of(ring)), Mixing: must(graph.Metropolis(ring))}
	sample.Signal = mat.NewDense(n, 1, nil)
	want := mat.NewDense(n, 1, nil)
	for t := range 200 {
		for i := range n {
			sample.Signal.Set(i, 0, rng.Float32())
		}
		mat.Serial.SpMM(want, sample.Shift, sample.Signal)
		mat.Serial.Scale(want, 2)
		cost := loss.MSE{Target: want}

		check(learner.Observe(sample))
		check(learner.Update(cost))

		check(swarm.Begin(uint64(t), ring, sample.Signal))
		check(swarm.RunToQuiet()) // deliver all messages
		check(swarm.Feedback(cost))
	}
	same := true
	for i, node := range swarm.Nodes {
		same = same && slices.Equal(node.Params(), learner.Params(i))
	}
	fmt.Printf("node 0 learned %.2f; agents have the same bits: %t\n", learner.Params(0), same)
	// Output:
	// node 0 learned [0.07 1.96]; agents have the same bits: true
}
