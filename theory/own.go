package theory

import (
	"fmt"
)

// GiveTaps gives the wide part of node i taps of its own, as what they add to the
// outputs of those that all share:
//
//	y_i = y†_i + [z_i 1] Δ_i      z_i = [X SX … SᴷX]_i      Δ_i: ((K+1)F + 1)×C by rows
//
// with gain and readout inside Δ_i and its last row the bias's. The wide part
// stays linear in X. The network keeps delta. It panics without a wide part, or
// if the shape is another.
func (n *Network) GiveTaps(i int, delta []float64) {
	if n.Wide == nil || len(delta) != (len(n.Wide.Taps)*n.In+1)*n.Outputs {
		panic(fmt.Sprintf("theory: GiveTaps: %d numbers for node %d", len(delta), i))
	}
	if n.own == nil {
		n.own = map[int][]float64{}
	}
	n.own[i] = delta
}

// OwnTaps returns how many nodes have taps of their own.
func (n *Network) OwnTaps() int { return len(n.own) }

// addOwn adds [z_i 1] Δ_i to the outputs of the nodes that have taps of their own,
// y: N×C. Without bias it adds z_i Δ_i alone, the linear part.
func (n *Network) addOwn(y []float64, s *Shift, x []float64, bias bool) {
	if len(n.own) == 0 {
		return
	}
	in, out := n.In, n.Outputs
	z := append([]float64(nil), x...)
	next := make([]float64, len(x))
	for k := range n.Wide.Taps {
		if k > 0 {
			s.apply(next, z, in)
			z, next = next, z
		}
		for i, delta := range n.own {
			addProduct(y[i*out:(i+1)*out], z[i*in:(i+1)*in], delta[k*in*out:(k+1)*in*out], in, out)
		}
	}
	for i, delta := range n.own {
		if bias {
			axpy(y[i*out:(i+1)*out], 1, delta[len(delta)-out:])
		}
	}
}

// adoptOwn adds the adjoint of addOwn to x, N×F, with st = Sᵀ:
//
//	x += Σ_k (Sᵀ)ᵏ [rows y_i Δ_{i,k}ᵀ]      by Horner's rule
func (n *Network) adoptOwn(x []float64, st *Shift, y []float64) {
	if len(n.own) == 0 {
		return
	}
	in, out := n.In, n.Outputs
	sum, next := make([]float64, len(x)), make([]float64, len(x))
	for k := len(n.Wide.Taps) - 1; k >= 0; k-- {
		st.apply(next, sum, in)
		sum, next = next, sum
		for i, delta := range n.own {
			for f := range in {
				sum[i*in+f] += dot(y[i*out:(i+1)*out], delta[(k*in+f)*out:(k*in+f+1)*out])
			}
		}
	}
	axpy(x, 1, sum)
}

// wideChange returns ‖ΔH_W‖, the change of the wide part behind gain and readout,
// with each node's own taps, over the nodes in read:
//
//	ΔH_W: X ↦ rows  [z_i(Ŝ) - z_i(S)] A_i      A_i = α_W A R + Δ_i
func (n *Network) wideChange(p *Pair, read []bool) float64 {
	f := n.Wide.folded(n.GainWide, n.Readout, n.Outputs)
	t := f.transposed()
	along := func(s *Shift, x []float64) []float64 {
		y := f.apply(s, x, false)
		n.addOwn(y, s, x, false)
		return y
	}
	back := func(st *Shift, y []float64) []float64 {
		x := t.apply(st, y, false)
		n.adoptOwn(x, st, y)
		return x
	}
	return operatorNorm(linear{
		p.Shift.nodes * f.In, p.Shift.nodes * f.Out,
		func(x []float64) []float64 {
			return only(difference(along(p.Perturbed, x), along(p.Shift, x)), read)
		},
		func(y []float64) []float64 {
			y = only(append([]float64(nil), y...), read)
			return difference(back(p.perturbedT, y), back(p.shiftT, y))
		},
	})
}

// only clears the rows of y that are not read, if some are not.
func only(y []float64, read []bool) []float64 {
	for i, yes := range read {
		if width := len(y) / len(read); !yes {
			clear(y[i*width : (i+1)*width])
		}
	}
	return y
}
