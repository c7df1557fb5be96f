package certify

import (
	"fmt"

	"github.com/wdgnn/wdgnn/internal/crown"
	"github.com/wdgnn/wdgnn/internal/lifecycle"
	"github.com/wdgnn/wdgnn/internal/robust"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/modelfile"
)

// exact returns a model in float64 with what its nodes have of their own, on the shifts
// of a graph and of the perturbed one: nodes that weight neighbours one by one make up
// for those that they do not hear.
func exact(m *modelfile.Model, own *lifecycle.NodeTaps, s, sHat *mat.CSR) (*crown.Network, error) {
	net, nodes := crown.NewNetwork(m.Network), s.Rows
	if err := own.Fits(nodes); err != nil {
		return nil, err
	}
	for i, delta := range own.Deltas() {
		if i < 0 || i >= nodes {
			return nil, fmt.Errorf("the model holds taps of node %d; the graph has %d nodes", i, nodes)
		}
		net.GiveTaps(i, delta)
	}
	if own.Heard() == 0 {
		return net, nil
	}
	rows := make([]int32, nodes)
	for i := range rows {
		rows[i] = int32(i)
	}
	net.Perturbed = crown.NewNetwork(m.Network)
	if err := robust.GiveOwn(net, m.Network, own.Answers(m.Network), nodes, rows, s); err != nil {
		return nil, err
	}
	return net, robust.GiveOwn(net.Perturbed, m.Network, own.Answers(m.Network), nodes, rows, sHat)
}

// pull adds to dx, N×F, what the nodes' own taps and weights add to the gradient of the
// signal, given dy of the outputs, N×C, with st = Sᵀ.
func pull(net *crown.Network, dx, dy mat.Dense, st *crown.Shift) {
	sum := make([]float64, len(dx.Data))
	net.PullOwn(sum, st, crown.Signal(dy))
	for i, v := range sum {
		dx.Data[i] += float32(v)
	}
}
