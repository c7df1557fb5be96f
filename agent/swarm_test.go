package agent_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

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

// trial is a network with a stream, run by agents and by online.Consensus.
type trial struct {
	nodes     int
	model     *gnn.WideDeep
	plan      *agent.Plan
	learner   online.Learner
	shift     graph.Shift
	graphs    []*graph.Graph
	samples   []graph.Sample
	costs     []loss.Loss
	consensus *online.Consensus
}

// variant is one way to run a network.
type variant struct {
	name    string
	model   gnn.Config
	shift   graph.Shift
	delayed bool
	rule    *rule.Config
}

func deepConfig(layers ...int) gnn.Config {
	c := gnn.Config{In: 2, Features: 6, Outputs: 3, Wide: &gnn.WideConfig{Order: 2}}
	for _, order := range layers {
		c.Deep = append(c.Deep, gnn.LayerConfig{Order: order, Features: 6})
	}
	return c
}

func variants() []variant {
	paper, biased := rule.Paper(false).Ungated(), rule.Paper(false).Ungated()
	paper.StepSize.Value, biased.StepSize.Value, biased.Retrain = 0.2, 0.1, rule.RetrainTapsAndBias
	own := rule.Config{Newton: &rule.Newton{Doubt: 0.2, Fresh: 2, Restart: true}, Retrain: rule.RetrainTapsAndBias}
	fading := rule.Config{Newton: &rule.Newton{Forget: 0.9}}
	heard := rule.Config{Newton: &rule.Newton{Doubt: 0.1, Fresh: 2, Restart: true}, Retrain: rule.RetrainHeard}
	shut, wild, sure := paper, paper, own
	shut.Gate, sure.Gate = &rule.Gate{Window: 2}, &rule.Gate{}
	wild.Gate, wild.Limit, wild.StepSize.Value = &rule.Gate{Window: 2, Patience: 3}, 10, 20 // refused, and begun again
	filter := gnn.Config{In: 2, Features: 6, Outputs: 3, Wide: &gnn.WideConfig{Order: 3}}
	noWide := deepConfig(2, 1)
	noWide.Wide = nil
	return []variant{
		{"two layers, paper", deepConfig(3, 2), graph.ShiftRowStochastic, false, &paper},
		{"one layer, paper", deepConfig(2), graph.ShiftLaplacian, false, &paper},
		{"three layers, one without hops", deepConfig(1, 0, 2), graph.ShiftNormalizedLaplacian, false, &biased},
		{"filter", filter, graph.ShiftSpectral, false, &paper},
		{"one layer, own", deepConfig(2), graph.ShiftSymmetric, false, &own},
		{"filter, own", filter, graph.ShiftLaplacian, false, &own},
		{"two layers, own that fades", deepConfig(3, 2), graph.ShiftSymmetric, false, &fading},
		{"delayed, own", deepConfig(3, 2), graph.ShiftRowStochastic, true, &own},
		{"filter, neighbours", filter, graph.ShiftRowStochastic, false, &heard},
		{"two layers, neighbours", deepConfig(3, 2), graph.ShiftSymmetric, false, &heard},
		{"two layers, paper, gates", deepConfig(3, 2), graph.ShiftRowStochastic, false, &shut},
		{"one layer, own, gates", deepConfig(2), graph.ShiftSymmetric, false, &sure},
		{"filter, too long steps behind gates", filter, graph.ShiftRowStochastic, false, &wild},
		{"delayed, too long steps behind gates", deepConfig(2), graph.ShiftSymmetric, true, &wild},
		{"frozen GNN", noWide, graph.ShiftAdjacency, false, nil},
		{"delayed, paper", deepConfig(3, 2), graph.ShiftRowStochastic, true, &paper},
		{"delayed, biased", deepConfig(2), graph.ShiftSymmetric, true, &biased},
		{"delayed, frozen filter", filter, graph.ShiftRowStochastic, true, nil},
	}
}

// newTrial draws a network whose graph changes every third step.
func newTrial(t testing.TB, v variant, seed uint64, steps int) *trial {
	t.Helper()
	rng := random.Stream(seed, "trial")
	tr := &trial{nodes: 9, shift: v.shift}
	var err error
	if tr.model, err = gnn.NewRandom(v.model, rng); err != nil {
		t.Fatal(err)
	}
	for range (steps + 2) / 3 {
		g, err := graph.ErdosRenyi(tr.nodes, 0.4, rng)
		if err != nil {
			t.Fatal(err)
		}
		tr.graphs = append(tr.graphs, g)
	}
	scale := 0.0
	if v.shift == graph.ShiftSpectral { // one graph, whose scale the agents are given
		for k := range tr.graphs {
			tr.graphs[k] = tr.graphs[0]
		}
		scale = graph.LargestEigenvalue(tr.graphs[0].Adjacency())
	}
	var moment rule.SecondMoment
	for k := range steps {
		g := tr.graphs[k/3]
		s, err := v.shift.Of(g)
		if err != nil {
			t.Fatal(err)
		}
		w, err := graph.Metropolis(g)
		if err != nil {
			t.Fatal(err)
		}
		x := mat.NewDense(tr.nodes, v.model.In, nil)
		for e := range x.Data {
			x.Data[e] = float32(rng.NormFloat64())
		}
		tr.samples = append(tr.samples, graph.Sample{Time: k, Shift: s, Mixing: w, Signal: x})
		labels := make([]int32, tr.nodes)
		for i := range labels {
			labels[i] = loss.NoLabel
			if i%3 != 0 {
				labels[i] = rng.Int32N(int32(v.model.Outputs))
			}
		}
		tr.costs = append(tr.costs, loss.CrossEntropy{Labels: labels})
		z := mat.NewDense(tr.nodes, (tr.model.InputOrder()+1)*v.model.In, nil)
		new(gnn.Shifter).Shift(z, s, x)
		if v.model.Wide != nil {
			moment.Add(z, (v.model.Wide.Order+1)*v.model.In)
		}
	}
	if v.rule != nil && v.rule.Retrain == rule.RetrainHeard && seed%2 == 0 { // otherwise nodes meet their neighbours of the first step
		var signals []float32
		for _, s := range tr.samples {
			signals = append(signals, s.Signal.Data...)
		}
		online.HearEach(&moment, tr.model, tr.samples[0].Shift, mat.NewDense(steps*tr.nodes, v.model.In, signals), nil, nil)
	}
	c := online.Config{Nodes: tr.nodes, HopByHop: true, Delayed: v.delayed, Moment: &moment}
	plan := agent.PlanConfig{Model: tr.model, Operator: v.shift, Scale: scale, Delayed: v.delayed, Cost: loss.CrossEntropy{}}
	observer, err := online.NewObserver(tr.model, c)
	if err != nil {
		t.Fatal(err)
	}
	tr.learner = observer
	if v.rule != nil {
		if tr.consensus, err = online.NewConsensus(observer, *v.rule); err != nil {
			t.Fatal(err)
		}
		tr.learner = tr.consensus
		plan.Basis, plan.Rule = tr.consensus.Basis(), v.rule
	}
	tr.plan = newPlan(t, plan)
	return tr
}

// play lets agents take step k of the trial, under the given time.
func (tr *trial) play(t testing.TB, s *agenttest.Swarm, k int, time uint64) {
	t.Helper()
	begin(t, s, time, tr.graphs[k/3], tr.samples[k].Signal)
	if err := s.Feedback(tr.costs[k]); err != nil {
		t.Fatal(err)
	}
}

// step lets the in-process learner take step k and returns its predictions.
func (tr *trial) step(t testing.TB, k int) mat.Dense {
	t.Helper()
	y := mat.NewDense(tr.nodes, tr.model.Outputs(), nil)
	if err := tr.learner.Observe(tr.samples[k]); err != nil {
		t.Fatal(err)
	}
	if err := tr.learner.Predict(y); err != nil {
		t.Fatal(err)
	}
	if err := tr.learner.Update(tr.costs[k]); err != nil {
		t.Fatal(err)
	}
	return y
}

// sameBits compares predictions and parameters.
func (tr *trial) sameBits(t testing.TB, k int, s *agenttest.Swarm, want mat.Dense) {
	t.Helper()
	for i := range tr.nodes {
		for c, w := range want.Row(i) {
			if got := s.Outputs().At(i, c); math.Float32bits(got) != math.Float32bits(w) {
				t.Fatalf("step %d: output %d of node %d is %v, want %v", k, c, i, got, w)
			}
		}
		if tr.consensus == nil {
			continue
		}
		for e, w := range tr.consensus.Params(i) {
			if got := s.Nodes[i].Params()[e]; math.Float32bits(got) != math.Float32bits(w) {
				t.Fatalf("step %d: parameter %d of node %d is %v, want %v", k, e, i, got, w)
			}
		}
	}
}

// Whatever the network does short of losing messages, a swarm of agents ends
// every step with the predictions and parameters of the in-process learner, bit
// for bit.
// Reference: Section 3, eq. (9); Section 6.2, eq. (24).
func TestSwarmMatchesConsensus(t *testing.T) {
	for _, v := range variants() {
		for seed := range uint64(4) {
			t.Run(fmt.Sprintf("%s/%d", v.name, seed), func(t *testing.T) { compare(t, v, seed, 7) })
		}
	}
}

func compare(t testing.TB, v variant, seed uint64, steps int) {
	tr := newTrial(t, v, seed, steps)
	s := agenttest.New(tr.nodes, tr.plan)
	rng := rand.New(rand.NewPCG(seed, 7))
	if seed > 0 { // seed 0 is the orderly network
		s.Pick = agenttest.Random(rng)
		s.Fate = func(*agent.Message, agent.NodeID) int { return 1 + rng.IntN(5)/4 }
	}
	for k := range steps {
		tr.play(t, s, k, uint64(k))
		tr.sameBits(t, k, s, tr.step(t, k))
	}
}

func FuzzSwarmMatchesConsensus(f *testing.F) {
	f.Add(uint64(1), byte(0))
	f.Add(uint64(2), byte(6))
	f.Fuzz(func(t *testing.T, seed uint64, which byte) {
		list := variants()
		compare(t, list[int(which)%len(list)], seed, 3)
	})
}
