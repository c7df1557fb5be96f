package online_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/rule"
)

// silent is a rule that sends nothing.
type silent struct{ heavyBall }

func (silent) Sent() int { return 0 }

// What is wrong with a rule is said all at once.
func TestConfigComplains(t *testing.T) {
	bare, err := gnn.New(gnn.Config{In: 1, Features: 2, Wide: &gnn.WideConfig{Order: 1}, NoBias: true})
	must(t, err)
	deep, err := gnn.New(gnn.Config{In: 1, Features: 2, Deep: []gnn.LayerConfig{{Features: 2}}})
	must(t, err)
	for _, c := range []struct {
		m      *gnn.WideDeep
		moment *rule.SecondMoment
		r      rule.Config
		want   []string
	}{
		{deep, nil, rule.Config{}, []string{"no wide part"}},
		{bare, nil, rule.Config{Ridge: -1, Retrain: rule.RetrainTapsAndBias, Rule: silent{}}, []string{
			"ridge is -1", "no bias to retrain", "sends 0 vectors",
		}},
		{bare, &rule.SecondMoment{Inputs: 3, Mean: make([]float64, 16)}, ownTaps(), []string{"of 3 inputs, the wide part reads 2"}},
		{bare, &rule.SecondMoment{Inputs: 2}, ownTaps(), []string{"0 numbers, want 9"}},
	} {
		o, err := online.NewObserver(c.m, online.Config{Nodes: 3, Moment: c.moment})
		must(t, err) // a model is observed whether it can learn or not
		_, e1 := online.NewCentralized(o, c.r)
		_, e2 := online.NewConsensus(o, c.r)
		_, e3 := online.NewBasis(c.m, c.r, c.moment)
		for _, err := range []error{e1, e2, e3} {
			for _, want := range c.want {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%+v: error %v, want one with %q", c.r, err, want)
				}
			}
		}
	}
	for _, c := range []struct {
		c    online.Config
		want string
	}{
		{online.Config{}, "a network of 0 nodes"},
		{online.Config{Nodes: 3, Read: []int{1, 1}}, "node 1 to read, after 1, of a network of 3"},
		{online.Config{Nodes: 3, Read: []int{3}}, "node 3 to read"},
		{online.Config{Nodes: 3, Read: []int{-1}}, "node -1 to read"},
	} {
		if _, err := online.NewObserver(bare, c.c); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: error %v, want one with %q", c.c, err, c.want)
		}
	}
}

// A mixing matrix must let every node keep a weight of its own, and weights
// sum to 1. After the error the learner goes on.
func TestMixingMatrixIsChecked(t *testing.T) {
	b := newBig(t, 20, 1)
	l := newConsensus(t, b.model, online.Config{Nodes: b.nodes}, plain(0.1))
	good := b.samples[0]
	entries := func(keep func(i, j int, v float32) float32) *mat.CSR {
		var list []mat.Entry
		for i := range b.nodes {
			col, val := good.Mixing.Row(i)
			for e, j := range col {
				if v := keep(i, int(j), val[e]); v != 0 {
					list = append(list, mat.Entry{Row: i, Col: int(j), Val: v})
				}
			}
		}
		w, err := mat.FromEntries(b.nodes, b.nodes, list)
		must(t, err)
		return w
	}
	for want, w := range map[string]*mat.CSR{
		"need the sample's mixing matrix": nil,
		"gives node 4 no weight": entries(func(i, j int, v float32) float32 {
			return map[bool]float32{true: 0, false: v}[i == 4 && j == 4]
		}),
		"row 7 of the mixing matrix sums": entries(func(i, j int, v float32) float32 { return map[bool]float32{true: 2 * v, false: v}[i == 7] }),
	} {
		bad := good
		bad.Mixing = w
		must(t, l.Observe(bad))
		if err := l.Update(b.labels(0)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
	step(t, l, 5, good, b.labels(0))
	if d := l.Drift(); d.Steps != 1 || !(d.Moved > 0) || !(d.Disagreement > 0) {
		t.Errorf("drift %+v after a good step", d)
	}
}

// A model whose output is not finite is an error at the step where it happens.
func TestOutputThatIsNotFinite(t *testing.T) {
	b := newBig(t, 21, 1)
	for _, read := range [][]int{nil, {3, 4}} {
		l := newConsensus(t, b.model, online.Config{Nodes: b.nodes, Read: read}, plain(0.1))
		huge := b.samples[0]
		huge.Signal = huge.Signal.Clone()
		for i := range huge.Signal.Data {
			huge.Signal.Data[i] = math.MaxFloat32
		}
		if err := l.Observe(huge); err == nil || !strings.Contains(err.Error(), "too large") {
			t.Errorf("error %v, want one that says what is too large", err)
		}
		must(t, l.Observe(b.samples[0]))
	}
}

// The learner copies the list of nodes that are read.
func TestReadIsCopied(t *testing.T) {
	b := newBig(t, 22, 1)
	read := []int{2, 5}
	l := newConsensus(t, b.model, online.Config{Nodes: b.nodes, Read: read}, plain(0.1))
	read[0] = 99
	y := mat.NewDense(b.nodes, 5, nil)
	must(t, l.Observe(b.samples[0]))
	must(t, l.Predict(y))
	for i := range b.nodes {
		zero := y.At(i, 0) == 0 && y.At(i, 1) == 0
		if zero != (i != 2 && i != 5) {
			t.Errorf("node %d: output %v", i, y.Row(i))
		}
	}
}

// Reset goes back to the beginning, to the same bits.
func TestReset(t *testing.T) {
	b := newBig(t, 23, 4)
	c := online.Config{Nodes: b.nodes, Delayed: true, Moment: b.moment}
	type resetter interface {
		online.Learner
		Reset()
	}
	for _, l := range []resetter{newCentralized(t, b.model, c, ownTaps()), newConsensus(t, b.model, c, ownTaps())} {
		var first []mat.Dense
		for round := range 2 {
			for k, s := range b.samples {
				y := step(t, l, 5, s, b.labels(k))
				if round == 0 {
					first = append(first, y)
				} else {
					same(t, "after Reset", y, first[k], b.labelled(), 0)
				}
			}
			l.Reset()
			if d := l.Drift(); d != (online.Drift{}) {
				t.Errorf("drift %+v after Reset", d)
			}
		}
	}
}

// Play ends with the first error: of the context, the learner, the watch.
func TestPlayEnds(t *testing.T) {
	model, err := gnn.New(gnn.Config{In: 1, Features: 1, Wide: &gnn.WideConfig{Order: 1}, NoBias: true})
	must(t, err)
	y := mat.NewDense(3, 1, nil)
	stop := errors.New("stop")
	play := func(nodes int, gamma float64, watch func(step int) error) (int, error) {
		l := newCentralized(t, model, online.Config{Nodes: nodes}, plain(gamma))
		ctx, cancel := context.WithCancel(t.Context())
		err := online.Play(ctx, y, l, newDoubler(20), func(step int, _ mat.Dense, _ loss.Loss) error {
			err := watch(step)
			if errors.Is(err, context.Canceled) {
				cancel()
				return nil
			}
			return err
		})
		cancel()
		return l.Drift().Steps, err
	}
	at := func(stopAt int, err error) func(int) error {
		return func(step int) error {
			if step == stopAt {
				return err
			}
			return nil
		}
	}
	if n, err := play(3, 0.1, at(99, nil)); n != 20 || err != nil {
		t.Errorf("%d steps and %v, want 20", n, err)
	}
	if n, err := play(3, 0.1, at(7, stop)); n != 7 || !errors.Is(err, stop) {
		t.Errorf("watch: %d steps and %v, want 7 and its error", n, err)
	}
	if n, err := play(3, 0.1, at(7, context.Canceled)); n != 8 || !errors.Is(err, context.Canceled) {
		t.Errorf("context: %d steps and %v, want 8", n, err)
	}
	if n, err := play(4, 0.1, at(99, nil)); n != 0 || err == nil {
		t.Errorf("a network of other size: %d steps and %v", n, err)
	}
	if n, err := play(3, 1e30, at(99, nil)); n > 3 || !errors.Is(err, online.ErrDiverged) || !strings.Contains(err.Error(), "step ") {
		t.Errorf("divergence: %d steps and %v", n, err)
	}
}

// Nodes that are never read pass on what they hear: the
// taps of a node without a cost follow those of its neighbours.
func TestNodesWithoutCostPassOn(t *testing.T) {
	b := newBig(t, 24, 1)
	s := sampleOn(t, graph.Ring(b.nodes), b.samples[0].Signal)
	l := newConsensus(t, b.model, online.Config{Nodes: b.nodes, Read: []int{0}}, plain(0.5))
	labels := b.labels(0)
	for i := range labels.Labels {
		labels.Labels[i] = loss.NoLabel
	}
	labels.Labels[0] = 1
	for k := range 6 {
		step(t, l, 5, s, labels)
		for i := range b.nodes {
			hops := min(i, b.nodes-i)
			if moved := l.Basis().Distance(l.Params(i), nil) > 0; moved != (hops <= k) {
				t.Errorf("after %d steps node %d, %d hops away, has moved: %t", k+1, i, hops, moved)
			}
		}
	}
}
