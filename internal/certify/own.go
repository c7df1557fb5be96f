package certify

import (
	"fmt"

	"github.com/wdgnn/wdgnn/internal/lifecycle"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/theory"
)

// adopt adds to dx, N×F, what the nodes' own taps add to the gradient of the
// signal, given dy of the outputs, N×C, with st = Sᵀ:
//
//	dx += Σ_k (Sᵀ)ᵏ [rows dy_i Δ_{i,k}ᵀ]      by Horner's rule
func adopt(own *lifecycle.NodeTaps, dx, dy mat.Dense, st *mat.CSR) {
	deltas, in, outputs := own.Deltas(), dx.Cols, dy.Cols
	if len(deltas) == 0 {
		return
	}
	taps := 0 // K+1, of every node
	for _, delta := range deltas {
		taps = (len(delta)/outputs - 1) / in // the last row is the bias's
		break
	}
	sum, next := mat.NewDense(dx.Rows, in, nil), mat.NewDense(dx.Rows, in, nil)
	for k := taps - 1; k >= 0; k-- {
		mat.Serial.SpMM(next, st, sum)
		sum, next = next, sum
		for i, delta := range deltas {
			for f := range in {
				for c, v := range dy.Row(i) {
					sum.Row(i)[f] += v * float32(delta[(k*in+f)*outputs+c])
				}
			}
		}
	}
	mat.Serial.AddScaled(dx, 1, sum)
}

// give hands the taps to a network of package theory with so many nodes.
func give(own *lifecycle.NodeTaps, net *theory.Network, nodes int) error {
	if err := own.Fits(nodes); err != nil {
		return err
	}
	for i, delta := range own.Deltas() {
		if i < 0 || i >= nodes {
			return fmt.Errorf("the model holds taps of node %d; the graph has %d nodes", i, nodes)
		}
		net.GiveTaps(i, delta)
	}
	return nil
}
