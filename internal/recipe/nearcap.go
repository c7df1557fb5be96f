package recipe

import "github.com/wdgnn/wdgnn/modelfile"

// nearCapTensor names the tensor, 1×1 of float64, in which a model file keeps
// the bound of the features that its model was trained with; see
// flocking.Config.
const nearCapTensor = "online.near_cap"

// PutNearCap stores the bound of the features of robots in a model file; 0, no
// bound, stores nothing.
func PutNearCap(file *modelfile.Model, nearCap float64) {
	if nearCap > 0 {
		if file.Precise == nil {
			file.Precise = map[string]modelfile.Float64s{}
		}
		file.Precise[nearCapTensor] = modelfile.Float64s{Rows: 1, Cols: 1, Data: []float64{nearCap}}
	}
}

// NearCapOf returns the bound that a model file holds.
func NearCapOf(file *modelfile.Model) (nearCap float64, found bool) {
	own, ok := file.Precise[nearCapTensor]
	if !ok || len(own.Data) != 1 {
		return 0, false
	}
	return own.Data[0], true
}
