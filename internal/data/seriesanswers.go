package data

import (
	"fmt"
	"math"
	"slices"
)

// LoadAnswers reads what sensors should have read: a series with some or all of
// the sensors of s, by name, whose times are put on the grid of s. It returns T·N
// numbers, step by step; NaN where nobody knows. missing is as in SeriesOptions.
func LoadAnswers(path string, s *Series, missing *float64) ([]float32, error) {
	a, err := LoadSeries(path, SeriesOptions{Every: s.Interval, Origin: s.Start, Missing: missing})
	if err != nil {
		return nil, err
	}
	shift := 0
	switch {
	case a.Interval == 0 && a.Steps != s.Steps:
		return nil, TableError{fmt.Errorf("answers %s: %d rows without times, but the series has %d steps", path, a.Steps, s.Steps)}
	case a.Interval != 0 && s.Interval == 0:
		return nil, TableError{fmt.Errorf("answers %s: it has times, but the series has none", path)}
	case a.Interval != 0:
		shift = int((a.Start.UnixMicro() - s.Start.UnixMicro()) / s.Interval.Microseconds())
	}
	place := make([]int, a.Nodes)
	for i, name := range a.Names {
		if place[i] = slices.Index(s.Names, name); place[i] < 0 {
			return nil, TableError{fmt.Errorf("answers %s: no sensor is called %.60q%s", path, name, meant(name, s.Names))}
		}
	}
	values := make([]float32, s.Steps*s.Nodes)
	for i := range values {
		values[i] = float32(math.NaN())
	}
	for t := max(0, -shift); t < a.Steps && t+shift < s.Steps; t++ {
		for i, to := range place {
			values[(t+shift)*s.Nodes+to] = a.Step(t).At(i, 0)
		}
	}
	return values, nil
}

// meant asks whether another name was meant, if one is near.
func meant(name string, names []string) string {
	if near := nearest(name, names); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return "; there are " + few(names)
}
