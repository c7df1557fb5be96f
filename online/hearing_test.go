package online_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/rule"
)

// What a node hears in training is its own shifted inputs and those of its
// neighbours, hops 1 and 2; a node with too many neighbours has no moment.
func TestHearEach(t *testing.T) {
	rng := random.Stream(5, "hear")
	const nodes, samples, in = 40, 30, 2
	var edges []graph.Edge
	for j := 1; j < nodes; j++ {
		edges = append(edges, graph.Edge{From: 0, To: j, Weight: 1}) // a hub
		edges = append(edges, graph.Edge{From: j, To: 1 + j%(nodes-1), Weight: 0.5})
	}
	g, err := graph.FromEdges(nodes, edges, false)
	if err != nil {
		t.Fatal(err)
	}
	s, err := graph.ShiftLaplacian.Of(g) // with a diagonal
	if err != nil {
		t.Fatal(err)
	}
	m, err := gnn.NewRandom(gnn.Config{In: in, Features: 3, Wide: &gnn.WideConfig{Order: 3}}, rng)
	if err != nil {
		t.Fatal(err)
	}
	signals := mat.NewDense(samples*nodes, in, nil)
	for k := range signals.Data {
		signals.Data[k] = float32(rng.NormFloat64())
	}
	read := []int{0, 3, 7}
	moment := online.InputMoment(m, s, signals, read, nil, nil)
	online.HearEach(moment, m, s, signals, read, nil)
	if len(moment.Heard) != 2 || moment.Heard[3] == nil || moment.Heard[7] == nil {
		t.Fatalf("got %d nodes, want 3 and 7 and not the hub", len(moment.Heard))
	}
	if err := moment.Validate(); err != nil {
		t.Fatal(err)
	}
	h := moment.Heard[3]
	if want := []int{0, 2, 4}; !slices.Equal(h.Neighbors, want) || h.Hops != 2 || h.Inputs != 8 || h.Size() != 8+3*2*2+1 {
		t.Fatalf("got %+v, want neighbours %v, two hops of two features", h, want)
	}
	p := h.Size()
	want := make([]float64, p*p)
	z := mat.NewDense(nodes, 4*in, nil)
	for k := range samples {
		new(gnn.Shifter).Shift(z, s, signals.View(k*nodes, 0, nodes, in))
		v := []float64{}
		for _, x := range z.Row(3) {
			v = append(v, float64(x))
		}
		for _, j := range h.Neighbors {
			for _, x := range z.Row(j)[in : 3*in] {
				v = append(v, float64(x))
			}
		}
		v = append(v, 1)
		for a := range p {
			for b := range p {
				want[a*p+b] += v[a] * v[b] / samples
			}
		}
	}
	for e := range want {
		if math.Abs(h.Moment[e]-want[e]) > 1e-9*(1+math.Abs(want[e])) {
			t.Fatalf("moment of node 3, element %d: got %v, want %v", e, h.Moment[e], want[e])
		}
	}
	for a := range moment.Inputs { // of the node alone it is the mean that all nodes read share
		sum := 0.0
		for _, i := range read[1:] {
			sum += moment.Heard[i].Moment[a*moment.Heard[i].Size()+a]
		}
		if !(sum >= 0 && sum <= 3*moment.Mean[a*(moment.Inputs+1)+a]*(1+1e-9)) {
			t.Errorf("input %d: mean squares of single nodes add up to %v, want at most three times the mean of all", a, sum)
		}
	}
}

// Where a model sends no hop that is its neighbour's own sum there is nothing to
// hear.
func TestHearEachOfShortFilters(t *testing.T) {
	s := mat.CSR{Rows: 1, Cols: 1, RowPtr: []int{0, 0}}
	for order, want := range []int{0, 0, 1} {
		m, err := gnn.NewRandom(gnn.Config{In: 1, Features: 1, Wide: &gnn.WideConfig{Order: order}}, random.Stream(1, "hear"))
		if err != nil {
			t.Fatal(err)
		}
		moment := online.InputMoment(m, &s, mat.NewDense(4, 1, []float32{1, 2, 3, 4}), nil, nil, nil)
		if online.HearEach(moment, m, &s, mat.NewDense(4, 1, []float32{1, 2, 3, 4}), nil, nil); len(moment.Heard) != want {
			t.Errorf("order %d: got %d nodes that hear, want %d", order, len(moment.Heard), want)
		}
	}
	online.HearEach(nil, &gnn.WideDeep{}, &s, mat.Dense{}, nil, nil) // without a wide part there is no moment
	if rule.HeardHops(1) != 0 {
		t.Error("a filter of order 1 sends inputs alone")
	}
}

// heardRule is how the preset neighbours learns.
func heardRule() rule.Config {
	return rule.Config{Retrain: rule.RetrainHeard, Newton: &rule.Newton{Doubt: 0.1, Fresh: 3, Restart: true}}
}

// hearing is the world with what its nodes heard on its first graph.
func (w *world) hearing() *rule.SecondMoment {
	var signals []float32
	for _, s := range w.samples {
		signals = append(signals, s.Signal.Data...)
	}
	m := *w.moment
	online.HearEach(&m, w.model, w.samples[0].Shift, mat.NewDense(len(w.samples)*w.nodes, 2, signals), w.read, nil)
	return &m
}

// Nodes that weight their neighbours one by one keep the contract of a learner,
// with moments of their own, without, and with no moment at all.
func TestConformanceHeard(t *testing.T) {
	w := newWorld(t, 7)
	for name, moment := range map[string]*rule.SecondMoment{"own moments": w.hearing(), "common scale": w.moment, "no moment": nil} {
		for path, c := range map[string]online.Config{"hop by hop": {Read: w.read, HopByHop: true}, "pruned": {Read: w.read}, "all": {}} {
			t.Run(name+", "+path, func(t *testing.T) {
				c.Nodes, c.Moment = w.nodes, moment
				s := w.labels(c)
				s.Refused = append(refused(s, c, heardRule()), global{loss.CrossEntropy{}})
				check(t, w.model, c, consensus(heardRule()), s)
			})
		}
	}
}

// Whoever computes the outputs of a few nodes alone and whoever computes all hop by
// hop learns the same, but for the rounding of y†.
func TestHeardPrunedAndHopByHop(t *testing.T) {
	w := newWorld(t, 9)
	var answers [2][]float32
	for k, hop := range []bool{false, true} {
		c := online.Config{Nodes: w.nodes, Read: w.read, HopByHop: hop, Moment: w.hearing()}
		l, err := online.NewConsensus(newObserver(t, w.model, c), heardRule())
		must(t, err)
		y := mat.NewDense(w.nodes, worldOutputs, nil)
		s := w.labels(c)
		for k, sample := range w.samples {
			must(t, l.Observe(sample))
			must(t, l.Predict(y))
			j, _ := s.Cost(k)
			must(t, l.Update(j))
		}
		for _, i := range w.read {
			answers[k] = append(answers[k], l.Params(i)...)
		}
	}
	for e, v := range answers[0] {
		if d := math.Abs(float64(v - answers[1][e])); d > 1e-5 {
			t.Errorf("parameter %d: pruned %v, hop by hop %v", e, v, answers[1][e])
		}
	}
}

// What a node learns from a neighbour is what that one has at its hops now, where
// the link is still there, and links that training did not know are not heard: a
// node that is alone, with its own row by hand, learns the same bits.
func TestHeardRowByHand(t *testing.T) {
	w := newWorld(t, 11)
	moment := w.hearing()
	c := online.Config{Nodes: w.nodes, Read: w.read, HopByHop: true, Moment: moment}
	r := heardRule()
	l, err := online.NewConsensus(newObserver(t, w.model, c), r)
	must(t, err)
	const i = 4
	h := moment.Heard[i]
	alone := rule.NewNode(rule.NodeConfig{Basis: l.Basis(), Config: &r, Rows: 1, Number: i})
	base, y := mat.NewDense(w.nodes, worldOutputs, nil), mat.NewDense(w.nodes, worldOutputs, nil)
	z := mat.NewDense(w.nodes, 6, nil)
	s, frozen, gone, fresh := w.labels(c), newObserver(t, w.model, c), 0, 0
	for k, sample := range w.samples {
		must(t, frozen.Observe(sample))
		must(t, frozen.Predict(base))
		must(t, l.Observe(sample))
		must(t, l.Predict(y))
		j, _ := s.Cost(k)
		must(t, l.Update(j))
		new(gnn.Shifter).Shift(z, sample.Shift, sample.Signal)
		row := slices.Clone(z.Row(i))
		for _, n := range h.Neighbors {
			if sample.Shift.At(i, n) == 0 {
				row = append(row, float32(math.NaN()), float32(math.NaN()))
				gone++
				continue
			}
			row = append(row, z.Row(n)[2:4]...) // hop 1: the model's filter is of order 2
		}
		links, _ := sample.Shift.Row(i)
		var near []int32
		for _, n := range links {
			if int(n) != i {
				near = append(near, n)
				if !slices.Contains(h.Neighbors, int(n)) {
					fresh++
				}
			}
		}
		got := make([]float32, worldOutputs)
		alone.Predict(got, base.Row(i), row)
		if !slices.Equal(got, y.Row(i)) {
			t.Fatalf("step %d: node %d answers %v, want %v", k, i, y.Row(i), got)
		}
		alone.Relink(near)
		alone.Observe(mat.NewDense(1, len(row), row), mat.NewDense(1, worldOutputs, base.Row(i)), []int32{i}, j)
		must(t, alone.Step(&rule.Heard{Weights: []float32{1}, Rows: []int32{0}}))
		alone.Commit()
		if !slices.Equal(alone.Params(), l.Params(i)) {
			t.Fatalf("step %d: node %d has %v, want %v", k, i, l.Params(i), alone.Params())
		}
	}
	if gone == 0 || fresh == 0 {
		t.Errorf("%d values were not heard and %d links new: the test shows nothing", gone, fresh)
	}
}

// A node with too many neighbours learns taps and bias by newton, as it would
// without the others; the rest hear.
func TestHeardHubLearnsTaps(t *testing.T) {
	rng := random.Stream(3, "hub")
	const nodes = 40
	var edges []graph.Edge
	for j := 1; j < nodes; j++ {
		edges = append(edges, graph.Edge{From: 0, To: j, Weight: 1})
	}
	g, err := graph.FromEdges(nodes, edges, false)
	must(t, err)
	s, err := graph.ShiftRowStochastic.Of(g)
	must(t, err)
	m, err := gnn.NewRandom(gnn.Config{In: 1, Features: 4, Outputs: 2, Wide: &gnn.WideConfig{Order: 3}}, rng)
	must(t, err)
	read := []int{0, 5}
	var learners []*online.Consensus
	for _, retrain := range []rule.Retrain{rule.RetrainHeard, rule.RetrainTapsAndBias} {
		r := rule.Config{Retrain: retrain, Newton: &rule.Newton{Doubt: 0.1}}
		l, err := online.NewConsensus(newObserver(t, m, online.Config{Nodes: nodes, Read: read}), r)
		must(t, err)
		learners = append(learners, l)
	}
	for k := range 20 {
		x := mat.NewDense(nodes, 1, nil)
		for e := range x.Data {
			x.Data[e] = float32(rng.NormFloat64())
		}
		labels := make([]int32, nodes)
		for i := range labels {
			labels[i] = loss.NoLabel
		}
		labels[0], labels[5] = rng.Int32N(2), rng.Int32N(2)
		for _, l := range learners {
			must(t, l.Observe(graph.Sample{Time: k, Shift: s, Signal: x}))
			must(t, l.Update(loss.CrossEntropy{Labels: labels}))
		}
	}
	if got, want := learners[0].Params(0), learners[1].Params(0); !slices.Equal(got, want) {
		t.Errorf("the hub has %v, want the taps %v of newton", got, want)
	}
	if got, want := learners[0].Params(5), learners[1].Params(5); slices.Equal(got, want) {
		t.Error("a leaf has the taps of newton, want that it hears the hub")
	}
	memory := learners[0].Snapshot().Nodes
	for i, want := range map[int]float64{0: 0, 5: 1, 6: 0} {
		if got := memory[i][5+3+len(memory[i].Params())]; got != want {
			t.Errorf("node %d hears %v neighbours one by one, want %v: a leaf hears the hub, and who is not read nobody", i, got, want)
		}
	}
}

// Where weights for single neighbours make no sense it is said what does.
func TestHeardRefused(t *testing.T) {
	w := newWorld(t, 7)
	short, err := gnn.NewRandom(gnn.Config{In: 2, Features: 3, Outputs: 3, Wide: &gnn.WideConfig{Order: 1}}, random.Stream(1, "short"))
	must(t, err)
	steps := rule.Paper(false).Ungated()
	steps.Retrain = rule.RetrainHeard
	for _, c := range []struct {
		m    *gnn.WideDeep
		c    online.Config
		make maker
		want string
	}{
		{w.model, online.Config{}, centralized(heardRule()), "try mode distributed, or own"},
		{w.model, online.Config{Delayed: true}, consensus(heardRule()), "change at every step: try own"},
		{short, online.Config{}, consensus(heardRule()), "the preset neighbours needs 2, try own"},
		{w.model, online.Config{Moment: w.moment}, consensus(steps), "by newton alone"},
	} {
		c.c.Nodes = w.nodes
		if _, err := c.make(newObserver(t, c.m, c.c)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
	if _, err := online.NewNode(w.model, heardRule(), nil); err == nil {
		t.Error("a learner of single rows has no neighbours: want an error")
	}
}

// What was learned of some neighbours is not given to a node that heard others.
func TestHeardMemoryOfOthers(t *testing.T) {
	w := newWorld(t, 7)
	c := online.Config{Nodes: w.nodes, Read: w.read, Moment: w.hearing()}
	l, err := online.NewConsensus(newObserver(t, w.model, c), heardRule())
	must(t, err)
	must(t, l.Observe(w.samples[0]))
	j, _ := w.labels(c).Cost(1)
	must(t, l.Update(j))
	s := l.Snapshot()
	first := 5 + 3 + len(s.Nodes[1].Params()) // whom it hears
	for name, spoil := range map[string]func(s rule.State){
		"another neighbour": func(s rule.State) { s[first+1] = float64((int(s[first+1]) + 1) % w.nodes) },
		"one less":          func(s rule.State) { s[first]-- },
		"not in order":      func(s rule.State) { s[first+1], s[first+2] = s[first+2], s[first+1] },
		"more than numbers": func(s rule.State) { s[first] = 1e9 },
	} {
		s = l.Snapshot()
		spoil(s.Nodes[1])
		if err := l.Restore(s); err == nil {
			t.Errorf("%s: got no error", name)
		}
	}
	must(t, l.Restore(l.Snapshot()))
}
