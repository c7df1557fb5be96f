package online_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/rule"
)

// heavyBall is a rule of one's own: it keeps a momentum beside x.
type heavyBall struct{ gamma, momentum float32 }

func (heavyBall) Sent() int { return 1 }
func (heavyBall) Kept() int { return 1 }

func (h heavyBall) Step(next rule.Vectors, s *rule.Step) {
	s.Heard.Mix(next[0], 0)
	s.Cost.Gradient(s.Spare, s.Now[0])
	for e, g := range s.Spare {
		next[1][e] = h.momentum*s.Now[1][e] - h.gamma*g
		next[0][e] += next[1][e]
	}
}

// ownTaps is the preset own without a bias.
func ownTaps() rule.Config {
	return rule.Config{Newton: &rule.Newton{Prior: 3, Forget: 0.99}}
}

// settings are the ways of learning that every learner is checked with.
var settings = map[string]rule.Config{
	"paper":     {StepSize: rule.StepSize{Value: 0.3}},
	"gates":     {StepSize: rule.StepSize{Value: 0.1}, Gate: &rule.Gate{}},
	"taps+bias": {StepSize: rule.StepSize{Value: 0.1}, Retrain: rule.RetrainTapsAndBias},
	"decaying":  {StepSize: rule.StepSize{Schedule: rule.Decaying, Value: 0.3, Steps: 5}},
	"ridge":     {StepSize: rule.StepSize{Value: 0.3}, Ridge: 0.1},
	"clip":      {StepSize: rule.StepSize{Value: 0.3}, ClipNorm: 0.05, Limit: 10},
	"own rule":  {Rule: heavyBall{0.1, 0.5}},
	"own":       {Newton: &rule.Newton{Doubt: 0.2, Fresh: 5, Restart: true}, Retrain: rule.RetrainTapsAndBias},
	"own taps":  ownTaps(),
}

// Every learner keeps the contract, whatever its rule and however the model is
// run.
func TestConformance(t *testing.T) {
	w := newWorld(t, 7)
	paths := map[string]online.Config{
		"all":        {},
		"hop by hop": {Read: w.read, HopByHop: true},
		"pruned":     {Read: w.read},
		"delayed":    {Read: w.read, Delayed: true},
	}
	if testing.Short() { // ways to run a model have tests of their own in package gnn
		delete(paths, "all")
		delete(paths, "hop by hop")
	}
	for pathName, path := range paths {
		path.Nodes, path.Moment = w.nodes, w.moment
		t.Run("frozen, "+pathName, func(t *testing.T) {
			contract(t, func() online.Learner { return newObserver(t, w.model, path) }, w.labels(path))
		})
		for name, r := range settings {
			if pathName != "pruned" && name != "paper" && name != "own" {
				continue
			}
			t.Run(fmt.Sprintf("centralized, %s, %s", name, pathName), func(t *testing.T) {
				s := w.labels(path)
				s.Refused = refused(s, path, r)
				check(t, w.model, path, centralized(r), s)
			})
			t.Run(fmt.Sprintf("consensus, %s, %s", name, pathName), func(t *testing.T) {
				s := w.labels(path)
				s.Refused = append(refused(s, path, r), global{loss.CrossEntropy{}})
				check(t, w.model, path, consensus(r), s)
			})
		}
	}
}

// Costs that are no loss.Targeted are enough for a step on the last one alone,
// and numbers that grow too large are noticed.
func TestConformanceQuadratic(t *testing.T) {
	w := newWorld(t, 8)
	for _, name := range []string{"paper", "ridge", "own rule"} {
		for _, local := range []bool{false, true} {
			c, r := online.Config{Nodes: w.nodes, Moment: w.moment}, settings[name]
			r.StepSize.Value = min(r.StepSize.Value, 0.3) // squares are steeper than labels
			s := w.targets(local)
			t.Run(fmt.Sprintf("centralized, %s, local %t", name, local), func(t *testing.T) {
				check(t, w.model, c, centralized(r), s)
			})
			t.Run(fmt.Sprintf("consensus, %s, local %t", name, local), func(t *testing.T) {
				check(t, w.model, c, consensus(r), s)
			})
		}
	}
}

// refused are costs that no learner of that kind takes.
func refused(s stream, c online.Config, r rule.Config) []loss.Loss {
	n := s.Samples[0].Signal.Rows
	labels := func(first int32) loss.CrossEntropy {
		l := make([]int32, n)
		for i := range l {
			l[i] = loss.NoLabel
		}
		l[1] = first
		return loss.CrossEntropy{Labels: l}
	}
	elsewhere := labels(loss.NoLabel)
	elsewhere.Labels[0] = 1
	far := mat.NewDense(n, s.Outputs, nil)
	far.Data[s.Outputs] = float32(math.Inf(1))
	bad := []loss.Loss{nil, labels(int32(s.Outputs)), labels(-2), loss.MSE{Target: far}}
	if len(c.Read) > 0 {
		bad = append(bad, elsewhere)
	}
	if r.Newton != nil {
		bad = append(bad, global{labels(1)})
	}
	return bad
}

// global hides that a cost is the mean of local ones, and square that it has
// targets.
type (
	global struct{ loss.Loss }
	square struct{ cost loss.MSE }
)

func (s square) Eval(dy, y mat.Dense) float64            { return s.cost.Eval(dy, y) }
func (s square) EvalNode(i int, dy, y []float32) float64 { return s.cost.EvalNode(i, dy, y) }

// world is a small network with a model that runs on it and a stream of
// signals; graphs change with time.
type world struct {
	nodes   int
	read    []int
	model   *gnn.WideDeep
	samples []graph.Sample
	moment  *rule.SecondMoment
}

const worldOutputs = 3

func newWorld(tb testing.TB, seed uint64) *world {
	tb.Helper()
	rng := random.Stream(seed, "online world")
	w := &world{nodes: 8, read: []int{1, 4, 6}, moment: new(rule.SecondMoment)}
	var err error
	w.model, err = gnn.NewRandom(gnn.Config{
		In: 2, Features: 7, Outputs: worldOutputs, Wide: &gnn.WideConfig{Order: 2},
		Deep: []gnn.LayerConfig{{Order: 2, Features: 6, Activation: gnn.Tanh}, {Order: 1, Features: 7, Activation: gnn.Tanh}},
	}, rng)
	must(tb, err)
	var shifter gnn.Shifter
	z := mat.NewDense(w.nodes, 6, nil)
	for t := range 6 {
		g, err := graph.ErdosRenyi(w.nodes, 0.4, random.Stream(seed, "graph", t/2))
		must(tb, err)
		shift, err := graph.ShiftSpectral.Of(g)
		must(tb, err)
		mixing, err := graph.Metropolis(g)
		must(tb, err)
		x := mat.NewDense(w.nodes, 2, nil)
		for i := range x.Data {
			x.Data[i] = float32(rng.NormFloat64())
		}
		shifter.Shift(z, shift, x)
		w.moment.Add(z, 6)
		w.samples = append(w.samples, graph.Sample{Time: t, Shift: shift, Mixing: mixing, Signal: x})
	}
	return w
}

// labels is a stream of cross-entropies. At step 3 no node has a cost.
func (w *world) labels(c online.Config) stream {
	read := c.Read
	if read == nil {
		read = []int{0, 1, 2, 3, 4, 5, 6, 7}
	}
	return stream{
		Outputs: worldOutputs, Samples: w.samples,
		Cost: func(t int) (loss.Loss, func()) {
			labels := make([]int32, w.nodes)
			for i := range labels {
				labels[i] = loss.NoLabel
			}
			for k, i := range read {
				if t != 3 && (t+k)%4 != 0 {
					labels[i] = int32((t + k) % worldOutputs)
				}
			}
			return loss.CrossEntropy{Labels: labels}, func() {
				for i := range labels {
					labels[i] = 99
				}
			}
		},
	}
}

// targets is a stream of squares at all nodes.
func (w *world) targets(local bool) stream {
	at := func(t int, scale float32) loss.MSE {
		target := mat.NewDense(w.nodes, worldOutputs, nil)
		for e := range target.Data {
			target.Data[e] = scale * float32((e+t)%5-2)
		}
		return loss.MSE{Target: target}
	}
	kind := func(j loss.MSE) loss.Loss {
		if local {
			return square{j}
		}
		return j
	}
	return stream{
		Outputs: worldOutputs, Samples: w.samples, Explosive: kind(at(0, 1e37)),
		Cost: func(t int) (loss.Loss, func()) {
			j := at(t, 0.3)
			return kind(j), func() {
				for e := range j.Target.Data {
					j.Target.Data[e] = float32(math.NaN())
				}
			}
		},
	}
}

// maker makes a learner on an observer.
type maker func(o *online.Observer) (online.Learner, error)

func centralized(r rule.Config) maker {
	return func(o *online.Observer) (online.Learner, error) { return online.NewCentralized(o, r) }
}

func consensus(r rule.Config) maker {
	return func(o *online.Observer) (online.Learner, error) { return online.NewConsensus(o, r) }
}

// check runs the suite with learners on observers of their own, and in pairs.
func check(t *testing.T, m *gnn.WideDeep, c online.Config, make maker, s stream) {
	t.Helper()
	on := func(o *online.Observer) online.Learner {
		l, err := make(o)
		must(t, err)
		return l
	}
	s.Pair = func() (a, b online.Learner) {
		o := newObserver(t, m, c)
		return on(o), on(o)
	}
	contract(t, func() online.Learner { return on(newObserver(t, m, c)) }, s)
}
