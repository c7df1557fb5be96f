package graph

import (
	"math"
	"math/cmplx"
	"slices"
	"testing"

	gonum "gonum.org/v1/gonum/mat"

	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/random"
)

func TestLargestEigenvalueKnown(t *testing.T) {
	path := func(n int) float64 { return 2 * math.Cos(math.Pi/float64(n+1)) }
	for _, c := range []struct {
		name string
		a    *mat.CSR
		want float64
	}{
		{"empty", Ring(0).Adjacency(), 0},
		{"isolated", must(FromEdges(4, nil, false)).Adjacency(), 0},
		{"pair", Ring(2).Adjacency(), 1},
		{"ring", Ring(31).Adjacency(), 2},
		{"long ring", Ring(500).Adjacency(), 2},
		{"Laplacian of a long ring", must(ShiftLaplacian.Of(Ring(500))), 4},
		{"path", Grid(1, 20).Adjacency(), path(20)},
		{"long path", Grid(1, 700).Adjacency(), path(700)},
		{"grid", Grid(30, 20).Adjacency(), path(30) + path(20)},
		{"star", zoo()["star"].Adjacency(), math.Sqrt(8)},
		{"bipartite", zoo()["bipartite"].Adjacency(), math.Sqrt(15)},
		{"two pieces", zoo()["two pieces"].Adjacency(), 2 * math.Sqrt2},
		{"complete", must(ErdosRenyi(100, 1, random.Stream(1, "complete"))).Adjacency(), 99},
		{"identity", identity(200), 1},
	} {
		if got := LargestEigenvalue(c.a); !near(got, c.want, 1e-10) {
			t.Errorf("%s: got %.15g, want %.15g", c.name, got, c.want)
		}
		// The iteration itself, on small matrices too.
		if c.a.NNZ() > 0 {
			if got := lanczos(c.a); !near(got, c.want, 1e-10) {
				t.Errorf("%s: Lanczos gives %.15g, want %.15g", c.name, got, c.want)
			}
		}
	}
	wantPanic(t, "LargestEigenvalue", func() { LargestEigenvalue(&mat.CSR{Rows: 1, Cols: 2, RowPtr: []int{0, 0}}) })
}

// The iteration and the dense factorisation agree, on adjacencies and on
// Laplacians, connected or not.
func TestLanczosIsSpectrum(t *testing.T) {
	rng := random.Stream(1, "lanczos")
	graphs := zoo()
	graphs["in many pieces"] = must(ErdosRenyi(150, 0.008, rng))
	graphs["geometric"] = must(Geometric(scattered(150, 0, 12, 12, rng), 1.5))
	graphs["weighted 100"] = must(FromEdges(100, randomEdges(100, 0.1, false, rng), false))
	for name, g := range sorted(graphs) {
		for _, s := range []Shift{ShiftAdjacency, ShiftLaplacian, ShiftNormalizedLaplacian} {
			op := must(s.Of(g))
			if op.NNZ() == 0 {
				continue
			}
			values := must(Spectrum(op))
			want := max(-values[0], values[len(values)-1])
			if got := lanczos(op); !near(got/want, 1, 1e-10) {
				t.Errorf("%s, %v: got %.15g, want %.15g", name, s, got, want)
			}
		}
	}
}

// Weights may differ by all that a float32 can express, and parts of a graph
// may be negligible beside others.
func TestEigenvaluesOfSteepWeights(t *testing.T) {
	rng := random.Stream(1, "steep")
	for range 300 {
		edges := randomEdges(7, 0.5, false, rng)
		if len(edges) == 0 {
			continue
		}
		for k := range edges {
			edges[k].Weight = math.Pow(10, 82*rng.Float64()-44)
		}
		a := must(FromEdges(7, edges, false)).Adjacency()
		values := must(Spectrum(a))
		got, want := LargestEigenvalue(a), lanczos(a)
		if !slices.IsSorted(values) || !near(got/want, 1, 1e-10) || !near(values[6]/want, 1, 1e-10) {
			t.Fatalf("%v: got %v and %v, want %v", edges, got, values, want)
		}
	}
}

// Counting eigenvalues survives pivots of zero, whatever their sign.
func TestTridiagonalZeroPivots(t *testing.T) {
	for _, zero := range []float64{0, math.Copysign(0, -1)} {
		m := tridiagonal{diag: []float64{zero, zero, zero}, side: []float64{1, 1}}
		if got := m.below(0); got != 1 {
			t.Errorf("eigenvalues below 0: got %d, want 1", got)
		}
		for k, want := range []float64{-math.Sqrt2, 0, math.Sqrt2} {
			if got := m.eigenvalue(k); !near(got, want, 1e-15) {
				t.Errorf("eigenvalue %d: got %v, want %v", k, got, want)
			}
		}
	}
}

// The power method on strong components agrees with the dense factorisation of
// the whole matrix.
func TestSpectralRadius(t *testing.T) {
	dense := func(a *mat.CSR) float64 {
		var eigen gonum.Eigen
		eigen.Factorize(gonum.NewDense(a.Rows, a.Cols, float64s(a)), gonum.EigenNone)
		radius := 0.0
		for _, v := range eigen.Values(nil) {
			radius = max(radius, cmplx.Abs(v))
		}
		return radius
	}
	rng := random.Stream(1, "radius")
	for _, c := range []struct {
		n int
		p float64
	}{{10, 0.2}, {40, 0.05}, {100, 0.02}, {100, 0.05}, {120, 0.2}} {
		a := must(FromEdges(c.n, randomEdges(c.n, c.p, true, rng), true)).Adjacency()
		if got, want := LargestEigenvalue(a), dense(a); !near(got, want, 1e-8) {
			t.Errorf("%d nodes, p = %v: got %.15g, want %.15g", c.n, c.p, got, want)
		}
	}
	cycle := func(n int) []Edge {
		var edges []Edge
		for i := range n {
			edges = append(edges, Edge{From: i, To: (i + 1) % n, Weight: 1})
		}
		return edges
	}
	// All eigenvalues of a cycle have absolute value 1; a cycle with one
	// weight of 2 has 2^(1/n), and there the power method is slow.
	for _, n := range []int{3, 100} {
		if got := LargestEigenvalue(must(FromEdges(n, cycle(n), true)).Adjacency()); !near(got, 1, 1e-10) {
			t.Errorf("cycle of %d: got %v, want 1", n, got)
		}
		uneven := cycle(n)
		uneven[0].Weight = 2
		want := math.Pow(2, 1/float64(n))
		if got := LargestEigenvalue(must(FromEdges(n, uneven, true)).Adjacency()); !near(got, want, 1e-9) {
			t.Errorf("uneven cycle of %d: got %v, want %v", n, got, want)
		}
	}
	rotation := must(mat.FromEntries(2, 2, []mat.Entry{{Row: 0, Col: 1, Val: -3}, {Row: 1, Col: 0, Val: 3}}))
	if got := LargestEigenvalue(rotation); !near(got, 3, 1e-12) {
		t.Errorf("rotation: got %v, want 3", got)
	}
}

func TestSpectrum(t *testing.T) {
	got := must(Spectrum(Ring(4).Adjacency()))
	for k, want := range []float64{-2, 0, 0, 2} {
		if !near(got[k], want, 1e-12) {
			t.Errorf("eigenvalue %d of a ring: got %v, want %v", k, got[k], want)
		}
	}
	if !slices.IsSorted(got) || len(got) != 4 {
		t.Errorf("got %v, want four ascending values", got)
	}
	if got := must(Spectrum(Ring(0).Adjacency())); len(got) != 0 {
		t.Errorf("no nodes: got %v", got)
	}
	for name, g := range sorted(zoo()) { // against gonum's own eigenvalues
		op := must(ShiftLaplacian.Of(g))
		var eigen gonum.EigenSym
		if g.Nodes() == 0 || !eigen.Factorize(gonum.NewSymDense(op.Rows, float64s(op)), false) {
			continue
		}
		values := must(Spectrum(op))
		for k, want := range eigen.Values(nil) {
			if got := values[k]; !near(got, want, 1e-12*(1+LargestEigenvalue(op))) {
				t.Errorf("%s: eigenvalue %d: got %v, want %v", name, k, got, want)
			}
		}
	}
	_, err := Spectrum(must(FromEdges(3, []Edge{{0, 2, 5}}, true)).Adjacency())
	wantError(t, err, "(2,0) is 5", "(0,2) is 0", "symmetric")
	wantPanic(t, "Spectrum", func() { Spectrum(&mat.CSR{Rows: 1, Cols: 2, RowPtr: []int{0, 0}}) })
}
