package main

import (
	"fmt"
	"strings"

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
	if part == nil || len(part.Horizons) == 0 || len(part.Horizons[0].Methods) == 0 { // the last of an earlier version
		return
	}
	head := name + ", mean absolute error"
	if r.Unit != "" {
		head += " in " + r.Unit
	}
	rows := []string{head, "       ahead        model"}
	for k, h := range part.Horizons {
		row := fmt.Sprintf("       %-9s %8s", h.Ahead, off(h.Method(lifecycle.MethodFrozen)))
		for _, m := range h.Methods[:len(h.Methods)-1] {
			width := max(12, len(m.Name)+2)
			if row += fmt.Sprintf(" %*s", width, off(m)); k == 0 {
				rows[1] += fmt.Sprintf(" %*s", width, m.Name)
			}
		}
		rows = append(rows, row)
	}
	l.printf("%s\n", strings.Join(rows, "\n"))
	printVerdicts(l, r.Unit, r.Verdicts)
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
	if r.Warning != "" {
		list = append(list, upper(r.Warning)+".")
	}
	return list
}

// off writes a mean absolute error; a dash where nothing was judged.
func off(m lifecycle.MethodResult) string {
	if m.Count == 0 {
		return "-"
	}
	return fmt.Sprintf("%.4g", m.MAE)
}
