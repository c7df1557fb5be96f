package certify

import (
	"context"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/config"
	"github.com/wdgnn/wdgnn/internal/crown"
	"github.com/wdgnn/wdgnn/internal/data"
	"github.com/wdgnn/wdgnn/internal/lifecycle"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/random"
)

// predicted returns the outputs of all nodes for the signals of a file, 6×3 each.
func (f *onlineCase) predicted(m *modelfile.Model, links string) []float32 {
	f.Helper()
	f.text("p.csv", links)
	observed, err := data.Load(data.Files{Graph: filepath.Join(f.dir, "p.csv"), Signals: filepath.Join(f.dir, "s.npy"), Nodes: 6})
	if err != nil {
		f.Fatal(err)
	}
	p, err := lifecycle.Predict(context.Background(), m, observed, nil, 1)
	if err != nil {
		f.Fatal(err)
	}
	return p.Values
}

const (
	ringLinks = "0,1\n1,2\n2,3\n3,4\n4,5\n5,0\n"
	lostLinks = "0,1\n1,2\n2,3\n4,5\n5,0\n"
)

// ringWithout is a ring of 6 nodes without the links from some to the next.
func ringWithout(t *testing.T, lost ...int) *graph.Graph {
	t.Helper()
	var edges []graph.Edge
	for i := range 6 {
		if !slices.Contains(lost, i) {
			edges = append(edges, graph.Edge{From: i, To: (i + 1) % 6, Weight: 1})
		}
	}
	g, err := graph.FromEdges(6, edges, false)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// A model whose nodes learned taps of their own is certified with these: what
// `predict` answers changes by no more than the certificate, for random signals
// and for those that a search finds, and by more than the certificate of the taps
// as trained.
//
// Reference: Theorem 1, doc/theory.md "The direct certificate".
func TestCertificateIsOfOwnTaps(t *testing.T) {
	f := newOnlineCase(t, config.Regress, false)
	f.model.Meta.Nodes = nil
	targets := f.floats("y.npy")
	for i := range targets {
		targets[i] *= 20 // so that learning matters
	}
	f.save("y.npy", []int{20, 6, 3}, targets)
	m := f.adapted("mode: distributed, preset: own, gate: off")
	intact := graph.Ring(6)
	lost := ringWithout(t, 3)
	report, err := Graphs(context.Background(), m, intact, lost, Options{Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	trained, err := Graphs(context.Background(), f.model, intact, lost, Options{Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	bound, before := float64(report.Bounds[1].Bound), float64(trained.Bounds[1].Bound)
	if report.Own != 6 || trained.Own != 0 || report.Checks[1].Holds ||
		!strings.Contains(report.Checks[1].Text, "6 of 6 have taps, or weights of neighbours, of their own") ||
		!math.IsNaN(float64(report.Bounds[4].Bound)) || len(report.Missing) != 1 {
		t.Errorf("got %d own taps, %+v, %v; want 6, said in words, and no bound of Theorem 1", report.Own, report.Checks, report.Missing)
	}
	for _, c := range report.Responses {
		if c.Filter == "wide" {
			t.Error("a response of the wide filter, of which every node has another")
			break
		}
	}
	worst := f.worstChange(m, intact, lost)
	t.Logf("certificate %.4g, of the taps as trained %.4g, worst found %.4g", bound, before, worst)
	if worst > bound*(1+1e-5) {
		t.Errorf("a signal of length 1 changes the answers by %v, the certificate says %v", worst, bound)
	}
	if worst <= before {
		t.Errorf("the worst found, %v, is within the certificate of the trained taps, %v: the test asks for nothing", worst, before)
	}
	if worst < bound/20 {
		t.Errorf("the worst found is %v, the certificate %v: looser than it should be", worst, bound)
	}
}

// worstChange looks for a signal of length 1 that changes what predict answers as
// much as possible: random ones, and climbs from some of them.
func (f *onlineCase) worstChange(m *modelfile.Model, intact, lost *graph.Graph) float64 {
	f.Helper()
	own, err := lifecycle.NodeTapsOf(m)
	if err != nil {
		f.Fatal(err)
	}
	s, err := m.Meta.Shift.Of(intact)
	if err != nil {
		f.Fatal(err)
	}
	sHat, err := m.Meta.Shift.Of(lost)
	if err != nil {
		f.Fatal(err)
	}
	net, err := exact(m, own, s, sHat)
	if err != nil {
		f.Fatal(err)
	}
	climb := searched{m.Network, own, net, s, sHat, nil}
	rng := random.Stream(9, "worst")
	const count, size = 400, 6 * 2
	signals := make([]float32, count*size)
	for k := range count {
		x := signals[k*size : (k+1)*size]
		start := make([]float64, size)
		for i := range x {
			x[i] = float32(rng.NormFloat64())
		}
		normalise(x, 1)
		if k%10 == 0 {
			for i, v := range x {
				start[i] = float64(v)
			}
			copy(x, climb.harmful(start).Data)
		}
	}
	f.save("s.npy", []int{count, 6, 2}, signals)
	before, after := f.predicted(m, ringLinks), f.predicted(m, lostLinks)
	worst := 0.0
	for k := range count {
		sum := 0.0
		for i := range 6 * 3 {
			d := float64(before[k*18+i]) - float64(after[k*18+i])
			sum += d * d
		}
		worst = max(worst, math.Sqrt(sum))
	}
	return worst
}

// The network of package theory with the nodes' taps answers as predict does, and
// taps of a network of another size are refused.
func TestOwnTapsInTheory(t *testing.T) {
	f := newOnlineCase(t, config.Regress, false)
	f.model.Meta.Nodes = nil
	m := f.adapted("mode: distributed, preset: own, gate: off")
	own, err := lifecycle.NodeTapsOf(m)
	if err != nil {
		t.Fatal(err)
	}
	f.save("s.npy", []int{20, 6, 2}, f.floats("x.npy"))
	s, err := m.Meta.Shift.Of(graph.Ring(6))
	if err != nil {
		t.Fatal(err)
	}
	net, err := exact(m, own, s, s)
	if err != nil {
		t.Fatal(err)
	}
	want := f.predicted(m, ringLinks)
	for k := range 20 {
		x := make([]float64, 12)
		for i, v := range f.floats("x.npy")[k*12 : (k+1)*12] {
			x[i] = float64(v)
		}
		for i, got := range net.Forward(crown.NewShift(s), x) {
			if want := float64(want[k*18+i]); math.Abs(got-want) > 1e-4*max(1, math.Abs(want)) {
				t.Fatalf("sample %d, output %d: got %v, want %v", k, i, got, want)
			}
		}
	}
	larger, err := m.Meta.Shift.Of(graph.Ring(7))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := exact(m, own, larger, larger); err == nil || !strings.Contains(err.Error(), "6 nodes") {
		t.Errorf("got %v, want that the graph has another size", err)
	}
}

// A model whose nodes weight their neighbours one by one is certified with these
// weights, those of a neighbour only while it is heard: a link is lost on one graph, and
// heard of on the other alone if the graphs change places. The theorems about runs are
// about taps, which is said.
//
// Reference: doc/theory.md "The direct certificate".
func TestCertificateIsOfHeardWeights(t *testing.T) {
	f := newOnlineCase(t, config.Classify, false)
	const heard = "mode: distributed, preset: neighbours, gate: off"
	m := f.adapted(heard)
	ring, lost := graph.Ring(6), ringWithout(t, 0, 3)
	for name, c := range map[string][2]*graph.Graph{"lost": {ring, lost}, "found": {lost, ring}} {
		report, err := Graphs(context.Background(), m, c[0], c[1], Options{Seed: 3})
		if err != nil {
			t.Fatal(err)
		}
		trained, err := Graphs(context.Background(), f.model, c[0], c[1], Options{Seed: 3})
		if err != nil {
			t.Fatal(err)
		}
		any, before := report.Bounds[1], trained.Bounds[1]
		t.Logf("%s: certificate %.4g, worst found %.4g; as trained %.4g", name, any.Bound, any.Measured, before.Bound)
		if report.Own == 0 || !any.Proven || any.Measured > any.Bound*(1+1e-5) || any.Measured <= before.Bound || any.Ratio > 5 {
			t.Errorf("%s, %d nodes with weights: got %+v, want it proven, at most five times what was found, and that beyond %v, as trained",
				name, report.Own, any, before.Bound)
		}
	}
	if _, err := Run(context.Background(), f.config(heard), f.model, nil); err == nil || !strings.Contains(err.Error(), "second derivatives") {
		t.Errorf("a run: got %v, want that the theorems are about gradient steps", err)
	}
}
