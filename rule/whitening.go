package rule

import (
	"fmt"
	"math"

	"github.com/wdgnn/wdgnn/mat"
)

// SecondMoment gathers the second moment of the shifted inputs,
//
//	Σ = mean of [z 1]ᵀ [z 1]
//
// over the observations of training. It is what a whitening is made from, and
// belongs in the model file. The zero SecondMoment is empty.
//
// The mean is not taken off: outputs are linear in 𝒜 with inputs z as they are,
// so the curvature of a squared error in 𝒜 is that of zᵀz. The 1 behind z is the
// input of the bias.
type SecondMoment struct {
	Inputs int       `json:"inputs"` // (K+1)·F
	Count  float64   `json:"count"`  // observations
	Mean   []float64 `json:"mean"`   // Σ, (Inputs+1)×(Inputs+1), by rows

	// Heard says what single nodes heard in training, each with a moment of its
	// own; nil if nobody computed it. Nodes that are not in it hear with one
	// common scale; see Hearing.
	Heard map[int]*Hearing `json:"heard,omitempty"`
}

// Add takes in the first inputs columns of every row of z.
func (m *SecondMoment) Add(z mat.Dense, inputs int) {
	n := inputs + 1
	if m.Mean == nil {
		m.Inputs, m.Mean = inputs, make([]float64, n*n)
	}
	if m.Inputs != inputs || z.Cols < inputs {
		panic(fmt.Sprintf("rule: SecondMoment: %d of %d columns after %d", inputs, z.Cols, m.Inputs))
	}
	if z.Rows == 0 {
		return
	}
	sum := make([]float64, n*n)
	v := make([]float64, n)
	for i := range z.Rows {
		for k, x := range z.Row(i)[:inputs] {
			v[k] = float64(x)
		}
		v[inputs] = 1
		for a, va := range v {
			for b, vb := range v {
				sum[a*n+b] += float64(va * vb)
			}
		}
	}
	total := m.Count + float64(z.Rows)
	for e := range m.Mean {
		m.Mean[e] = (float64(m.Mean[e]*m.Count) + sum[e]) / total
	}
	m.Count = total
}

// Validate reports what is wrong with a moment that came from outside.
func (m *SecondMoment) Validate() error {
	n := m.Inputs + 1
	if m.Inputs < 1 || len(m.Mean) != n*n {
		return fmt.Errorf("rule: a second moment of %d inputs with %d numbers, want %d", m.Inputs, len(m.Mean), n*n)
	}
	for a := range n {
		for b := range n {
			v := m.Mean[a*n+b]
			if math.IsNaN(v) || math.IsInf(v, 0) || v != m.Mean[b*n+a] || (a == b && v < 0) {
				return fmt.Errorf("rule: second moment: element (%d,%d) is %v; want finite numbers, symmetric, with a diagonal ≥ 0", a, b, v)
			}
		}
	}
	for i, h := range m.Heard {
		if err := h.Validate(); err != nil {
			return fmt.Errorf("%w: node %d", err, i)
		}
	}
	return nil
}

// whiteningRidge keeps directions that training hardly saw from being stretched
// without bound. It is a share of each input's own mean square, so that units
// of inputs do not matter.
const whiteningRidge = 1e-4
