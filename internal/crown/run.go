package crown

import "github.com/wdgnn/wdgnn/internal/vector"

// feed adds what a liar sends to a shifted signal: it is told the layer of the
// exchange, the hop of the row that was sent, and the sums of the next hop, N×F.
type feed func(layer, hop int, z []float64)

// run returns the pre-activations of all layers, N×F_ℓ, and the outputs, N×C. Unlike
// Forward it can be fed, which all that reads the same exchange then sees: the
// wide part, the first layer and taps of nodes' own read one shifted signal.
func (n *Network) run(s *Shift, x []float64, fed feed) (pre [][]float64, y []float64) {
	input := shifted(s, x, n.In, max(n.wideOrder(), n.Order(0)), 0, fed)
	u := make([]float64, s.nodes*n.Features)
	for i := range u {
		u[i] = n.GainBias
	}
	if n.Wide != nil {
		vector.Axpy(u, n.GainWide, n.Wide.sum(input, s.nodes))
	}
	z := input
	for l := range n.Deep {
		layer := &n.Deep[l]
		h := layer.sum(z, s.nodes)
		pre = append(pre, h)
		out := append([]float64(nil), h...)
		activate(layer.Activation, out)
		if l == len(n.Deep)-1 {
			vector.Axpy(u, n.GainDeep, out)
		} else {
			z = shifted(s, out, layer.Out, n.Order(l+1), l+1, fed)
		}
	}
	y = n.readOut(u)
	n.addOwn(y, input, true)
	return pre, y
}

// shifted returns Z_0 = X and Z_k = S Z_{k-1}, N×F each, fed with what a liar sends.
func shifted(s *Shift, x []float64, features, order, layer int, fed feed) [][]float64 {
	out := [][]float64{x}
	for k := 1; k <= order; k++ {
		z := make([]float64, len(x))
		s.Apply(z, out[k-1], features)
		if fed != nil {
			fed(layer, k-1, z)
		}
		out = append(out, z)
	}
	return out
}

// sum returns 1aᵀ + Σ_k Z_k A_k for signals that were shifted before.
func (f *Filter) sum(z [][]float64, nodes int) []float64 {
	y := make([]float64, nodes*f.Out)
	if len(f.Bias) > 0 {
		for i := range nodes {
			copy(y[i*f.Out:(i+1)*f.Out], f.Bias)
		}
	}
	for k, tap := range f.Taps {
		AddProduct(y, z[k], tap, f.In, f.Out)
	}
	return y
}

// readOut returns U R + 1cᵀ, N×C; U itself without a readout.
func (n *Network) readOut(u []float64) []float64 {
	if n.Readout == nil {
		return u
	}
	nodes := len(u) / n.Features
	y := make([]float64, nodes*n.Outputs)
	for i := range nodes {
		copy(y[i*n.Outputs:(i+1)*n.Outputs], n.Offset)
	}
	AddProduct(y, u, n.Readout, n.Features, n.Outputs)
	return y
}

// order returns K of the filter of layer ℓ+1, 0 if there is none.
func (n *Network) Order(l int) int {
	if l < 0 || l >= len(n.Deep) {
		return 0
	}
	return len(n.Deep[l].Taps) - 1
}
