package agent_test

import (
	"fmt"
	"log"
	"slices"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/rule"
)

// One step of two nodes that hear each other. Their model is y_i = x_i + 10 x_j,
// the filter with taps 1 and 10. The caller, here a few lines, hands over what
// nodes see, carries what they say, and tells them what their answers cost.
func ExampleNode() {
	model, err := gnn.New(gnn.Config{In: 1, Features: 1, Wide: &gnn.WideConfig{Order: 1}, NoBias: true})
	if err != nil {
		log.Fatal(err)
	}
	copy(model.Params.Flat, []float32{1, 10})
	learn := rule.Config{StepSize: rule.StepSize{Value: 0.1}}
	basis, err := online.NewBasis(model, learn, nil) // the coordinates of what learns, the same at all nodes
	if err != nil {
		log.Fatal(err)
	}
	plan, err := agent.NewPlan(agent.PlanConfig{Model: model, Operator: graph.ShiftAdjacency, Basis: basis, Rule: &learn})
	if err != nil {
		log.Fatal(err)
	}
	nodes := []*agent.Node{agent.NewNode(0, plan, nil), agent.NewNode(1, plan, nil)}
	step := func(i int, ev agent.Event) agent.Ready {
		ready, err := nodes[i].Step(ev)
		if err != nil {
			log.Fatal(err)
		}
		return ready
	}

	// Each sees its own row and says it, with its parameters, to the other.
	pair, sees := graph.Ring(2).Adjacency(), []float32{3, 5}
	said := make([]agent.Message, 2)
	for i := range nodes {
		begin := agent.Begin{Time: 1, Links: agent.LinksOf(nil, pair, i), Row: sees[i : i+1]}
		said[i] = step(i, begin).Send[0]
		said[i].Values = slices.Clone(said[i].Values) // they belong to the node
		fmt.Printf("node %d says %v\n", i, said[i].Values)
	}
	// What it hears completes its answer; what that cost completes the step:
	// a move of -γ 2 (y_i - target) (x_i, x_j). The next messages carry it.
	right := loss.MSE{Target: mat.NewDense(2, 1, []float32{50, 40})}
	for i := range nodes {
		heard := step(i, agent.Receive{Message: &said[1-i]})
		fmt.Printf("node %d answers %v\n", i, heard.Prediction)
		done := step(i, agent.Feedback{Loss: right, Index: i}).Done
		fmt.Printf("node %d done: %t, its taps move by %.1f\n", i, done, nodes[i].Params())
	}
	// Output:
	// node 0 says [3 0 0]
	// node 1 says [5 0 0]
	// node 0 answers [53]
	// node 0 done: true, its taps move by [-1.8 -3.0]
	// node 1 answers [35]
	// node 1 done: true, its taps move by [5.0 3.0]
}
