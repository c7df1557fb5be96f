package recipe

import (
	"math"
	"slices"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/mat"
)

// RowNorms returns the largest Euclidean norm of what a node of net sends to its
// neighbours, over samples on the shift s: of [X SX … Sᴷ⁻¹X] and of the same of
// every layer's input after the first, layer by layer and hop by hop. Agents
// refuse rows that are much longer. It is nil if one is not finite: a model whose
// training went astray is still worth looking at.
//
//	s: R×R   signals: (samples·R)×F, sample by sample
func RowNorms(net *gnn.WideDeep, s *mat.CSR, signals mat.Dense, e *mat.Engine) []float64 {
	layers := net.Deep().Layers
	shifter := gnn.Shifter{Engine: e}
	shifted, hidden := make([]mat.Dense, max(len(layers), 1)), make([]mat.Dense, len(layers))
	for l := range shifted {
		order, features := net.InputOrder(), net.Config.In
		if l > 0 {
			order, features = layers[l].Filter.Order(), layers[l].Filter.In()
		}
		shifted[l] = mat.NewDense(s.Rows, (order+1)*features, nil)
	}
	for l := range hidden {
		hidden[l] = mat.NewDense(s.Rows, layers[l].Filter.Out(), nil)
	}
	var norms []float64
	for from := 0; from < signals.Rows; from += s.Rows {
		x, at := signals.View(from, 0, s.Rows, signals.Cols), 0
		for l := range shifted {
			shifter.Shift(shifted[l], s, x)
			for hop := range shifted[l].Cols/x.Cols - 1 {
				if at == len(norms) {
					norms = append(norms, 0)
				}
				norms[at] = max(norms[at], longest(shifted[l].View(0, hop*x.Cols, s.Rows, x.Cols)))
				at++
			}
			if l+1 < len(shifted) {
				layers[l].ApplyShifted(e, hidden[l], shifted[l])
				x = hidden[l]
			}
		}
	}
	return finite(norms)
}

// ShiftedNorms is RowNorms of a network that shifts its inputs alone, over rows
// of all nodes that were shifted before.
//
//	rows: [Z_0 Z_1 … Z_K]
func ShiftedNorms(net *gnn.WideDeep, rows mat.Dense) []float64 {
	in := net.Config.In
	norms := make([]float64, net.InputOrder())
	for hop := range norms {
		norms[hop] = longest(rows.View(0, hop*in, rows.Rows, in))
	}
	return finite(norms)
}

// finite returns norms, or nil if one is not a finite number.
func finite(norms []float64) []float64 {
	if slices.ContainsFunc(norms, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }) {
		return nil
	}
	return norms
}

// longest returns the largest norm of a row.
func longest(x mat.Dense) float64 {
	most := 0.0
	for i := range x.Rows {
		sum := 0.0
		for _, v := range x.Row(i) {
			sum += float64(float64(v) * float64(v))
		}
		most = max(most, sum)
	}
	return math.Sqrt(most)
}
