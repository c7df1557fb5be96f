package swarm

import (
	"iter"
	"testing"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/rule"
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
		whole, err := graph.SBM(graph.SBMConfig{Sizes: []int{w.nodes / 2, w.nodes - w.nodes/2}, Intra: 0.5, Inter: 0.1},
			random.Stream(w.seed, "graph"))
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
	{"multi-hop, paper", false, rule.Paper(false).Ungated()},
	{"multi-hop, decaying", false, rule.Config{StepSize: rule.StepSize{Schedule: rule.Decaying, Value: 0.1, Steps: 9}, Ridge: 0.01}},
	{"delayed, paper", true, rule.Paper(false).Ungated()},
	{"multi-hop, own", false, rule.Config{Newton: &rule.Newton{Doubt: 0.2, Fresh: 5, Restart: true}, Retrain: rule.RetrainTapsAndBias}},
	{"multi-hop, neighbours", false, rule.Neighbours().Ungated()},
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
	f, err := online.NewBasis(m, s.rule, nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := agent.NewPlan(agent.PlanConfig{
		Model: m, Operator: graph.ShiftRowStochastic, Delayed: s.delayed, Basis: f, Rule: &s.rule, Cost: host.CrossEntropy.Kind(),
	})
	if err != nil {
		t.Fatal(err)
	}
	return p, m
}
