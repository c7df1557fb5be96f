package theory

import (
	"github.com/wdgnn/wdgnn/internal/crown"
	"github.com/wdgnn/wdgnn/internal/vector"
)

// wideChange returns ‖ΔH_W‖, the change of the wide part behind gain and readout,
// with what each node has of its own, over the nodes in read:
//
//	ΔH_W: X ↦ rows  [z_i(Ŝ) - z_i(S)] A_i      A_i = α_W A R + Δ_i
//
// and beside z_i what node i takes of its neighbours one by one. Of biases that are
// others on Ŝ it returns what they change.
func wideChange(n *crown.Network, p *Pair, read []bool) (linearly, biases float64) {
	f := n.Wide.Folded(n.GainWide, n.Readout, n.Outputs)
	t, other := f.Transposed(), n.OnPerturbed()
	along := func(n *crown.Network, s *crown.Shift, x []float64) []float64 {
		y := f.Apply(s, x, false)
		n.PushOwn(y, s, x)
		return y
	}
	back := func(n *crown.Network, st *crown.Shift, y []float64) []float64 {
		x := t.Apply(st, y, false)
		n.PullOwn(x, st, y)
		return x
	}
	moved := make([]float64, p.Shift.Nodes()*n.Outputs)
	n.AddOwnBiases(moved, -1)
	other.AddOwnBiases(moved, 1)
	linearly = operatorNorm(linear{
		p.Shift.Nodes() * f.In, p.Shift.Nodes() * f.Out,
		func(x []float64) []float64 {
			return only(difference(along(other, p.Perturbed, x), along(n, p.Shift, x)), read)
		},
		func(y []float64) []float64 {
			y = only(append([]float64(nil), y...), read)
			return difference(back(other, p.perturbedT, y), back(n, p.shiftT, y))
		},
	})
	return linearly, vector.Norm(only(moved, read))
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
