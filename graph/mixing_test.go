package graph

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/random"
)

func allMixings() []Mixing {
	return []Mixing{MixingMetropolis, MixingMaxDegree, MixingSinkhorn, MixingIdentity}
}

// checkMixing fails the test unless w keeps the promises of Mixing on g.
func checkMixing(t *testing.T, what string, g *Graph, w *mat.CSR) {
	t.Helper()
	if _, err := checked("", w); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	wt := w.T()
	for i := range g.Nodes() {
		if row, column := rowSum(w, i), rowSum(wt, i); math.Abs(row-1) > 1e-6 || math.Abs(column-1) > 1e-6 {
			t.Errorf("%s: row %d sums to %v, column to %v, want 1", what, i, row, column)
		}
		diagonal := false
		col, val := w.Row(i)
		for e, j := range col {
			diagonal = diagonal || int(j) == i
			if val[e] < 0 {
				t.Errorf("%s (%d,%d): got %v, want ≥ 0", what, i, j, val[e])
			}
			if int(j) != i && !hasEdge(g, i, int(j)) {
				t.Errorf("%s (%d,%d): got %v where there is no link", what, i, j, val[e])
			}
		}
		if !diagonal {
			t.Errorf("%s: row %d has no entry on the diagonal", what, i)
		}
		if g.Degree(i) == 0 && w.At(i, i) != 1 {
			t.Errorf("%s: isolated node %d has W_ii = %v, want 1", what, i, w.At(i, i))
		}
	}
	if !g.Directed() && !w.Equal(wt) {
		t.Errorf("%s: not symmetric", what)
	}
}

// Reference: Section 3, eq. (9), and Assumption 5.
func TestMixingPromises(t *testing.T) {
	for name, g := range sorted(zoo()) {
		for _, m := range allMixings() {
			checkMixing(t, name+", "+m.String(), g, must(m.Of(g)))
		}
	}
}

// Repeated mixing brings connected nodes to their mean, and σ₂ says how fast.
func TestMixingReachesConsensus(t *testing.T) {
	g := zoo()["blocks"]
	for _, m := range []Mixing{MixingMetropolis, MixingMaxDegree, MixingSinkhorn} {
		w := must(m.Of(g))
		sigma := SecondSingularValue(w)
		if sigma <= 0 || sigma >= 1 {
			t.Errorf("%v: σ₂ is %v, want between 0 and 1", m, sigma)
		}
		rng := random.Stream(1, "consensus")
		x, y := make([]float64, g.Nodes()), make([]float64, g.Nodes())
		mean := 0.0
		for i := range x {
			x[i] = rng.NormFloat64()
			mean += x[i] / float64(len(x))
		}
		spread := func() float64 {
			sum := 0.0
			for _, v := range x {
				sum += (v - mean) * (v - mean)
			}
			return math.Sqrt(sum)
		}
		for range 10 {
			before := spread()
			multiply(y, w, x)
			x, y = y, x
			if after := spread(); after > sigma*before+1e-6 {
				t.Errorf("%v: spread went from %v to %v, want a factor of at most %v", m, before, after, sigma)
			}
		}
	}
}

func TestMixingFormulas(t *testing.T) {
	// 0 - 1 - 2, 1 - 3 - 4: degrees 1 3 1 2 1. Link weights play no part.
	g := must(FromEdges(5, []Edge{{0, 1, 9}, {1, 2, 1}, {1, 3, 1}, {3, 4, 5}}, false))
	for _, c := range []struct {
		mixing Mixing
		i, j   int
		want   float64
	}{
		{MixingMetropolis, 0, 1, 1. / 4},
		{MixingMetropolis, 3, 1, 1. / 4},
		{MixingMetropolis, 3, 4, 1. / 3},
		{MixingMetropolis, 3, 3, 1 - 1./4 - 1./3},
		{MixingMetropolis, 1, 1, 1. / 4},
		{MixingMaxDegree, 0, 1, 1. / 4},
		{MixingMaxDegree, 3, 4, 1. / 4},
		{MixingMaxDegree, 3, 3, 1. / 2},
		{MixingMaxDegree, 1, 1, 1. / 4},
	} {
		if got := must(c.mixing.Of(g)).At(c.i, c.j); !near(float64(got), c.want, 1e-7) {
			t.Errorf("%v (%d,%d): got %v, want %v", c.mixing, c.i, c.j, got, c.want)
		}
	}
	// Two nodes joined by weight a: the scaled [1 a; a 1] is [1 a; a 1]/(1+a).
	pair := must(FromEdges(2, []Edge{{0, 1, 3}}, false))
	if got := must(Sinkhorn(pair)).At(0, 1); got != 0.75 {
		t.Errorf("Sinkhorn of a pair: got %v, want 0.75", got)
	}
}

func TestMixingOfDirected(t *testing.T) {
	rng := random.Stream(1, "directed")
	strong := must(UntilConnected(100, func() (*Graph, error) { return FromEdges(15, randomEdges(15, 0.3, true, rng), true) }))
	for _, m := range []Mixing{MixingMetropolis, MixingMaxDegree} {
		_, err := m.Of(strong)
		wantError(t, err, m.String(), "directed", "try sinkhorn")
	}
	checkMixing(t, "directed sinkhorn", strong, must(Sinkhorn(strong)))
	checkMixing(t, "directed identity", strong, must(MixingIdentity.Of(strong)))

	chain := must(FromEdges(3, []Edge{{0, 1, 1}, {1, 2, 1}}, true))
	_, err := Sinkhorn(chain)
	wantError(t, err, "sinkhorn", "rounds", "try metropolis")
}

func TestSinkhornSlowAndWeighted(t *testing.T) {
	checkMixing(t, "long path", Grid(1, 200), must(Sinkhorn(Grid(1, 200))))
	steep := must(FromEdges(4, []Edge{{0, 1, 1e3}, {1, 2, 1e-3}, {2, 3, 1}}, false))
	checkMixing(t, "steep weights", steep, must(Sinkhorn(steep)))
}

// Two separate parts of one graph mix within themselves only, so σ₂ = 1.
func TestSecondSingularValue(t *testing.T) {
	if got := SecondSingularValue(must(Metropolis(zoo()["two pieces"]))); !near(got, 1, 1e-6) {
		t.Errorf("two pieces: got %v, want 1", got)
	}
	if got := SecondSingularValue(must(Metropolis(Ring(3)))); !near(got, 0, 1e-6) {
		t.Errorf("complete graph: got %v, want 0", got)
	}
	// The weights of a ring have eigenvalues (1 + 2 cos(2πk/N))/3.
	want := (1 + 2*math.Cos(2*math.Pi/9)) / 3
	if got := SecondSingularValue(must(Metropolis(Ring(9)))); !near(got, want, 1e-6) {
		t.Errorf("ring: got %v, want %v", got, want)
	}
	for n := range 2 {
		if got := SecondSingularValue(identity(n)); got != 0 {
			t.Errorf("%d nodes: got %v, want 0", n, got)
		}
	}
}

func TestMixingNames(t *testing.T) {
	for _, m := range allMixings() {
		if got := must(ParseMixing(m.String())); got != m {
			t.Errorf("%v: parsed as %v", m, got)
		}
		var got struct{ Mixing Mixing }
		text := must(json.Marshal(struct{ Mixing Mixing }{m}))
		if err := json.Unmarshal(text, &got); err != nil || got.Mixing != m {
			t.Errorf("%s: got %v, %v", text, got, err)
		}
	}
	_, err := ParseMixing("hastings")
	wantError(t, err, `"hastings"`, "metropolis, max-degree")
	_, err = Mixing(4).MarshalText()
	wantError(t, err, "4")
	_, err = Mixing(4).Of(Ring(3))
	wantError(t, err, "Mixing(4)", "try")
	if !MixingMetropolis.Local() || MixingMaxDegree.Local() || MixingSinkhorn.Local() || !MixingIdentity.Local() {
		t.Error("Local is wrong for one of the mixings")
	}
}
