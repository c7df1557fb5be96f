package main

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/wdgnn/wdgnn/internal/grid"
	"github.com/wdgnn/wdgnn/internal/lifecycle"
)

// printScores writes how forecasts turned out, beside others.
func printScores(w *lines, unit string, horizons []lifecycle.HorizonResult) {
	if unit != "" {
		unit = " " + unit
	}
	for _, h := range horizons {
		rows := [][]string{{h.Ahead + " ahead", "MAE" + unit, "RMSE", "MAPE", "coverage", "width", "unknown"}}
		size := 0.0
		for _, m := range h.Methods {
			size = max(size, m.RMSE)
		}
		digits := decimalsOf(size / 10)
		for _, m := range h.Methods {
			row := []string{
				"  " + m.Name, fmt.Sprintf("%.*f", digits, m.MAE), fmt.Sprintf("%.*f", digits, m.RMSE), fmt.Sprintf("%.1f %%", 100*m.MAPE),
			}
			if m.Intervals > 0 {
				row = append(row, fmt.Sprintf("%.1f %%", 100*m.Coverage), fmt.Sprintf("%.*f", digits, m.Width),
					fmt.Sprintf("%.1f %%", 100*float64(m.Unknown)/float64(m.Intervals)))
			}
			rows = append(rows, row)
		}
		if len(h.Methods) > 0 && h.Methods[0].Count == 0 {
			w.printf("%s ahead: nothing came true within the stream\n", h.Ahead)
			continue
		}
		printColumns(w, rows)
	}
}

// printVerdicts says, by horizon, whether forecasts are better than those that need no
// model.
func printVerdicts(w *lines, unit string, v lifecycle.Verdicts) {
	for _, one := range v.List {
		w.printf("%s\n", one.Say(unit))
	}
}

// warn says that forecasts are not better, and what to try.
func warn(to io.Writer, v lifecycle.Verdicts) {
	if what, try, found := strings.Cut(v.Warning, "; try "); found {
		fmt.Fprintf(to, "! %s\nTry: %s\n", what, try)
	}
}

// printColumns writes rows, of which the first is the header, below each other.
func printColumns(w *lines, rows [][]string) {
	list, _ := grid.Lines(rows[0], rows[1:], 2, columns(w.w))
	for _, line := range list {
		w.printf("%s\n", line)
	}
}

// decimalsOf returns how many decimals a number of such a size wants.
func decimalsOf(size float64) int {
	if !(size > 0) {
		return 1
	}
	return min(max(2-int(math.Floor(math.Log10(size))), 0), 6)
}
