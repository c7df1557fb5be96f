package train

import (
	"slices"

	"github.com/wdgnn/wdgnn/gnn"
)

// moved are the parameters that training moves where the model holds others made
// of them: those of scaled inputs, or parameters whose running mean is validated.
type moved struct {
	params   gnn.Params
	scalings []*Scaling // of the filters that read the signal; nil if inputs are as they are
	mean     gnn.Params // of params over steps; no numbers if there is none
}

// newMoved takes the parameters of the model for those that training moves.
func newMoved(m *gnn.WideDeep, scalings []*Scaling, average bool) *moved {
	v := &moved{params: gnn.NewParams(m.Config, slices.Clone(m.Params.Flat)), scalings: scalings}
	if average {
		v.mean = gnn.NewParams(m.Config, slices.Clone(m.Params.Flat))
	}
	return v
}

// present makes m the model of the given parameters: v.params or v.mean.
func (v *moved) present(m *gnn.WideDeep, p *gnn.Params) {
	copy(m.Params.Flat, p.Flat)
	if v.scalings == nil {
		return
	}
	from := readers(p)
	for k, to := range readers(&m.Params) {
		v.scalings[k].fold(to, from[k])
	}
}

// pull turns a gradient of the model's parameters into that of v.params.
func (v *moved) pull(grad *gnn.Params) {
	if v.scalings == nil {
		return
	}
	for k, f := range readers(grad) {
		v.scalings[k].pull(f)
	}
}

// average takes the parameters after t steps into the mean:
//
//	θ̄ = a_t θ̄ + (1 - a_t) θ      a_t = min(a, t/(t+9))
//
// so that the first steps are soon forgotten.
func (v *moved) average(a float64, t int) {
	rest := float32(1 - min(a, float64(t)/float64(t+9)))
	for i, p := range v.params.Flat {
		v.mean.Flat[i] += float32(rest * (p - v.mean.Flat[i]))
	}
}
