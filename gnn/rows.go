package gnn

import (
	"fmt"

	"github.com/wdgnn/wdgnn/mat"
)

// What follows is a forward pass cut where nodes exchange messages: whoever has
// the shifted rows of some nodes, and nothing else, computes their outputs.
// Each row has the bits of the whole network's pass.

// ApplyShifted writes the layer's output at some nodes to y, overwritten, given
// the shifted inputs of those nodes side by side.
//
//	z: rows×((K+1)·F_{ℓ-1})   y: rows×F_ℓ
func (l *Layer) ApplyShifted(e *mat.Engine, y, z mat.Dense) {
	l.Filter.forwardShifted(e, y, z)
	l.Activation.forward(e, y)
}

// ApplyStacked is ApplyShifted, to the same bits, of shifted inputs that stand one
// below the other: Z_0 of all the nodes, then Z_1, up to the layer's order.
//
//	z: ((K+1)·rows)×F_{ℓ-1}   y: rows×F_ℓ
func (l *Layer) ApplyStacked(e *mat.Engine, y, z mat.Dense) {
	l.sumStacked(e, y, z)
	l.Activation.forward(e, y)
}

// Combine writes the outputs of some nodes to y, overwritten, given their
// shifted inputs and what the deep part gives there: the wide part, the gains
// and the readout. deep is empty in a model without a deep part.
//
//	z: rows×((K+1)·F)   deep: rows×G   y: rows×C
func (m *WideDeep) Combine(y, z, deep mat.Dense, tape *Tape) {
	if y.Rows != z.Rows || y.Cols != m.Outputs() || len(m.Params.deep.Layers) > 0 && (deep.Rows != y.Rows || deep.Cols != m.Config.Features) {
		panic(fmt.Sprintf("gnn: Combine: outputs %d×%d of inputs %d×%d and features %d×%d",
			y.Rows, y.Cols, z.Rows, z.Cols, deep.Rows, deep.Cols))
	}
	m.forwardWide(z, tape)
	m.finish(y, deep, tape)
}
