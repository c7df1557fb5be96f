package theory

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/internal/crown"
	"github.com/wdgnn/wdgnn/internal/vector"
)

// E comes back: of Ŝ = S + E S + S E with a known E, its norm is found.
//
// Reference: Section 4, eq. (10).
func TestRelativePerturbationIsFound(t *testing.T) {
	rng := newRand(20)
	for k := range 500 {
		n := 2 + rng.IntN(20)
		a := randomGraph(rng, n, false)
		for i := range n {
			a[i*n+i] += 2 // positive definite: no λ_i + λ_j = 0
		}
		e := make([]float64, n*n)
		for i := range n {
			for j := range i + 1 {
				e[i*n+j] = 0.1 * rng.NormFloat64()
				e[j*n+i] = e[i*n+j]
			}
		}
		b := make([]float64, n*n)
		for i := range n {
			for j := range n {
				sum := a[i*n+j]
				for l := range n {
					sum += e[i*n+l]*a[l*n+j] + a[i*n+l]*e[l*n+j]
				}
				b[i*n+j] = sum
			}
		}
		for i := range n { // rounding apart, symmetric
			for j := range i {
				b[i*n+j] = b[j*n+i]
			}
		}
		r := mustPair(t, a, b, n).Relative
		if want := spectralNorm(e, n, n); !r.Exists || r.Zero != 0 || !near(r.Size, want, 1e-9) {
			t.Fatalf("case %d, %d nodes: got ‖E‖ = %v (exists: %v), want %v", k, n, r.Size, r.Exists, want)
		}
		if !near(r.Root, vector.Norm(e), 1e-9) {
			t.Fatalf("case %d: got ‖E‖_F = %v, want %v", k, r.Root, vector.Norm(e))
		}
	}
}

// Two nodes and one link, scaled by 1+t: E = (t/2) I, perfectly aligned,
// although λ_1 + λ_2 = 0.
//
// Reference: Section 4, eq. (10).
func TestTwoNodes(t *testing.T) {
	r := mustPair(t, []float64{0, 1, 1, 0}, []float64{0, 1.2, 1.2, 0}, 2).Relative
	if !r.Exists || !near(r.Size, 0.1, 1e-12) || r.Zero != 1 || r.Misalignment > 1e-6 {
		t.Errorf("got %+v, want ‖E‖ = 0.1, one pair with λ_i + λ_j = 0, δ = 0", r)
	}
}

// A path has the eigenvalues 2 cos(πj/(n+1)), which come in pairs ±λ. To lose a
// link is a relative perturbation all the same: where eigenvalues are simple, a
// change that keeps the graph bipartite has no part where λ_i + λ_j = 0. A link
// that closes a triangle is none, of any size, and the report says so.
//
// Reference: Section 4, eq. (10).
func TestPathGraph(t *testing.T) {
	n := 6
	a := make([]float64, n*n)
	for i := range n - 1 {
		a[i*n+i+1], a[(i+1)*n+i] = 1, 1
	}
	lost, triangle := slices.Clone(a), slices.Clone(a)
	lost[1], lost[n] = 0, 0
	triangle[2], triangle[2*n] = 1, 1
	p := mustPair(t, a, lost, n)
	for j := range n {
		if want := 2 * math.Cos(math.Pi*float64(n-j)/float64(n+1)); math.Abs(p.Values[j]-want) > 1e-12 {
			t.Errorf("λ_%d: got %v, want %v", j, p.Values[j], want)
		}
	}
	if r := p.Relative; !r.Exists || r.Zero != n/2 || r.Size > 1 {
		t.Errorf("a link lost: got %+v, want E of moderate size and %d pairs with λ_i + λ_j = 0", r, n/2)
	}
	f := crown.Filter{Name: "wide", In: 1, Out: 1, Taps: [][]float64{{0.2}, {0.1}}}
	net := &crown.Network{In: 1, Features: 1, Outputs: 1, Wide: &f, GainWide: 1}
	said := ""
	for _, c := range NewStability(net, p).Checks {
		said += c.Text + "\n"
	}
	for _, want := range []string{"an upper bound of d(S, Ŝ)", "λ_i + λ_j = 0 for 3 pairs"} {
		if !strings.Contains(said, want) {
			t.Errorf("the hypotheses do not say %q:\n%s", want, said)
		}
	}
	p = mustPair(t, a, triangle, n)
	if r := p.Relative; r.Exists || r.Unreachable < 0.01 || !math.IsInf(r.Size, 1) {
		t.Errorf("a triangle closed: got %+v, want no E", r)
	}
	s := NewStability(net, p)
	if m := s.Measure(p, []float64{1, 2, 3, 4, 5, 6}); !(m.Change <= m.Known) || !math.IsInf(s.Paper(1), 1) {
		t.Errorf("change %v: got certificate %v, paper %v; want the first finite, the second not", m.Change, m.Known, s.Paper(1))
	}
}

// Wrong sizes and directed graphs are told apart.
func TestPairComplains(t *testing.T) {
	_, err := NewPair(shiftOf(2, make([]float64, 4)), shiftOf(3, make([]float64, 9)))
	if err == nil || !strings.Contains(err.Error(), "2 nodes") {
		t.Errorf("got %v, want a complaint about sizes", err)
	}
	p, err := NewPair(shiftOf(2, []float64{0, 1, 0.5, 0}), shiftOf(2, make([]float64, 4)))
	if err != nil || p.Symmetric || !strings.Contains(p.Asymmetry, "(0,1) is 1 and (1,0) is 0.5") {
		t.Errorf("got %q, %v; want the place", p.Asymmetry, err)
	}
}
