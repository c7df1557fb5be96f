package online

import (
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
)

// Meter keeps count of how a learner does. The zero Meter is ready.
type Meter struct {
	Steps int     // predictions seen
	Cost  float64 // of the last
	Sum   float64 // of all costs
	Right int     // answers that named the right class, under cross-entropy
	Asked int     // answers in all
}

// Watch takes in a prediction and what it cost.
func (m *Meter) Watch(y mat.Dense, j loss.Loss) {
	m.Steps++
	m.Cost = j.Eval(mat.Dense{}, y)
	m.Sum += m.Cost
	var labels []int32
	switch c := j.(type) {
	case loss.CrossEntropy:
		labels = c.Labels
	case *loss.CrossEntropy:
		labels = c.Labels
	}
	for i, l := range labels {
		if l == loss.NoLabel {
			continue
		}
		m.Asked++
		if mat.Argmax(y.Row(i)) == int(l) {
			m.Right++
		}
	}
}

// MeanCost returns the mean of all costs so far, 0 before the first.
func (m *Meter) MeanCost() float64 { return m.Sum / float64(max(m.Steps, 1)) }

// Accuracy returns the share of right answers so far, 0 before the first.
func (m *Meter) Accuracy() float64 { return float64(m.Right) / float64(max(m.Asked, 1)) }
