package theory

import (
	"fmt"
	"math"
	"strings"

	"github.com/wdgnn/wdgnn/internal/crown"
	"github.com/wdgnn/wdgnn/internal/vector"
)

// Chain bounds what the change of one layer does to the outputs that are read,
// through everything behind it. Between two linear maps stands an activation, which
// multiplies differences by numbers between 0 and 1, D = (I + E)/2 with ‖E‖ ≤ 1:
// activations average. So
//
//	‖A D B‖ ≤ (‖A B‖ + ‖A‖ ‖B‖)/2
//
// and a product of several maps with activations between them is bounded by the mean,
// over all ways to cut it into pieces where activations stand, of the products of the norms of
// the pieces.
type Chain struct {
	After float64 `json:"after"` // ‖α_D P R D_L H_L(Ŝ) … D_ℓ ΔH_ℓ‖, P the rows that are read
	Whole float64 `json:"whole"` // the same behind all layers before, on S: D H_{ℓ-1}(S) … H_1(S)
	Rest  float64 `json:"rest"`  // the same of ΔH_ℓ X°_{ℓ-1}, what the change does to the answer to X = 0
}

// piece is a linear map with a name, by which norms are remembered.
type piece struct {
	name string
	linear
}

// norms remembers norms of products of pieces.
type norms map[string]float64

// of returns the norm of a product of pieces, the first of which is applied first.
func (n norms) of(pieces []piece) float64 {
	var name []string
	for _, p := range pieces {
		name = append(name, p.name)
	}
	key := strings.Join(name, " ")
	if v, found := n[key]; found {
		return v
	}
	first, last := pieces[0], pieces[len(pieces)-1]
	v := operatorNorm(linear{
		first.in, last.out,
		func(x []float64) []float64 {
			for _, p := range pieces {
				x = p.apply(x)
			}
			return x
		},
		func(y []float64) []float64 {
			for k := len(pieces) - 1; k >= 0; k-- {
				y = pieces[k].adopt(y)
			}
			return y
		},
	})
	n[key] = v
	return v
}

// chain bounds the norm of a product of pieces with an activation between each two:
// with F_j the bound of the first j of them and ‖i…j‖ the norm of the product of pieces i to j,
//
//	F_j = 2^{1-j} ‖1…j‖ + Σ_{1<i≤j} 2^{i-j-1} ‖i…j‖ F_{i-1}
//
// where ‖i…j‖ is never taken larger than the product of the norms of its pieces.
func (n norms) chain(pieces []piece) float64 {
	single := make([]float64, len(pieces))
	bound := make([]float64, len(pieces))
	for j := range pieces {
		single[j] = n.of(pieces[j : j+1])
		product, share := 1.0, 1.0
		for i := j; i >= 0; i-- {
			product *= single[i]
			whole := product
			if i < j {
				whole = min(product, n.of(pieces[i:j+1]))
			}
			if i == 0 {
				bound[j] += share * whole
			} else {
				bound[j] += share / 2 * whole * bound[i-1]
			}
			share /= 2
		}
	}
	return bound[len(bound)-1]
}

// filterPiece returns H(S) as a piece, of which the norm may be known.
func filterPiece(name string, f *crown.Filter, s, st *crown.Shift) piece {
	t := f.Transposed()
	return piece{name, linear{
		s.Nodes() * f.In, s.Nodes() * f.Out,
		func(x []float64) []float64 { return f.Apply(s, x, false) },
		func(y []float64) []float64 { return t.Apply(st, y, false) },
	}}
}

// changePiece returns H(Ŝ) - H(S).
func changePiece(name string, f *crown.Filter, p *Pair) piece {
	a, b := filterPiece("", f, p.Perturbed, p.perturbedT), filterPiece("", f, p.Shift, p.shiftT)
	return piece{name, linear{
		a.in, a.out,
		func(x []float64) []float64 { return difference(a.apply(x), b.apply(x)) },
		func(y []float64) []float64 { return difference(a.adopt(y), b.adopt(y)) },
	}}
}

// vectorPiece returns the map from a number to its multiple of v.
func vectorPiece(name string, v []float64) piece {
	return piece{name, linear{
		1, len(v),
		func(x []float64) []float64 {
			y := append([]float64(nil), v...)
			vector.Scale(y, x[0])
			return y
		},
		func(y []float64) []float64 { return []float64{vector.Dot(v, y)} },
	}}
}

// readoutPiece returns X ↦ α_D X R.
func readoutPiece(n *crown.Network, nodes int) piece {
	r := readoutOf(n)
	return piece{"R", linear{
		nodes * n.Features, nodes * n.Outputs,
		func(x []float64) []float64 {
			y := make([]float64, nodes*n.Outputs)
			crown.AddProduct(y, x, r, n.Features, n.Outputs)
			vector.Scale(y, n.GainDeep)
			return y
		},
		func(y []float64) []float64 {
			x := make([]float64, nodes*n.Features)
			crown.AddTransposed(x, y, r, n.Features, n.Outputs)
			vector.Scale(x, n.GainDeep)
			return x
		},
	}}
}

// readoutOf returns R, I without a readout.
func readoutOf(n *crown.Network) []float64 {
	if n.Readout != nil {
		return n.Readout
	}
	r := make([]float64, n.Features*n.Features)
	for i := range n.Features {
		r[i*n.Features+i] = 1
	}
	return r
}

// rows returns P A, P the rows of the nodes in read, which are not all.
func (p piece) rows(read []bool) piece {
	return piece{p.name, linear{
		p.in, p.out,
		func(x []float64) []float64 { return only(p.apply(x), read) },
		func(y []float64) []float64 { return p.adopt(only(append([]float64(nil), y...), read)) },
	}}
}

// chainsOf returns the chain of every layer; rest are the answers to X = 0 on S. Of the
// last layer only the rows that are read count: activations and R leave rows apart,
// P (D H) R = P D (P H) R.
func chainsOf(n *crown.Network, p *Pair, c *Certificate, rest [][]float64, read []bool) []Chain {
	known := norms{"R": math.Abs(n.GainDeep) * readoutNorm(n)}
	nodes, layers := p.Shift.Nodes(), len(n.Deep)
	behind := []piece{readoutPiece(n, nodes)}
	out := make([]Chain, layers)
	for l := layers - 1; l >= 0; l-- {
		f := &n.Deep[l].Filter
		change := changePiece(fmt.Sprint("Δ", l), f, p)
		after := filterPiece(fmt.Sprint("Ŝ", l), f, p.Perturbed, p.perturbedT)
		if l == layers-1 && read != nil {
			change, after = change.rows(read), after.rows(read)
		} else {
			known[change.name] = c.Layers[l].Change
		}
		all := append([]piece{change}, behind...)
		out[l].After = known.chain(all)
		out[l].Whole = out[l].After
		if l == 0 {
			break // nothing is before it, and it is behind nothing
		}
		if l < layers-1 || read == nil {
			known[after.name] = c.Layers[l].After
		}
		for before := l - 1; before >= 0; before-- {
			first := filterPiece(fmt.Sprint("S", before), &n.Deep[before].Filter, p.Shift, p.shiftT)
			known[first.name] = c.Layers[before].Norm
			all = append([]piece{first}, all...)
		}
		out[l].Whole = known.chain(all)
		if moved := change.apply(rest[l]); vector.Norm(moved) > 0 {
			out[l].Rest = known.chain(append([]piece{vectorPiece(fmt.Sprint("X", l), moved)}, behind...))
		}
		behind = append([]piece{after}, behind...)
	}
	return out
}
