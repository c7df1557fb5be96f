package online

import (
	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/rule"
)

// InputMoment returns the second moment of what the wide part of m reads,
// [X SX … SᴷX], at the given rows of samples on the shift s: [Config.Moment] of a
// model that was trained on them. It is nil for a model without a wide part. Of
// a trajectory, s is its space-time shift.
//
//	s: R×R   signals: (samples·R)×F, sample by sample   read: rows of a sample; nil means all
func InputMoment(m *gnn.WideDeep, s *mat.CSR, signals mat.Dense, read []int, e *mat.Engine) *rule.SecondMoment {
	if m.Config.Wide == nil {
		return nil
	}
	if read == nil {
		read = make([]int, s.Rows)
		for i := range read {
			read[i] = i
		}
	}
	inputs := (m.Config.Wide.Order + 1) * m.Config.In
	shifter := gnn.Shifter{Engine: e}
	shifted := mat.NewDense(s.Rows, inputs, nil)
	const block = 1024 // rows that are added at once
	rows := mat.NewDense(len(read)*max(block/len(read), 1), inputs, nil)
	moment, filled := new(rule.SecondMoment), 0
	for from := 0; from < signals.Rows; from += s.Rows {
		shifter.Shift(shifted, s, signals.View(from, 0, s.Rows, signals.Cols))
		for _, i := range read {
			copy(rows.Row(filled), shifted.Row(i))
			filled++
		}
		if filled == rows.Rows || from+s.Rows == signals.Rows {
			moment.Add(rows.View(0, 0, filled, inputs), inputs)
			filled = 0
		}
	}
	return moment
}
