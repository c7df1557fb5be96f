package theory

import (
	"math/rand/v2"
	"testing"

	gmat "gonum.org/v1/gonum/mat"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/internal/crown"
	"github.com/wdgnn/wdgnn/internal/vector"
)

// shares returns n numbers between 0 and 1.
func shares(rng *rand.Rand, n int) []float64 {
	d := make([]float64, n)
	for i := range d {
		d[i] = rng.Float64()
	}
	return d
}

// through applies a chain with D_1, D_2, … between its maps.
func through(maps []*gmat.Dense, d [][]float64, x []float64) []float64 {
	for i, a := range maps {
		rows, cols := a.Dims()
		y := make([]float64, rows)
		gmat.NewVecDense(rows, y).MulVec(a, gmat.NewVecDense(cols, x))
		if x = y; i < len(d) {
			multiply(x, d[i])
		}
	}
	return x
}

func multiply(x, d []float64) {
	for i := range x {
		x[i] *= d[i]
	}
}

// layered returns a network of so many layers, with biases, whose readout is of the
// nodes' features.
func layered(rng *rand.Rand, layers, features int) *crown.Network {
	net := &crown.Network{In: 2, Features: features, Outputs: 3, GainDeep: -1.5, Offset: make([]float64, 3)}
	net.Readout = randomSignal(rng, 3*features)
	in := net.In
	for range layers {
		f := randomFilter(rng, "one name for all", in, features, 1+rng.IntN(3), true)
		net.Deep = append(net.Deep, crown.Layer{Filter: f, Activation: gnn.ReLU})
		in = features
	}
	return net
}

// The chain of Together is the network on both graphs: whatever activations do, what
// comes out is the recursion of v and w, written with filters.
//
// Reference: doc/theory.md "All layers together".
func TestStackIsNetworkOnBothGraphs(t *testing.T) {
	rng := newRand(72)
	const n = 6
	moved := 0.0
	for layers := 1; layers <= 3; layers++ {
		for _, nodes := range [][]int{{0, 1, 2, 3, 4, 5}, {1, 4}} {
			directed := layers == 2
			a := randomGraph(rng, n, directed)
			p := mustPair(t, a, perturb(rng, a, n, directed), n)
			net := layered(rng, layers, 3)
			maps := stackOf(net, p, nodes)
			x := randomSignal(rng, n*net.In)
			v, w := x, make([]float64, len(x))
			var d [][]float64
			ahead := make([][]float64, layers) // what the change of a layer makes of X°, and what becomes of it
			rest := net.Layers(p.Shift, make([]float64, len(x)))
			for l := range net.Deep {
				f := &net.Deep[l].Filter
				change := changePiece("", f, p)
				dv, dw := shares(rng, n*f.Out), shares(rng, n*f.Out)
				w = difference(change.apply(v), f.Apply(p.Perturbed, scaled(w, -1), false))
				v = f.Apply(p.Shift, v, false)
				for k := range l {
					if ahead[k] != nil {
						ahead[k] = f.Apply(p.Perturbed, ahead[k], false)
						multiply(ahead[k], dw)
					}
				}
				if l > 0 {
					ahead[l] = change.apply(rest[l])
					multiply(ahead[l], dw)
				}
				multiply(v, dv)
				multiply(w, dw)
				if l == layers-1 {
					d = append(d, rowsOf(dw, nodes, f.Out))
				} else {
					d = append(d, append(dv, dw...))
				}
			}
			read := func(u []float64) []float64 {
				y := make([]float64, n*net.Outputs)
				crown.AddProduct(y, scaled(u, net.GainDeep), net.Readout, net.Features, net.Outputs)
				return rowsOf(y, nodes, net.Outputs)
			}
			if got, want := through(maps, d, x), read(w); vector.Norm(difference(got, want)) > 1e-12*(1+vector.Norm(want)) {
				t.Errorf("%d layers, nodes %v: off by %v", layers, nodes, got)
			}
			for l := 1; l < layers; l++ {
				var behind [][]float64
				for j := l; j < layers; j++ {
					behind = append(behind, d[j][len(d[j])-len(d[j])/2:])
					if j == layers-1 {
						behind[len(behind)-1] = d[j]
					}
				}
				got, want := through(restChain(net, maps, p, nodes, rest[l], l), behind, []float64{1}), read(ahead[l])
				moved += vector.Norm(want)
				if vector.Norm(difference(got, want)) > 1e-12*(1+vector.Norm(want)) {
					t.Errorf("%d layers, nodes %v, answer to nothing at layer %d: off by %v", layers, nodes, l, got)
				}
			}
		}
	}
	if moved == 0 {
		t.Error("no answer to nothing moves: the test asks for nothing")
	}
}

func scaled(x []float64, s float64) []float64 {
	y := append([]float64(nil), x...)
	vector.Scale(y, s)
	return y
}

// The certificate takes the least of its three bounds, each with all of its terms.
func TestTermsOfChainsAndTogether(t *testing.T) {
	c := Certificate{
		Wide: 3, Behind: 2, Layers: []LayerNorm{{Change: 5, Norm: 7}, {Change: 11, After: 13, Rest: 1, Size: 40}},
		Chains:   []Chain{{After: 60, Whole: 60}, {After: 10, Whole: 50, Rest: 2}},
		Together: &Together{Gain: 100, Rest: 4},
	}
	recursion := 3 + 2*(13*5+1+11*7.0)
	chains := 3 + 60 + 2 + 50.0 // 10·7 is more than 50
	together := 3 + 100 + 4.0
	if got := c.Bound(1); got != together || together >= chains || chains >= recursion {
		t.Errorf("all: got %v, want %v, below %v and %v", got, together, chains, recursion)
	}
	c.Together = nil
	if got := c.Bound(1); got != chains {
		t.Errorf("chains: got %v, want %v", got, chains)
	}
	if got, want := c.ForSignal(1, Inputs{Size: []float64{1, 9}, Away: []float64{1, 4}}), 3+60+2+10*4.0; got != want {
		t.Errorf("chains, a signal that is near rest: got %v, want %v", got, want)
	}
	if got, want := c.ForSignal(1, Inputs{Size: []float64{1, 3}, Away: []float64{1, 4}}), 3+60+10*3.0; got != want {
		t.Errorf("chains, a signal that is small: got %v, want %v", got, want)
	}
	c.Chains = nil
	if got := c.Bound(1); got != recursion {
		t.Errorf("recursion: got %v, want %v", got, recursion)
	}
	c.Chains, c.Together = nil, &Together{Gain: 1e9}
	if got := c.Bound(1); got != recursion {
		t.Errorf("recursion, where all together say more: got %v, want %v", got, recursion)
	}
}

// climbed returns the largest change over the nodes in read that climbs by gradients find among
// signals of a size.
func climbed(rng *rand.Rand, net *crown.Network, p *Pair, read []bool, size float64) float64 {
	worst := 0.0
	for range 6 {
		x := randomSignal(rng, p.Shift.Nodes()*net.In)
		vector.Scale(x, size/vector.Norm(x))
		for range 30 {
			d := only(difference(net.Forward(p.Perturbed, x), net.Forward(p.Shift, x)), read)
			worst = max(worst, vector.Norm(d))
			g := difference(pullBack(net, p.Perturbed, p.perturbedT, x, d), pullBack(net, p.Shift, p.shiftT, x, d))
			if vector.Norm(g) == 0 {
				break
			}
			x = scaled(g, size/vector.Norm(g))
		}
	}
	return worst
}

// pullBack returns the gradient of ⟨d, Ψ(X)⟩ by X, of a network of layers with ReLU.
func pullBack(n *crown.Network, s, st *crown.Shift, x, d []float64) []float64 {
	g := make([]float64, s.Nodes()*n.Features)
	crown.AddTransposed(g, d, n.Readout, n.Features, n.Outputs)
	vector.Scale(g, n.GainDeep)
	hidden := n.Layers(s, x)
	for l := len(n.Deep) - 1; l >= 0; l-- {
		for i, v := range hidden[l+1] {
			if v <= 0 {
				g[i] = 0
			}
		}
		g = n.Deep[l].Transposed().Apply(st, g, false)
	}
	return g
}

// Of a few nodes of networks with several layers and features the certificate is many
// times below the recursion for all nodes, and no climb gets above it, with small
// signals or large ones.
//
// Reference: Theorem 1, doc/theory.md "All layers together".
func TestTogetherIsTight(t *testing.T) {
	for _, c := range []struct {
		layers      int
		least, most float64 // times below the recursion; times above what was found
	}{{1, 2.2, 1.5}, {2, 5, 3.5}, {3, 7, 9}} {
		if testing.Short() && c.layers == 3 {
			t.Logf("SKIPPED %s for three layers: they take a second; they run without -short", t.Name())
			continue
		}
		rng := newRand(73)
		var tighter, over []float64
		for range 3 {
			const n = 12
			a := randomGraph(rng, n, false)
			p := mustPair(t, a, perturb(rng, a, n, false), n)
			net := layered(rng, c.layers, 8)
			read := make([]bool, n)
			read[3], read[7] = true, true
			some, all := newCertificate(net, p, read, effort{rounds: 10, work: 1e9}), newCertificate(net, p, nil, effort{})
			if some.Together == nil || all.Together != nil {
				t.Fatalf("%d layers: got %v and %v together, want one with effort and none without", c.layers, some.Together, all.Together)
			}
			all.Chains = nil
			for _, size := range []float64{1, 100} {
				bound, found := some.Bound(size), climbed(rng, net, p, read, size)
				if found > bound {
					t.Fatalf("%d layers: a signal of size %v changes outputs by %v, certified %v", c.layers, size, found, bound)
				}
				if size == 100 {
					tighter, over = append(tighter, all.Bound(size)/bound), append(over, bound/found)
				}
			}
		}
		t.Logf("%d layers: %.3g times below the recursion in the median, %.3g times above what was found",
			c.layers, median(tighter), median(over))
		if median(tighter) < c.least || median(over) > c.most {
			t.Errorf("%d layers: %v times below the recursion, %v times above what was found; want %v at least and %v at most",
				c.layers, median(tighter), median(over), c.least, c.most)
		}
	}
}

// What the answer to nothing moves is a sum over all layers but the first, and the bound is given
// up where it would take longer than the effort allows: begin takes as much as a round.
func TestTogetherAddsAndGivesUp(t *testing.T) {
	rng := newRand(75)
	const n = 6
	a := randomGraph(rng, n, false)
	p := mustPair(t, a, perturb(rng, a, n, false), n)
	net := layered(rng, 3, 4)
	rest := net.Layers(p.Shift, make([]float64, n*net.In))
	read := []bool{false, true, false, true, true, false}
	nodes := []int{1, 3, 4}
	got := newTogether(net, p, rest, read, effort{rounds: 2, work: 1e9})
	maps := stackOf(net, p, nodes)
	first, second := gain(restChain(net, maps, p, nodes, rest[1], 1), 2), gain(restChain(net, maps, p, nodes, rest[2], 2), 2)
	if got == nil || first == 0 || second == 0 || !near(got.Rest, first+second, 1e-12) || !near(got.Gain, gain(maps, 2), 1e-12) {
		t.Errorf("got %+v, want %v and %v, from %v", got, gain(maps, 2), first+second, first)
	}
	once := work([]int{n * 2, 2 * n * 4, 2 * n * 4, 3 * 4, 3 * 3})
	few := effort{rounds: 2, work: 2*once - 1}
	enough := effort{rounds: 2, work: 2 * once}
	if newTogether(net, p, rest, read, few) != nil || newTogether(net, p, rest, read, enough) == nil {
		t.Errorf("work of %v a round: want none with less than twice that, and one with twice", once)
	}
	if none := newTogether(&crown.Network{In: 1, Features: 1, Outputs: 1}, p, nil, nil, usual); none != nil {
		t.Errorf("no layers: got %+v, want none", none)
	}
	// 2 numbers to 3, of which B is 3×2: its Gram matrix and the root of it; F is 3×2, and with Θ/2 beside it B is
	// 4×5: A F, the Gram matrix, the root.
	if got, want := work([]int{2, 3, 4}), float64(3*2*2+2*2*2+4*3*2+4*5*4+4*4*4); got != want {
		t.Errorf("work: got %v, want %v", got, want)
	}
}
