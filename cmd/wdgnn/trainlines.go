package main

import (
	"fmt"

	"github.com/wdgnn/wdgnn/forecast"
	"github.com/wdgnn/wdgnn/internal/grid"
	"github.com/wdgnn/wdgnn/internal/lifecycle"
)

// horizons prints how far off forecasts were, in the user's unit, beside those that
// need no network: on the test part, or without one on that for validation.
func (l *lines) horizons(r *lifecycle.TrainingResult) {
	part, name := r.Test, "test"
	if part == nil {
		part, name = r.Valid, "valid"
	}
	if part == nil || len(part.Horizons) == 0 {
		return
	}
	head := name + ", mean absolute error"
	if r.Unit != "" {
		head += " in " + r.Unit
	}
	l.printf("%s\n       ahead        model   last value   seasonal naive        ridge\n", head)
	for _, h := range part.Horizons {
		l.printf("       %-9s %8s %12s %16s %12s\n", h.Name(), off(&h.Model), off(&h.Last), off(h.Seasonal), off(&h.Ridge))
	}
}

// scored says in a few sentences how well a model does, for those who watch.
func scored(r *lifecycle.TrainingResult) []string {
	list := []string{fmt.Sprintf("Trained %s.", grid.Count(r.Epochs, "epoch"))}
	for _, part := range []struct {
		name  string
		score *lifecycle.Score
	}{{"Validation", r.Valid}, {"Test", r.Test}} {
		if part.score != nil {
			list = append(list, fmt.Sprintf("%s: %s.", part.name, part.score))
		}
	}
	return list
}

// off writes a mean absolute error; a dash where nothing was judged.
func off(s *forecast.Score) string {
	if s == nil || s.Count == 0 {
		return "-"
	}
	return fmt.Sprintf("%.4g", s.MAE)
}
