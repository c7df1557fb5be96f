package online_test

import (
	"math"
	"slices"
	"testing"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/rule"
	"github.com/wdgnn/wdgnn/scenario/sourceloc"
)

// plain is a gradient step on the taps with full mixing.
func plain(gamma float64) rule.Config {
	return rule.Config{StepSize: rule.StepSize{Value: gamma}}
}

func newObserver(tb testing.TB, m *gnn.WideDeep, c online.Config) *online.Observer {
	tb.Helper()
	o, err := online.NewObserver(m, c)
	must(tb, err)
	return o
}

func newCentralized(t *testing.T, m *gnn.WideDeep, c online.Config, r rule.Config) *online.Centralized {
	t.Helper()
	l, err := online.NewCentralized(newObserver(t, m, c), r)
	must(t, err)
	return l
}

func newConsensus(t *testing.T, m *gnn.WideDeep, c online.Config, r rule.Config) *online.Consensus {
	t.Helper()
	l, err := online.NewConsensus(newObserver(t, m, c), r)
	must(t, err)
	return l
}

// step observes, predicts and updates.
func step(t *testing.T, l online.Learner, outputs int, s graph.Sample, j loss.Loss) mat.Dense {
	t.Helper()
	y := mat.NewDense(s.Signal.Rows, outputs, nil)
	must(t, l.Observe(s))
	must(t, l.Predict(y))
	must(t, l.Update(j))
	return y
}

// taps returns 𝒜_i.
func taps(l *online.Consensus, i int) []float32 {
	a := make([]float32, l.Basis().TapsLen())
	l.Taps(a, i)
	return a
}

// A step moves the taps by -γ times the gradient of the network's cost, found
// by changing every one of the 6×32 taps of the model.
// Reference: Section 3, eq. (7).
func TestCentralizedStepIsGradientStep(t *testing.T) {
	b := newBig(t, 1, 3)
	for name, j := range map[string]loss.Loss{"squares": b.squares(0), "labels": b.labels(0)} {
		const gamma = 0.4
		l := newCentralized(t, b.model, online.Config{Nodes: b.nodes}, plain(gamma))
		step(t, l, 5, b.samples[0], j) // away from 𝒜†
		before, after := make([]float32, 192), make([]float32, 192)
		l.Taps(before)
		step(t, l, 5, b.samples[1], j)
		l.Taps(after)
		want := wide(before)
		for e, g := range difference(b.model, wide(before), 0.05, func(m *gnn.WideDeep) float64 {
			return j.Eval(mat.Dense{}, forward(m, b.samples[1]))
		}) {
			want[e] -= gamma * g
		}
		near(t, name, after, want, 1e-4)
	}
}

// A node's next taps are its neighbours' old ones and its own, mixed by W_t,
// minus γ times the gradient of its own cost at its own old taps, found by
// changing every one of its 6×32 taps in the model.
// Reference: Section 3, eq. (9).
func TestConsensusStepTermByTerm(t *testing.T) {
	b := newBig(t, 2, 4)
	const gamma = 0.6
	l := newConsensus(t, b.model, online.Config{Nodes: b.nodes}, plain(gamma))
	for k := range 3 { // copies differ now
		step(t, l, 5, b.samples[k], b.squares(k))
	}
	before := make([][]float32, b.nodes)
	for i := range before {
		before[i] = taps(l, i)
	}
	s, j := b.samples[3], b.squares(3)
	step(t, l, 5, s, j)
	for i := range b.nodes {
		want := make([]float64, 192)
		for n := range b.nodes {
			for e, a := range before[n] {
				want[e] += float64(s.Mixing.At(i, n)) * float64(a)
			}
		}
		for e, g := range difference(b.model, wide(before[i]), 0.05, func(m *gnn.WideDeep) float64 {
			return j.EvalNode(i, nil, forward(m, s).Row(i))
		}) {
			want[e] -= gamma * g
		}
		near(t, "node", taps(l, i), want, 1e-4)
	}
}

// With W = I every node learns as if it were alone, from its own cost.
// Reference: Section 3, eq. (9).
func TestIdentityMixingGivesLoneLearners(t *testing.T) {
	b := newBig(t, 4, 5)
	eye, err := graph.MixingIdentity.Of(graph.Ring(b.nodes))
	must(t, err)
	together := newConsensus(t, b.model, online.Config{Nodes: b.nodes}, plain(0.5))
	var lone []*online.Centralized
	for i := range b.nodes {
		lone = append(lone, newCentralized(t, b.model, online.Config{Nodes: b.nodes, Read: []int{i}, HopByHop: true}, plain(0.5)))
	}
	for k := range 20 {
		s := b.samples[k%len(b.samples)]
		s.Mixing = eye
		step(t, together, 5, s, b.labels(k))
		for i, l := range lone {
			only := b.labels(k)
			for n := range only.Labels {
				if n != i {
					only.Labels[n] = loss.NoLabel
				}
			}
			step(t, l, 5, s, only)
		}
	}
	for i := range b.nodes {
		if got, want := together.Params(i), lone[i].Params(); !slices.Equal(got, want) {
			t.Errorf("W = I: node %d has %v, alone %v", i, got, want)
		}
	}
}

// Without a step size, mixing brings the copies together and keeps their mean.
// Reference: Section 3, eq. (9).
func TestMixingKeepsMean(t *testing.T) {
	b := newBig(t, 5, 4)
	learned := newConsensus(t, b.model, online.Config{Nodes: b.nodes}, rule.Config{StepSize: rule.StepSize{Value: 1}})
	for k := range 10 {
		step(t, learned, 5, b.samples[k%4], b.squares(k))
	}
	l := newConsensus(t, b.model, online.Config{Nodes: b.nodes}, plain(0))
	must(t, l.Restore(learned.Snapshot()))
	mean := func() []float64 {
		m := make([]float64, 192)
		for i := range b.nodes {
			for e, a := range taps(l, i) {
				m[e] += float64(a) / float64(b.nodes)
			}
		}
		return m
	}
	want, apart := mean(), l.Drift().Disagreement
	for k := range 30 {
		step(t, l, 5, b.samples[k%4], b.squares(k))
	}
	for e, v := range mean() {
		if math.Abs(v-want[e]) > 1e-6 {
			t.Fatalf("mean of tap %d is %v, want %v", e, v, want[e])
		}
	}
	if now := l.Drift().Disagreement; !(now < apart/100) {
		t.Errorf("copies are %v from their mean, %v before mixing", now, apart)
	}
}

// If all copies and all gradients are equal, any doubly stochastic W gives the
// centralized step.
// Reference: Section 3, eq. (7) and (9).
func TestEqualGradientsGiveCentralizedStep(t *testing.T) {
	b := newBig(t, 6, 1)
	ring := sampleOn(t, graph.Ring(b.nodes), mat.NewDense(b.nodes, 1, nil))
	dense, err := graph.ErdosRenyi(b.nodes, 0.6, random.Stream(6, "W"))
	must(t, err)
	j := b.labels(0)
	for i := range j.Labels {
		j.Labels[i] = 2
	}
	for _, mixing := range []graph.Mixing{graph.MixingMetropolis, graph.MixingMaxDegree, graph.MixingSinkhorn, graph.MixingIdentity} {
		w, err := mixing.Of(dense)
		must(t, err)
		ring.Mixing = w
		central := newCentralized(t, b.model, online.Config{Nodes: b.nodes}, plain(0.3))
		l := newConsensus(t, b.model, online.Config{Nodes: b.nodes}, plain(0.3))
		for k := range 10 {
			for i := range ring.Signal.Data {
				ring.Signal.Data[i] = float32(k%3) - 0.7
			}
			step(t, central, 5, ring, j)
			step(t, l, 5, ring, j)
		}
		for i := range b.nodes {
			near(t, mixing.String(), l.Params(i), wide(central.Params()), 1e-5)
		}
	}
}

// With the step of a node N/5 times that of the network, for five nodes that
// have a cost, the mean of the copies makes the network's steps. On source
// localization the two kinds of learning give the same accuracy within a point.
// Reference: Section 3, eq. (7) and (9).
func TestMatchedStepSizesAgree(t *testing.T) {
	rng := random.Stream(7, "matched")
	world, err := sourceloc.New(sourceloc.Default(), rng)
	must(t, err)
	signals, labels := world.Draw(400, rng)
	stream, err := world.NewStreamOver(graph.ShiftSpectral.Of, []*graph.Graph{world.Graph}, 0, signals, labels)
	must(t, err)
	m, err := gnn.NewRandom(gnn.Config{In: 1, Features: 32, Outputs: 5, Wide: &gnn.WideConfig{Order: 5}}, rng)
	must(t, err)
	read := slices.Sorted(slices.Values(world.Detectors))
	const gamma, nodes = 0.3, 50
	central := newCentralized(t, m, online.Config{Nodes: nodes, Read: read}, plain(gamma))
	shared := newConsensus(t, m, online.Config{Nodes: nodes, Read: read}, plain(gamma*nodes/5))
	var meters [2]online.Meter
	for k, l := range []online.Learner{central, shared} {
		must(t, online.Play(t.Context(), mat.NewDense(nodes, 5, nil), l, stream, func(_ int, y mat.Dense, j loss.Loss) error {
			meters[k].Watch(y, j)
			return nil
		}))
	}
	if a, b := meters[0].Accuracy(), meters[1].Accuracy(); !(math.Abs(a-b) < 0.01) {
		t.Errorf("accuracy %.4f centralized and %.4f distributed, want within 0.01", a, b)
	}
	mean := make([]float32, shared.Basis().Len())
	for i := range nodes {
		for e, v := range shared.Params(i) {
			mean[e] += v / nodes
		}
	}
	moved := central.Drift().Moved
	if d := shared.Basis().Distance(mean, central.Params()); !(moved > 0 && d < 0.1*moved) {
		t.Errorf("the mean of the copies is %v from the shared taps, which moved by %v", d, moved)
	}
}

// J_t is convex in 𝒜 if it is convex in the output: on a line through two sets
// of taps it lies below its chord.
// Reference: Section 3, eq. (6).
func TestCostIsConvexInTaps(t *testing.T) {
	b := newBig(t, 8, 1)
	rng := random.Stream(8, "lines")
	for range 20 {
		p, q := make([]float64, 192), make([]float64, 192)
		for e := range p {
			p[e], q[e] = 3*rng.NormFloat64(), 3*rng.NormFloat64()
		}
		for name, j := range map[string]loss.Loss{"labels": b.labels(0), "squares": b.squares(0)} {
			at := func(share float64) float64 {
				mid := make([]float64, 192)
				for e := range mid {
					mid[e] = (1-share)*p[e] + share*q[e]
				}
				return j.Eval(mat.Dense{}, forward(with(b.model, mid), b.samples[0]))
			}
			j0, j1 := at(0), at(1)
			for _, share := range []float64{0.1, 0.4, 0.75} {
				if got, chord := at(share), (1-share)*j0+share*j1; got > chord+1e-4*math.Abs(chord) {
					t.Errorf("%s: J = %v at %v of the line, the chord is %v", name, got, share, chord)
				}
			}
		}
	}
}

// A node that loses all its links keeps learning, alone, from its own signal.
// Reference: Section 3, eq. (9), on graphs that change at random.
func TestIsolatedNodeLearnsAlone(t *testing.T) {
	b := newBig(t, 10, 1)
	var edges []graph.Edge
	for i := 1; i < b.nodes; i++ {
		if i != 5 && i != 6 {
			edges = append(edges, graph.Edge{From: i - 1, To: i, Weight: 1})
		}
	}
	g, err := graph.FromEdges(b.nodes, edges, false)
	must(t, err)
	if g.Degree(5) != 0 {
		t.Fatalf("node 5 has %d links", g.Degree(5))
	}
	s := sampleOn(t, g, b.samples[0].Signal)
	l := newConsensus(t, b.model, online.Config{Nodes: b.nodes}, plain(0.5))
	lone := newCentralized(t, b.model, online.Config{Nodes: b.nodes, Read: []int{5}, HopByHop: true}, plain(0.5))
	only := b.labels(0)
	for i := range only.Labels {
		if i != 5 {
			only.Labels[i] = loss.NoLabel
		}
	}
	first := step(t, l, 5, s, b.labels(0)).Clone()
	step(t, lone, 5, s, only)
	for range 20 {
		step(t, l, 5, s, b.labels(0))
		step(t, lone, 5, s, only)
	}
	last := step(t, l, 5, s, b.labels(0))
	if got, want := only.EvalNode(5, nil, last.Row(5)), only.EvalNode(5, nil, first.Row(5)); !(got < 0.9*want) {
		t.Errorf("the cost of the isolated node is %v after 21 steps, %v before", got, want)
	}
	step(t, lone, 5, s, only)
	if got, want := l.Params(5), lone.Params(); !slices.Equal(got, want) {
		t.Errorf("the isolated node has %v, alone %v", got, want)
	}
}
