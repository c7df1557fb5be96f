package graph

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/random"
)

func allShifts() []Shift {
	return []Shift{ShiftAdjacency, ShiftSpectral, ShiftSymmetric, ShiftLaplacian, ShiftNormalizedLaplacian, ShiftRowStochastic}
}

// Every operator against its formula, entry by entry, on every graph.
func TestShiftFormulas(t *testing.T) {
	for name, g := range sorted(zoo()) {
		a, lambda := g.Adjacency(), LargestEigenvalue(g.Adjacency())
		formula := map[Shift]func(i, j int, aij, di, dj float64) float64{
			ShiftAdjacency: func(i, j int, aij, di, dj float64) float64 { return aij },
			ShiftSpectral:  func(i, j int, aij, di, dj float64) float64 { return ratio(aij, lambda) },
			ShiftSymmetric: func(i, j int, aij, di, dj float64) float64 { return ratio(aij, math.Sqrt(di*dj)) },
			ShiftLaplacian: func(i, j int, aij, di, dj float64) float64 {
				if i == j {
					return di
				}
				return -aij
			},
			ShiftNormalizedLaplacian: func(i, j int, aij, di, dj float64) float64 {
				if i == j {
					return ratio(di, di)
				}
				return -ratio(aij, math.Sqrt(di*dj))
			},
			ShiftRowStochastic: func(i, j int, aij, di, dj float64) float64 { return ratio(aij, di) },
		}
		for _, s := range allShifts() {
			op := must(s.Of(g))
			if _, err := checked("", op); err != nil {
				t.Errorf("%s, %v: %v", name, s, err)
			}
			for i := range g.Nodes() {
				if col, _ := op.Row(i); g.Degree(i) == 0 && len(col) > 0 {
					t.Errorf("%s, %v: isolated node %d has entries in columns %v", name, s, i, col)
				}
				for j := range g.Nodes() {
					want := formula[s](i, j, float64(a.At(i, j)), g.WeightedDegree(i), g.WeightedDegree(j))
					if got := float64(op.At(i, j)); !near(got, want, 1e-7) {
						t.Errorf("%s, %v (%d,%d): got %v, want %v", name, s, i, j, got, want)
					}
				}
			}
		}
	}
}

// ratio is x/y, 0 where y is.
func ratio(x, y float64) float64 {
	if y == 0 {
		return 0
	}
	return x / y
}

// Renaming the nodes renames rows and columns of S and changes nothing else.
// Reference: Section 4, permutation equivariance.
func TestShiftPermutationEquivariance(t *testing.T) {
	rng := random.Stream(1, "permutation")
	graphs := zoo()
	graphs["directed"] = must(FromEdges(15, randomEdges(15, 0.3, true, rng), true))
	for graphName, g := range sorted(graphs) {
		name := rng.Perm(g.Nodes())
		h := permuted(g, name)
		for _, s := range allShifts() {
			if g.Directed() && (s == ShiftSymmetric || s == ShiftNormalizedLaplacian) {
				continue
			}
			want, got := must(s.Of(g)), must(s.Of(h))
			for i := range g.Nodes() {
				for j := range g.Nodes() {
					if got, want := got.At(name[i], name[j]), want.At(i, j); !near(float64(got), float64(want), 2e-7) {
						t.Errorf("%s, %v (%d,%d): got %v after renaming, want %v", graphName, s, i, j, got, want)
					}
				}
			}
		}
	}
}

// What each normalisation promises of its spectrum and its rows.
func TestShiftSpectra(t *testing.T) {
	for name, g := range sorted(zoo()) {
		if g.Edges() == 0 {
			continue
		}
		for _, c := range []struct {
			shift    Shift
			low, top float64 // every eigenvalue lies between them
			reached  bool    // and the largest is top
		}{
			{ShiftSpectral, -1, 1, true},
			{ShiftSymmetric, -1, 1, true},
			{ShiftLaplacian, 0, math.Inf(1), false},
			{ShiftNormalizedLaplacian, 0, 2, false},
		} {
			values := must(Spectrum(must(c.shift.Of(g))))
			least, most := values[0], values[len(values)-1]
			if least < c.low-1e-6 || most > c.top+1e-6 || c.reached && !near(most, c.top, 1e-6) {
				t.Errorf("%s, %v: eigenvalues %v to %v, want %v to %v", name, c.shift, least, most, c.low, c.top)
			}
		}
		rows := must(ShiftRowStochastic.Of(g))
		for i := range g.Nodes() {
			if got, want := rowSum(rows, i), float64(min(g.Degree(i), 1)); !near(got, want, 1e-6) {
				t.Errorf("%s: row %d of %v sums to %v, want %v", name, i, ShiftRowStochastic, got, want)
			}
			if got := rowSum(must(ShiftLaplacian.Of(g)), i); !near(got, 0, 1e-6*g.WeightedDegree(i)) {
				t.Errorf("%s: row %d of the Laplacian sums to %v, want 0", name, i, got)
			}
		}
	}
}

func rowSum(a *mat.CSR, i int) float64 {
	sum := 0.0
	_, val := a.Row(i)
	for _, v := range val {
		sum += float64(v)
	}
	return sum
}

// A row of a local operator does not change when a node further than two hops
// away does: what a node and its neighbours know is enough.
func TestShiftLocal(t *testing.T) {
	path := func(extra ...Edge) *Graph {
		edges := []Edge{{0, 1, 1}, {1, 2, 1}, {2, 3, 1}, {3, 4, 1}, {4, 5, 1}}
		return must(FromEdges(9, append(edges, extra...), false))
	}
	before, after := path(), path(Edge{5, 6, 4}, Edge{5, 7, 4}, Edge{5, 8, 4})
	for _, s := range allShifts() {
		a, b := must(s.Of(before)), must(s.Of(after))
		same := true
		for j := range 9 {
			same = same && a.At(1, j) == b.At(1, j)
		}
		if same != s.Local() {
			t.Errorf("%v: row 1 unchanged %v, Local %v", s, same, s.Local())
		}
	}
}

func TestShiftOfDirected(t *testing.T) {
	chain := must(FromEdges(3, []Edge{{0, 1, 2}, {1, 2, 3}}, true)) // no cycle: λmax = 0
	if got := must(ShiftSpectral.Of(chain)); got.NNZ() != 0 {
		t.Errorf("spectral shift of a chain: got %v, want the zero matrix", got)
	}
	if got := must(ShiftLaplacian.Of(chain)); got.At(2, 2) != 3 || got.At(2, 1) != -3 || got.At(0, 0) != 0 {
		t.Errorf("Laplacian of a chain: got %v", got.Dense())
	}
	for _, s := range []Shift{ShiftSymmetric, ShiftNormalizedLaplacian} {
		_, err := s.Of(chain)
		wantError(t, err, s.String(), "directed", "try row-stochastic")
	}
}

func TestShiftOverflow(t *testing.T) {
	g := must(FromEdges(3, []Edge{{0, 1, 3e38}, {1, 2, 3e38}}, false))
	_, err := ShiftLaplacian.Of(g)
	wantError(t, err, "laplacian", "row 1", "scale")
	if got := must(ShiftSymmetric.Of(g)).At(0, 1); !near(float64(got), math.Sqrt(0.5), 1e-7) {
		t.Errorf("symmetric shift of huge weights: got %v", got)
	}
	tiny := must(FromEdges(2, []Edge{{0, 1, 1e-44}}, false))
	for _, s := range []Shift{ShiftSpectral, ShiftSymmetric, ShiftRowStochastic} {
		if got := must(s.Of(tiny)).At(0, 1); !near(float64(got), 1, 1e-6) {
			t.Errorf("%v of a tiny weight: got %v, want 1", s, got)
		}
	}
}

func TestShiftNames(t *testing.T) {
	for _, s := range allShifts() {
		if got := must(ParseShift(s.String())); got != s {
			t.Errorf("%v: parsed as %v", s, got)
		}
		var got struct{ Shift Shift }
		text := must(json.Marshal(struct{ Shift Shift }{s}))
		if err := json.Unmarshal(text, &got); err != nil || got.Shift != s {
			t.Errorf("%s: got %v, %v", text, got, err)
		}
	}
	_, err := ParseShift("adjacent")
	wantError(t, err, `"adjacent"`, "adjacency, spectral")
	kept := ShiftLaplacian
	wantError(t, kept.UnmarshalText([]byte("")), "try")
	if kept != ShiftLaplacian {
		t.Errorf("a refused name changed the value to %v", kept)
	}
	_, err = Shift(9).MarshalText()
	wantError(t, err, "9")
	_, err = Shift(-1).Of(Ring(3))
	wantError(t, err, "Shift(-1)", "try")
}
