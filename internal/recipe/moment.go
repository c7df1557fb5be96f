package recipe

import (
	"fmt"

	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/rule"
)

// PutMoment stores a second moment in a model file; nil stores nothing.
func PutMoment(file *modelfile.Model, m *rule.SecondMoment) {
	if m != nil {
		file.SetMoment(modelfile.Float64s{Rows: m.Inputs + 1, Cols: m.Inputs + 1, Data: m.Mean}, m.Count)
	}
}

// MomentOf returns the second moment that a model file holds, nil if it holds
// none.
func MomentOf(file *modelfile.Model) (*rule.SecondMoment, error) {
	mean, count, found := file.Moment()
	if !found {
		return nil, nil
	}
	m := &rule.SecondMoment{Inputs: mean.Rows - 1, Mean: mean.Data, Count: count}
	if err := m.Validate(); err != nil {
		return nil, fmt.Errorf("tensor online.moment: %w", err)
	}
	return m, nil
}
