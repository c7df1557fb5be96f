package theory

import (
	"math"

	gmat "gonum.org/v1/gonum/mat"

	"github.com/wdgnn/wdgnn/internal/crown"
)

// Together bounds what the changes of all layers do to the outputs that are read, as
// one: with v_ℓ = X_ℓ - X°_ℓ and w_ℓ = X̂_ℓ - X_ℓ a network on both graphs is one chain,
//
//	v_ℓ = D' H_ℓ(S) v_{ℓ-1}      w_ℓ = D (ΔH_ℓ (X°_{ℓ-1} + v_{ℓ-1}) + H_ℓ(Ŝ) w_{ℓ-1})      v_0 = X, w_0 = 0
//
// whose norm ellipsoids bound.
type Together struct {
	Gain float64 `json:"gain"` // ‖X ↦ α_D P w_L R‖ without the X°
	Rest float64 `json:"rest"` // ‖α_D P w_L R‖ of the X° alone
}

// effort limits what is spent on a small bound.
type effort struct {
	rounds int     // of descend at most
	work   float64 // products of two numbers
}

// usual takes seconds at most: a model of 50 nodes and two layers of 16 features, of
// which 5 nodes are read, takes a tenth of it, 20 rounds included.
var usual = effort{rounds: 20, work: 4e9}

// newTogether returns the bound of all layers, nil where it would take too long; rest
// are the answers to X = 0 on S.
func newTogether(n *crown.Network, p *Pair, rest [][]float64, read []bool, e effort) *Together {
	if len(n.Deep) == 0 {
		return nil
	}
	nodes := listed(read, p.Shift.Nodes())
	all, count := p.Shift.Nodes(), len(nodes)
	sizes, last := []int{all * n.In}, len(n.Deep)-1
	for l := range n.Deep {
		size := 2 * all
		if l == last {
			size = count
		}
		sizes = append(sizes, size*n.Deep[l].Out)
	}
	once := work(append(sizes, count*n.Outputs))
	if 2*once > e.work { // begin takes as much as a round
		return nil
	}
	rounds := min(e.rounds, int(e.work/once)-2)
	maps := stackOf(n, p, nodes)
	t := &Together{Gain: gain(maps, rounds)}
	for l := 1; l <= last; l++ {
		t.Rest += gain(restChain(n, maps, p, nodes, rest[l], l), rounds)
	}
	if math.IsInf(t.Gain+t.Rest, 0) {
		return nil
	}
	return t
}

// restChain returns the chain of what the change of layer ℓ+1 makes of X°_ℓ, through
// the H(Ŝ) of the layers behind it, which are lower right in the maps of stack.
func restChain(n *crown.Network, maps []*gmat.Dense, p *Pair, nodes []int, rest []float64, l int) []*gmat.Dense {
	last := len(n.Deep) - 1
	moved := changePiece("", &n.Deep[l].Filter, p).apply(rest)
	if l == last {
		moved = rowsOf(moved, nodes, n.Deep[l].Out)
	}
	chain := []*gmat.Dense{gmat.NewDense(len(moved), 1, moved)}
	for j := l + 1; j <= last; j++ {
		rows, cols := maps[j].Dims()
		from := rows / 2
		if j == last {
			from = 0
		}
		chain = append(chain, gmat.DenseCopyOf(maps[j].Slice(from, rows, cols/2, cols)))
	}
	return append(chain, maps[last+1])
}

// work returns how many products a bound takes of maps between spaces of these sizes.
func work(sizes []int) float64 {
	total, rank := 0.0, float64(sizes[0])
	wide := rank // columns of B
	for i, size := range sizes[1:] {
		n := float64(size)
		if i > 0 {
			total += n * float64(sizes[i]) * rank // A F
		}
		rank = min(n, wide)
		total += n*wide*rank + rank*rank*rank
		if wide < n {
			wide = n + rank
		} else {
			wide = n
		}
	}
	return total
}

// listed returns the numbers of the nodes in read, of all n if that is nil.
func listed(read []bool, n int) []int {
	var out []int
	for i := range n {
		if read == nil || read[i] {
			out = append(out, i)
		}
	}
	return out
}

// rowsOf returns the rows of y of some nodes.
func rowsOf(y []float64, nodes []int, width int) []float64 {
	var out []float64
	for _, i := range nodes {
		out = append(out, y[i*width:(i+1)*width]...)
	}
	return out
}

// stackOf returns the maps of Together's chain for the outputs of some nodes. Coordinates
// of v stand before those of w; the first layer reads no w, and of the last there is no v
// and no row but theirs.
func stackOf(n *crown.Network, p *Pair, nodes []int) []*gmat.Dense {
	all, last, order := listed(nil, p.Shift.Nodes()), len(n.Deep)-1, 0
	for l := range n.Deep {
		order = max(order, n.Order(l))
	}
	before, after := powersOf(p.Shift, order), powersOf(p.Perturbed, order)
	var maps []*gmat.Dense
	for l := range n.Deep {
		f, some := &n.Deep[l].Filter, all
		if l == last {
			some = nodes
		}
		h, hat := writeOut(f, before, len(all), some), writeOut(f, after, len(all), some)
		rows, cols := h.Dims()
		a := gmat.NewDense(2*rows, 2*cols, nil)
		a.Slice(0, rows, 0, cols).(*gmat.Dense).Copy(h)
		a.Slice(rows, 2*rows, 0, cols).(*gmat.Dense).Sub(hat, h)
		a.Slice(rows, 2*rows, cols, 2*cols).(*gmat.Dense).Copy(hat)
		top, width := 0, 2*cols
		if l == last {
			top = rows
		}
		if l == 0 {
			width = cols
		}
		maps = append(maps, gmat.DenseCopyOf(a.Slice(top, 2*rows, 0, width)))
	}
	readout := crown.Filter{In: n.Features, Out: n.Outputs, Taps: [][]float64{readoutOf(n)}}
	one := powersOf(crown.ShiftOf(make([]int, len(nodes)+1), nil, nil), 0)
	out := writeOut(&readout, one, len(nodes), listed(nil, len(nodes)))
	out.Scale(n.GainDeep, out)
	return append(maps, out)
}

// powersOf returns S⁰, …, Sᴷ, N×N by rows each.
func powersOf(s *crown.Shift, order int) [][]float64 {
	n := s.Nodes()
	z := make([]float64, n*n)
	for i := range n {
		z[i*n+i] = 1
	}
	out := [][]float64{z}
	for range order {
		next := make([]float64, n*n)
		s.Apply(next, z, n)
		out, z = append(out, next), next
	}
	return out
}

// writeOut returns the rows of H(S) of some of n nodes as a matrix, given the powers of
// S: element (i g, j f) is Σ_k [Sᵏ]_ij B_k[f g].
func writeOut(f *crown.Filter, powers [][]float64, n int, nodes []int) *gmat.Dense {
	out := gmat.NewDense(len(nodes)*f.Out, n*f.In, nil)
	for at, i := range nodes {
		for k, tap := range f.Taps {
			for j, s := range powers[k][i*n : (i+1)*n] {
				if s == 0 {
					continue
				}
				for g := range f.Out {
					row := out.RawRowView(at*f.Out + g)[j*f.In:]
					for a := range f.In {
						row[a] += s * tap[a*f.Out+g]
					}
				}
			}
		}
	}
	return out
}
