package data

import (
	"fmt"
	"slices"
	"strconv"
)

// matrix says which sensors the columns and rows of a matrix in text are.
type matrix struct {
	columns []int // sensor of each column of weights
	labels  bool  // the first column names the sensor of a row
	named   bool  // the first line names the columns
}

// newMatrix takes the first line of a file. It returns nil unless that is a row of
// weights, one for each sensor, or the names of the sensors.
func newMatrix(first []string, s *Series) *matrix {
	fits := func(n int) bool { return n == s.Nodes || n == s.Known }
	at := make(map[string]int, s.Nodes)
	for i, name := range s.Names {
		at[name] = i
	}
	for _, skip := range []int{0, 1} { // with names, a first column of labels has no name of its own
		m := &matrix{labels: skip == 1, named: true}
		for _, name := range first[skip:] {
			if i, ok := at[name]; ok && !slices.Contains(m.columns, i) {
				m.columns = append(m.columns, i)
			}
		}
		if n := len(first) - skip; fits(n) && len(m.columns) == n {
			return m
		}
	}
	if !allNumbers(first) || !fits(len(first)) && len(first) <= 4 {
		return nil
	}
	m := &matrix{columns: make([]int, len(first))}
	for i := range first {
		m.columns[i] = i
	}
	return m
}

func allNumbers(fields []string) bool {
	return !slices.ContainsFunc(fields, func(f string) bool { return !isNumber(f) })
}

// readMatrix reads a row of weights for each sensor: entry (i,j) is the link
// j → i.
func (l *sensorLinks) readMatrix(r *textReader, m *matrix) error {
	n := len(m.columns)
	if n != l.series.Nodes && n != l.series.Known {
		return fmt.Errorf("line %d: %d columns of numbers, but the series has %s; a matrix has a row and a column for each",
			r.top, n, counted(l.series.Nodes, "sensor"))
	}
	row := 0
	err := r.lines(m.named, func(fields []string) error {
		if row == n {
			return fmt.Errorf("row %d of a matrix for %d sensors", row+1, n)
		}
		to := m.columns[row]
		if m.labels {
			if to = slices.Index(l.series.Names, fields[0]); to < 0 {
				return fmt.Errorf("column 1: no sensor of the series is called %.60q%s", fields[0], meant(fields[0], l.series.Names))
			}
			fields = fields[1:]
		}
		for j, text := range fields {
			w, err := strconv.ParseFloat(text, 64)
			if err != nil {
				return fmt.Errorf("column %d: %.40q is not a number", j+1, text)
			}
			if err := l.add(sensorLink{from: m.columns[j], to: to, weight: w, line: r.line}); err != nil {
				return fmt.Errorf("column %d: %w", j+1, err)
			}
		}
		row++
		return nil
	})
	if err == nil && row != n {
		err = fmt.Errorf("%d rows of %d columns; a matrix has a row and a column for each sensor", row, n)
	}
	return err
}
