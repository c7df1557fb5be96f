package wdgnn

import (
	"encoding/binary"
	"hash"
	"hash/fnv"
	"math/rand/v2"
	"testing"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/agent/agenttest"
	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/kernel"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/optim"
	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/rule"
	"github.com/wdgnn/wdgnn/scenario/flocking"
	"github.com/wdgnn/wdgnn/train"
)

// familyBits are hashes of what is trained, answered and learned below, one for a
// family of kernel sets.
var familyBits = map[string]uint64{kernel.Fused: 0x742ba8e8a6ca53a3, kernel.Portable: 0xa7eecad45099b365}

// Same seed, same bits, whatever the processor: with every set of a family, on
// amd64 and on arm64, models are trained, answer, learn online in one process and
// as agents, and robots fly by them, to one hash.
func TestFamilyBits(t *testing.T) {
	chosen := mat.Kernels()
	defer func() { check(t, mat.UseKernels(chosen)) }()
	for _, set := range kernel.Names() {
		t.Run(set.Name, func(t *testing.T) {
			if set.Lacks != "" {
				t.Skipf("SKIPPED %s: %s", t.Name(), set.Lacks)
			}
			check(t, mat.UseKernels(set.Name))
			l := life{t, fnv.New64a()}
			l.train()
			l.learn()
			l.fly()
			if got := l.sum.Sum64(); got != familyBits[mat.Family()] {
				t.Errorf("hash of everything is %#x, want %#x, that of the family %s", got, familyBits[mat.Family()], mat.Family())
			}
		})
	}
}

// life is what models go through, and the hash of all numbers on the way.
type life struct {
	t   *testing.T
	sum hash.Hash64
}

// add takes numbers into the hash.
func (l *life) add(numbers []float32) { check(l.t, binary.Write(l.sum, binary.LittleEndian, numbers)) }

// note says what the hash is: so one sees where two lives part.
func (l *life) note(what string) { l.t.Logf("%016x after %s", l.sum.Sum64(), what) }

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func must[T any](t *testing.T) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		check(t, err)
		return v
	}
}

// uniform draws from -2 to 2.
func uniform(rng *rand.Rand, rows, cols int) mat.Dense {
	a := mat.NewDense(rows, cols, nil)
	for i := range a.Data {
		a.Data[i] = rng.Float32()*4 - 2
	}
	return a
}

const bitsNodes = 18

func (l *life) graph() *graph.Graph {
	return must[*graph.Graph](l.t)(graph.SBM(graph.SBMConfig{Sizes: []int{7, 11}, Intra: 0.5, Inter: 0.1}, random.Stream(3, "graph")))
}

// model returns a model with random parameters.
func (l *life) model(in, outputs int, sigma gnn.Activation) *gnn.WideDeep {
	return must[*gnn.WideDeep](l.t)(gnn.NewRandom(gnn.Config{
		In: in, Features: 9, Outputs: outputs, Wide: &gnn.WideConfig{Order: 3},
		Deep: []gnn.LayerConfig{{Order: 3, Features: 17, Activation: sigma}, {Order: 2, Features: 9, Activation: sigma}},
	}, random.Stream(3, "init", in)))
}

// train fits models like those of the three experiments: classes, accelerations and
// ratings.
func (l *life) train() {
	const samples = 40
	rng := random.Stream(3, "samples")
	numbers := func(cost loss.Regression, rows, cols int) train.Objective {
		return must[*train.Targets](l.t)(train.NewTargets(cost, uniform(rng, rows, cols), nil))
	}
	labels := make([]int32, samples)
	for i := range labels {
		labels[i] = rng.Int32N(5)
	}
	for _, c := range []struct {
		name    string
		model   *gnn.WideDeep
		read    []int
		targets train.Objective
		config  train.Config
	}{
		{"classes", l.model(1, 5, gnn.ReLU), []int{2, 5, 11}, must[*train.Classes](l.t)(train.NewSampleClasses(labels, 3, 5)), train.Config{}},
		{"accelerations", l.model(6, 2, gnn.Tanh), nil, numbers(loss.MSE{}, samples*bitsNodes, 2), train.Config{ClipNorm: 0.5, Average: 0.9}},
		{"ratings", l.model(2, 1, gnn.LeakyReLU), []int{4}, numbers(loss.SmoothL1{Threshold: 1}, samples, 1), train.Config{
			FoldWide: true, Ridge: 0.01, Lipschitz: gnn.Lipschitz{Strength: 0.1}, SGD: &optim.SGDConfig{StepSize: 0.01, Momentum: 0.9},
		}},
	} {
		data := must[*train.Signals](l.t)(train.NewSignals(c.model, train.SignalsConfig{
			Graph: l.graph(), Operator: graph.ShiftSpectral, Read: c.read, Targets: c.targets,
			Signals: uniform(rng, samples*bitsNodes, c.model.Config.In),
		}))
		c.config.Epochs, c.config.BatchSize, c.config.Seed = 2, 10, 3
		if c.config.SGD == nil {
			c.config.Adam = optim.AdamConfig{StepSize: 0.01}
		}
		_, err := train.Run(l.t.Context(), c.model, train.Job{Train: data, Config: c.config})
		check(l.t, err)
		l.add(c.model.Params.Flat)
		l.note("training for " + c.name)
	}
}

// learn lets one process and agents learn online by each rule, on a graph that loses
// links; some nodes are told a class.
func (l *life) learn() {
	for _, c := range []struct {
		name string
		rule rule.Config
	}{
		{"plain steps", rule.Paper(false).Ungated()},
		{"second derivatives", rule.Config{Newton: &rule.Newton{Doubt: 0.2, Fresh: 5, Restart: true}, Retrain: rule.RetrainTapsAndBias}},
		{"weights for neighbours", rule.Neighbours().Ungated()},
	} {
		m := l.model(2, 3, gnn.ReLU)
		o := must[*online.Observer](l.t)(online.NewObserver(m, online.Config{Nodes: bitsNodes, HopByHop: true}))
		one := must[*online.Consensus](l.t)(online.NewConsensus(o, c.rule))
		basis := must[*rule.Basis](l.t)(online.NewBasis(m, c.rule, nil))
		plan := agent.PlanConfig{Model: m, Operator: graph.ShiftRowStochastic, Basis: basis, Rule: &c.rule, Cost: loss.CrossEntropy{}}
		many := agenttest.New(bitsNodes, must[*agent.Plan](l.t)(agent.NewPlan(plan)))
		y := mat.NewDense(bitsNodes, 3, nil)
		for step := range 8 {
			l.step(step, one, many, y)
		}
		for _, n := range many.Nodes {
			l.add(n.Params())
		}
		l.note("learning by " + c.name)
	}
}

// step is one of one process and of agents.
func (l *life) step(step int, one *online.Consensus, many *agenttest.Swarm, y mat.Dense) {
	rng := random.Stream(3, "step", step)
	g := must[*graph.Graph](l.t)(graph.NewOutage(l.graph(), rng).At(0.2))
	sample := graph.Sample{
		Time: step, Signal: uniform(rng, bitsNodes, 2),
		Shift: must[*mat.CSR](l.t)(graph.ShiftRowStochastic.Of(g)), Mixing: must[*mat.CSR](l.t)(graph.Metropolis(g)),
	}
	labels := make([]int32, bitsNodes)
	for i := range labels {
		labels[i] = max(rng.Int32N(6)-3, loss.NoLabel)
	}
	j := loss.CrossEntropy{Labels: labels}
	check(l.t, one.Observe(sample))
	check(l.t, one.Predict(y))
	check(l.t, one.Update(j))
	check(l.t, many.Begin(uint64(step), g, sample.Signal))
	check(l.t, many.RunToQuiet())
	l.add(y.Data)
	l.add(many.Outputs().Data)
	check(l.t, many.Feedback(j))
}

// fly lets robots learn in flight, whose graph is what they hear.
func (l *life) fly() {
	c := flocking.Default()
	c.Robots, c.DurationSeconds = 15, 0.2
	s := must[*flocking.Swarm](l.t)(flocking.New(c, random.Stream(3, "start")))
	m := l.model(flocking.Features, 2, gnn.Tanh)
	o := must[*online.Observer](l.t)(online.NewObserver(m, online.Config{Nodes: c.Robots, Delayed: true}))
	r := rule.Config{StepSize: rule.StepSize{Value: 0.01}, ClipNorm: 1}
	learner := must[*online.Consensus](l.t)(online.NewConsensus(o, r))
	x, u := mat.NewDense(c.Robots, flocking.Features, nil), mat.NewDense(c.Robots, 2, nil)
	var cost flocking.Clearance
	for range c.Steps() {
		s.Signal(x)
		check(l.t, learner.Observe(graph.Sample{
			Time: s.Time(), Signal: x,
			Shift: must[*mat.CSR](l.t)(s.Shift(graph.ShiftSpectral)), Mixing: must[*mat.CSR](l.t)(s.Mixing()),
		}))
		check(l.t, learner.Predict(u))
		l.add(x.Data)
		l.add(u.Data)
		cost.Reset(s)
		check(l.t, learner.Update(&cost))
		check(l.t, s.StepDense(u))
	}
	l.note("a flight")
}
