package study

import (
	"math"
	"slices"
)

// Frame is what the units of an experiment saw: observations, each of a row and
// a column of a table by one unit.
//
// A unit may see the same thing several times, in its flights or subgraphs, say.
// Its value is then the mean of them; tables and comparisons are over units, since
// what one unit saw several times is not independent.
//
// The zero Frame is empty and ready. It is not safe for concurrent use.
type Frame struct {
	cells map[place][]seen
}

// place is a row and a column.
type place struct{ row, column string }

// seen is what one unit saw at a place.
type seen struct {
	unit   int
	values []float64
}

// Add adds what a unit saw of row in column. Units are told apart by number; their
// order in means is that in which they are added.
func (f *Frame) Add(row, column string, unit int, values ...float64) {
	if f.cells == nil {
		f.cells = map[place][]seen{}
	}
	at := place{row, column}
	if k := index(f.cells[at], unit); k >= 0 {
		f.cells[at][k].values = append(f.cells[at][k].values, values...)
		return
	}
	f.cells[at] = append(f.cells[at], seen{unit, slices.Clone(values)})
}

// index returns the place of a unit in the list, -1 if it is not there.
func index(list []seen, unit int) int {
	return slices.IndexFunc(list, func(s seen) bool { return s.unit == unit })
}

// Values returns one value per unit.
func (f *Frame) Values(row, column string) (values []float64) {
	for _, s := range f.cells[place{row, column}] {
		values = append(values, Mean(s.values))
	}
	return values
}

// Mean returns the mean over units.
func (f *Frame) Mean(row, column string) float64 { return Mean(f.Values(row, column)) }

// Deviation returns the mean over units with their standard deviation.
func (f *Frame) Deviation(row, column string) *Value { return summary(f.Values(row, column)) }

// Error returns the mean over units with its standard error.
func (f *Frame) Error(row, column string) *Value { return standardError(f.Values(row, column)) }

// Less is the difference a - b.
func Less(a, b float64) float64 { return a - b }

// Percent is the change from b to a, in percent of b.
func Percent(a, b float64) float64 { return 100 * (a/b - 1) }

// Compare adds a row: row against other, unit by unit, by the given measure, in
// every one of the columns. Units that have only one of the two are left out.
func (f *Frame) Compare(name, row, other string, by func(a, b float64) float64, columns ...string) {
	for _, column := range columns {
		for _, a := range f.cells[place{row, column}] {
			if b := f.of(other, column, a.unit); b != nil {
				f.Add(name, column, a.unit, by(Mean(a.values), Mean(b)))
			}
		}
	}
}

// of returns what a unit saw, nil if nothing.
func (f *Frame) of(row, column string, unit int) []float64 {
	list := f.cells[place{row, column}]
	if k := index(list, unit); k >= 0 {
		return list[k].values
	}
	return nil
}

// Above counts the observations of row that are above those of other, one by one,
// and all that can be compared.
func (f *Frame) Above(row, other, column string) (above, all int) {
	for _, a := range f.cells[place{row, column}] {
		for k, v := range f.of(other, column, a.unit) {
			all++
			if a.values[k] > v {
				above++
			}
		}
	}
	return above, all
}

// Both returns the means of two rows over the units that have both, 0 if there is
// none.
func (f *Frame) Both(row, other, column string) (a, b float64) {
	var first, second []float64
	for _, s := range f.cells[place{row, column}] {
		if v := f.of(other, column, s.unit); v != nil {
			first, second = append(first, Mean(s.values)), append(second, Mean(v))
		}
	}
	return Mean(first), Mean(second)
}

// Layout says which observations a table shows, and how.
type Layout struct {
	Title   string
	Columns []Column
	Lines   []Line
	Note    string
}

// Column is a column of a layout.
type Column struct {
	Name     string // as shown
	Of       string // of the frame; empty means Name
	Decimals int
	Signed   bool
	Error    bool // standard errors in place of standard deviations

	Cell func(row string) Cell // if set, makes the cell
}

// Line is a row of a layout.
type Line struct {
	Name  string   // as shown
	Of    string   // of the frame; empty means Name
	Ours  bool     // the paper has no such row
	Paper []*Value // the paper's numbers by column, as far as it has some
}

// Table makes a table of the observations.
func (f *Frame) Table(l Layout) Table {
	t := Table{Title: l.Title, Note: l.Note}
	for _, c := range l.Columns {
		t.Columns = append(t.Columns, c.Name)
	}
	for _, line := range l.Lines {
		row := Row{Name: line.Name, Ours: line.Ours}
		for k, c := range l.Columns {
			cell := f.cell(line, c)
			if k < len(line.Paper) {
				cell.Paper = line.Paper[k]
			}
			row.Cells = append(row.Cells, cell)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func (f *Frame) cell(line Line, c Column) Cell {
	row, column := line.Of, c.Of
	if row == "" {
		row = line.Name
	}
	if column == "" {
		column = c.Name
	}
	switch values := f.Values(row, column); {
	case c.Cell != nil:
		return c.Cell(row)
	case len(values) == 0:
		return Cell{Text: "–"}
	case c.Error:
		return Cell{Value: standardError(values), Decimals: c.Decimals, Signed: c.Signed}
	default:
		return Cell{Value: summary(values), Decimals: c.Decimals, Signed: c.Signed}
	}
}

// Add adds a point with a spread.
func (c *Curve) Add(x float64, v *Value) {
	c.X, c.Y, c.Spread = append(c.X, x), append(c.Y, v.Mean), append(c.Spread, v.Spread)
}

// Sign returns 1 or -1 if a mean with a standard error is above or below 0 by more
// than two standard errors, else 0: then nothing is shown. One unit shows nothing.
func (v *Value) Sign() int {
	switch {
	case v.Count < 2:
		return 0
	case v.Mean > 2*v.Spread:
		return 1
	case v.Mean < -2*v.Spread:
		return -1
	}
	return 0
}

// Near says whether a mean of ours is within two of the paper's standard
// deviations of the paper's.
func Near(ours, paper *Value) bool { return math.Abs(ours.Mean-paper.Mean) <= 2*paper.Spread }
