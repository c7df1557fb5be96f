package theory

import (
	"math"
	"slices"
	"testing"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/internal/crown"
)

// matrixPiece returns a matrix as a piece, out×in by rows.
func matrixPiece(name string, a []float64, in int) piece {
	out := len(a) / in
	return piece{name, linear{
		in, out,
		func(x []float64) []float64 {
			y := make([]float64, out)
			crown.AddTransposed(y, x, a, out, in)
			return y
		},
		func(y []float64) []float64 {
			x := make([]float64, in)
			crown.AddProduct(x, y, a, out, in)
			return x
		},
	}}
}

// Two maps of norm 1 whose product is 0 are worth a half with an activation between
// them, and that is reached: D = diag(1, 0) turns (1, 1)/√2 to where the other looks.
func TestChainOfTwo(t *testing.T) {
	r := math.Sqrt(0.5)
	a, b := matrixPiece("a", []float64{r, r}, 1), matrixPiece("b", []float64{r, -r}, 2)
	if got := (norms{}).chain([]piece{a, b}); !near(got, 0.5, 1e-12) {
		t.Errorf("got %v, want (0 + 1)/2", got)
	}
	d := a.apply([]float64{1})
	d[1] = 0
	if got := b.apply(d)[0]; !near(got, 0.5, 1e-12) {
		t.Errorf("reached %v, want 0.5", got)
	}
}

// Three maps: the mean over four ways to cut, each term by hand, for diagonal maps
// diag(2, 1), diag(1, 3), diag(5, 1) in turn.
func TestChainOfThree(t *testing.T) {
	a, b := matrixPiece("a", []float64{2, 0, 0, 1}, 2), matrixPiece("b", []float64{1, 0, 0, 3}, 2)
	c := matrixPiece("c", []float64{5, 0, 0, 1}, 2)
	abc, ab, bc := 10.0, 3.0, 5.0           // diag(10, 3), diag(2, 3), diag(5, 3)
	want := (abc + ab*5 + 2*bc + 2*3*5) / 4 // abc | ab·c | a·bc | a·b·c
	if got := (norms{}).chain([]piece{a, b, c}); !near(got, want, 1e-12) {
		t.Errorf("got %v, want %v", got, want)
	}
	known := norms{"a b": 100} // a norm that was bounded too roughly is not used
	if got, rough := known.chain([]piece{a, b, c}), (abc+2*3*5+2*bc+2*3*5)/4; !near(got, rough, 1e-12) {
		t.Errorf("with a rough norm got %v, want %v", got, rough)
	}
}

// Over the nodes that are read, no signal that was drawn changes outputs by more
// than the certificate, which is at most that of all nodes.
func TestCertificateOfRowsHolds(t *testing.T) {
	rng := newRand(61)
	var ratios []float64
	for k := range 400 {
		n := 3 + rng.IntN(8)
		directed := rng.IntN(3) == 0
		a := randomGraph(rng, n, directed)
		p := mustPair(t, a, perturb(rng, a, n, directed), n)
		net := randomNetwork(rng)
		read := []int{rng.IntN(n)}
		some, all := newStability(net, p, brisk, read), newStability(net, p, effort{}, nil)
		x := randomSignal(rng, n*net.In)
		m := some.Measure(p, x)
		if above(m.Change, m.Known) || above(m.Change, m.Any) || above(m.Known, m.Any) {
			t.Fatalf("instance %d: outputs of node %d change by %v; certified %v, and %v for all signals", k, read[0], m.Change, m.Known, m.Any)
		}
		if whole := all.Direct.Bound(1); above(some.Direct.Bound(1), whole) {
			t.Fatalf("instance %d: certified %v for one node and %v for all", k, some.Direct.Bound(1), whole)
		} else if b := some.Direct.Bound(1); b > 0 {
			ratios = append(ratios, whole/b)
		}
	}
	if m := median(ratios); m < 1.3 {
		t.Errorf("one node is certified %v times tighter than all in the median, want 1.3 at least", m)
	}
}

// Each term of the chains of two layers stands where it should: norms written out.
func TestPartsOfChains(t *testing.T) {
	rng := newRand(62)
	const n = 6
	a := randomGraph(rng, n, false)
	p := mustPair(t, a, perturb(rng, a, n, false), n)
	net := &crown.Network{
		In: 1, Features: 2, Outputs: 2, GainDeep: -3, Readout: []float64{2, 0.5, 0, 1}, Offset: make([]float64, 2),
		Deep: []crown.Layer{
			{Filter: randomFilter(rng, "deep 1", 1, 3, 2, true), Activation: gnn.ReLU},
			{Filter: randomFilter(rng, "deep 2", 3, 2, 2, true), Activation: gnn.Tanh},
		},
	}
	c := NewStability(net, p, 1, 4).Direct
	first, second := &net.Deep[0].Filter, &net.Deep[1].Filter
	read := []bool{false, true, false, false, true, false}
	r := readoutPiece(net, n)
	d1, d2 := changePiece("", first, p), changePiece("", second, p).rows(read)
	h1, h2 := filterPiece("", first, p.Shift, p.shiftT), filterPiece("", second, p.Perturbed, p.perturbedT).rows(read)
	of := func(pieces ...piece) float64 { return norms{}.of(pieces) }
	R := 3 * spectralNorm(net.Readout, 2, 2)
	three := func(a, b piece) float64 { // a first, then b, then the readout, with activations between
		return (of(a, b, r) + min(of(a, b), of(a)*of(b))*R + of(a)*min(of(b, r), of(b)*R) + of(a)*of(b)*R) / 4
	}
	if got, want := c.Chains[0].After, three(d1, h2); !near(got, want, 1e-9) || c.Chains[0].Whole != got || c.Chains[0].Rest != 0 {
		t.Errorf("layer 1: got %+v, want %v", c.Chains[0], want)
	}
	rest := net.Layers(p.Shift, make([]float64, n))
	v := vectorPiece("", d2.apply(rest[1]))
	if got, want := c.Chains[1].After, (of(d2, r)+of(d2)*R)/2; !near(got, want, 1e-9) {
		t.Errorf("layer 2: after it %v, want %v", got, want)
	}
	if got, want := c.Chains[1].Whole, three(h1, d2); !near(got, want, 1e-9) {
		t.Errorf("layer 2: the whole %v, want %v", got, want)
	}
	if got, want := c.Chains[1].Rest, (of(v, r)+of(v)*R)/2; !near(got, want, 1e-9) {
		t.Errorf("layer 2: of the answer to nothing %v, want %v", got, want)
	}
}

// Layers may have one name: norms are not those of another layer.
func TestChainsOfLayersWithOneName(t *testing.T) {
	rng := newRand(63)
	const n = 5
	a := randomGraph(rng, n, false)
	p := mustPair(t, a, perturb(rng, a, n, false), n)
	net := layered(rng, 3, 2)
	alike := newCertificate(net, p, nil, effort{})
	for l := range net.Deep {
		net.Deep[l].Name = string(rune('a' + l))
	}
	if named := newCertificate(net, p, nil, effort{}); !slices.Equal(alike.Chains, named.Chains) {
		t.Errorf("got %v, want %v as with three names", alike.Chains, named.Chains)
	}
}
