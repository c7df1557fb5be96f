package gnn

import "github.com/wdgnn/wdgnn/mat"

// Deep is the deep part Φ(X; S, ℬ) of eq. (4), a graph neural network:
//
//	X_0 = X      X_ℓ = σ(1b_ℓᵀ + Σ_k Sᵏ X_{ℓ-1} B_ℓk)      Φ = X_L
//
// Layers may differ in order, width and nonlinearity.
type Deep struct {
	Layers []Layer
}

// DeepTape is what Deep.Forward leaves for Deep.Backward.
type DeepTape struct {
	Engine *mat.Engine
	Layers []LayerTape

	grad []mat.Dense // gradient of each layer's output but the last
}

// Forward computes Φ and returns it; the result belongs to the tape.
func (d *Deep) Forward(in *Input, tape *DeepTape) mat.Dense {
	for len(tape.Layers) < len(d.Layers) {
		tape.Layers = append(tape.Layers, LayerTape{})
		tape.grad = append(tape.grad, mat.Dense{})
	}
	last := len(d.Layers) - 1
	for l := range d.Layers {
		layer, t := &d.Layers[l], &tape.Layers[l]
		t.Engine = tape.Engine
		switch {
		case l == 0 && last == 0:
			layer.forwardShifted(in.outputs(), t)
		case l == 0:
			layer.forwardShifted(in.Shifted, t)
		case l == last && in.Read != nil:
			layer.forwardRead(in.Read, tape.Layers[l-1].Out, t)
		default:
			layer.Forward(in.Shift, tape.Layers[l-1].Out, t)
		}
	}
	return tape.Layers[last].Out
}

// Backward adds the gradients of one pass to grad, one filter per layer, given
// scale·dy, the gradient of Φ. It overwrites dy and returns the gradient of the
// first layer before its nonlinearity.
func (d *Deep) Backward(grad []Filter, in *Input, dy mat.Dense, scale float32, tape *DeepTape) mat.Dense {
	last := len(d.Layers) - 1
	for l := last; l >= 0; l-- {
		layer, t := &d.Layers[l], &tape.Layers[l]
		layer.Activation.backward(t.Engine, dy, t.Out, scale)
		scale = 1
		if l == 0 {
			z := in.Shifted
			if last == 0 {
				z = in.outputs()
			}
			layer.backwardShifted(t.Engine, &grad[l], dy, z)
			return dy
		}
		below := &tape.grad[l-1]
		*below = below.Resize(tape.Layers[l-1].Out.Rows, layer.In())
		if l == last && in.Read != nil {
			layer.backwardRead(&grad[l], *below, in.Read, dy, t)
		} else {
			layer.Filter.Backward(&grad[l], *below, in.ShiftT, dy, &t.FilterTape)
		}
		dy = *below
	}
	return dy
}

// MarkLive sets live[j] for every feature j of the last layer that is positive
// in at least one row of the last pass. A ReLU network without such a feature
// is dead: it is constant and no gradient will wake it.
func (d *Deep) MarkLive(live []bool, tape *DeepTape) {
	out := tape.Layers[len(d.Layers)-1].Out
	for i := range out.Rows {
		for j, v := range out.Row(i) {
			if v > 0 {
				live[j] = true
			}
		}
	}
}
