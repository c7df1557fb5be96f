package online_test

import (
	"testing"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/rule"
)

// BenchmarkStep is one whole step, Predict and Update, of source localization:
// 50 nodes in five blocks, a signal of one feature, two layers of 32, five
// detectors that are read. Nothing may be allocated.
func BenchmarkStep(b *testing.B) {
	s := newLocalization(b)
	for _, c := range []struct {
		name string
		make maker
	}{
		{"frozen", func(o *online.Observer) (online.Learner, error) { return o, nil }},
		{"centralized/paper", centralized(rule.Paper(true).Ungated())},
		{"centralized/own", centralized(ownTaps())},
		{"consensus/paper", consensus(rule.Paper(false).Ungated())},
		{"consensus/own", consensus(ownTaps())},
	} {
		b.Run(c.name, func(b *testing.B) {
			l, err := c.make(s.observer(b, s.detectors))
			must(b, err)
			y := mat.NewDense(s.nodes, 5, nil)
			t := 0
			step := func() {
				k := t % len(s.samples)
				must(b, l.Observe(s.samples[k]))
				must(b, l.Predict(y))
				must(b, l.Update(s.costs[k]))
				t++
			}
			for range 60 { // fills the window
				step()
			}
			b.ReportAllocs()
			for b.Loop() {
				step()
			}
		})
	}
}

// BenchmarkOnlineStep is what wdgnn online does with a sample: the model as
// trained answers, and a distributed learner beside it answers and learns. With
// observers of their own the forward pass, which never changes, is computed for
// each of them; on a shared one, once.
func BenchmarkOnlineStep(b *testing.B) {
	s := newLocalization(b)
	for _, c := range []struct {
		name string
		read []int
	}{{"detectors", s.detectors}, {"all nodes", nil}} {
		for _, sharing := range []string{"own observers", "shared"} {
			b.Run(c.name+"/"+sharing, func(b *testing.B) {
				frozen := s.observer(b, c.read)
				observers := []*online.Observer{frozen}
				if sharing != "shared" {
					observers = append(observers, s.observer(b, c.read))
				}
				learner, err := online.NewConsensus(observers[len(observers)-1], rule.Paper(false).Ungated())
				must(b, err)
				y, t := mat.NewDense(s.nodes, 5, nil), 0
				b.ReportAllocs()
				for b.Loop() {
					k := t % len(s.samples)
					for _, o := range observers {
						must(b, o.Observe(s.samples[k]))
					}
					must(b, frozen.Predict(y))
					must(b, learner.Predict(y))
					must(b, learner.Update(s.costs[k]))
					t++
				}
			})
		}
	}
}

// localization is a stream of the size of source localization, with random
// signals.
type localization struct {
	nodes     int
	detectors []int
	model     *gnn.WideDeep
	samples   []graph.Sample
	costs     []loss.Loss
	moment    *rule.SecondMoment
}

func newLocalization(tb testing.TB) *localization {
	tb.Helper()
	rng := random.Stream(1, "online bench")
	l := &localization{nodes: 50, detectors: []int{1, 11, 21, 31, 41}, moment: new(rule.SecondMoment)}
	g, err := graph.SBM(graph.SBMConfig{Sizes: []int{10, 10, 10, 10, 10}, Intra: 0.8, Inter: 0.2}, rng)
	must(tb, err)
	shift, err := graph.ShiftSpectral.Of(g)
	must(tb, err)
	mixing, err := graph.Metropolis(g)
	must(tb, err)
	l.model, err = gnn.NewRandom(gnn.Config{
		In: 1, Features: 32, Outputs: 5, Wide: &gnn.WideConfig{Order: 5},
		Deep: []gnn.LayerConfig{{Order: 5, Features: 32}, {Order: 5, Features: 32}},
	}, rng)
	must(tb, err)
	var shifter gnn.Shifter
	z := mat.NewDense(l.nodes, 6, nil)
	for t := range 100 {
		x := mat.NewDense(l.nodes, 1, nil)
		for i := range x.Data {
			x.Data[i] = rng.Float32()
		}
		shifter.Shift(z, shift, x)
		l.moment.Add(z, 6)
		labels := make([]int32, l.nodes)
		for i := range labels {
			labels[i] = loss.NoLabel
		}
		for _, d := range l.detectors {
			labels[d] = int32(t % 5)
		}
		l.samples = append(l.samples, graph.Sample{Time: t, Shift: shift, Mixing: mixing, Signal: x})
		l.costs = append(l.costs, loss.CrossEntropy{Labels: labels})
	}
	return l
}

func (l *localization) observer(tb testing.TB, read []int) *online.Observer {
	tb.Helper()
	return newObserver(tb, l.model, online.Config{Nodes: l.nodes, Read: read, Moment: l.moment})
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}
