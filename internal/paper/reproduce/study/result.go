package study

import (
	"fmt"
	"math"
)

// Result is what an experiment found. Its JSON is the raw form from which
// tables, figures and doc/results.md are made.
type Result struct {
	Manifest Manifest `json:"manifest"`
	Machine  Machine  `json:"machine"`
	Tables   []Table  `json:"tables"`
	Charts   []Chart  `json:"charts"`
	Notes    []string `json:"notes"`  // what a reader must know, in sentences
	Models   []string `json:"models"` // files of trained models, relative to the output folder
}

// Manifest is what a result depends on: running it again gives the same bits.
type Manifest struct {
	Experiment string  `json:"experiment"`
	Settings   Options `json:"settings"`
	Version    string  `json:"version"` // of the program
	Kernels    string  `json:"kernels"`
	Family     string  `json:"family,omitempty"` // bits are promised per family of kernel sets
}

// Machine is where and how long a run took.
type Machine struct {
	CPU     string  `json:"cpu"`
	Cores   int     `json:"cores"`
	Threads int     `json:"threads"`
	Go      string  `json:"go"`
	Seconds float64 `json:"seconds"` // of computing, earlier parts of an interrupted run included
}

// Table is one table.
type Table struct {
	Title   string   `json:"title"`
	Columns []string `json:"columns"`
	Rows    []Row    `json:"rows"`
	Note    string   `json:"note,omitempty"` // under the table
}

// Row is one row of a table.
type Row struct {
	Name  string `json:"name"`
	Ours  bool   `json:"ours,omitempty"` // the paper has no such row
	Cells []Cell `json:"cells"`
}

// Cell is one entry of a table: numbers with the paper's beside them, or text.
type Cell struct {
	Value    *Value `json:"value,omitempty"`
	Paper    *Value `json:"paper,omitempty"`
	Decimals int    `json:"decimals"`
	Signed   bool   `json:"signed,omitempty"` // written with its sign, as differences are
	Text     string `json:"text,omitempty"`   // instead of a value, or behind it
}

// Value is a mean with its spread.
type Value struct {
	Mean   float64 `json:"mean"`
	Spread float64 `json:"spread"` // standard deviation, or standard error where a column says so
	Count  int     `json:"count"`  // of what the mean is taken over; 0 if unknown
}

// Chart is the data of a figure.
type Chart struct {
	Name   string  `json:"name"` // of the files
	Title  string  `json:"title"`
	X      string  `json:"x"`
	Y      string  `json:"y"`
	Log    bool    `json:"log,omitempty"`   // logarithmic x axis, with a place for 0
	LogY   bool    `json:"log_y,omitempty"` // logarithmic y axis
	Curves []Curve `json:"curves,omitempty"`
	Tracks []Track `json:"tracks,omitempty"` // instead of curves: a picture of motion
	Note   string  `json:"note,omitempty"`
}

// Track is the way of one robot.
type Track struct {
	X        []float64  `json:"x"`
	Y        []float64  `json:"y"`
	Velocity [2]float64 `json:"velocity"` // at the end
}

// Curve is one curve of a chart, with a spread where it has one.
type Curve struct {
	Name      string    `json:"name"`
	X         []float64 `json:"x"`
	Y         []float64 `json:"y"`
	Spread    []float64 `json:"spread,omitempty"`
	Reference bool      `json:"reference,omitempty"` // drawn as something to compare with
	Points    bool      `json:"points,omitempty"`
}

// summary returns mean and standard deviation, that of a sample: it divides by
// one less than the count.
func summary(values []float64) *Value {
	v := &Value{Count: len(values)}
	for _, x := range values {
		v.Mean += x / float64(len(values))
	}
	if len(values) > 1 {
		for _, x := range values {
			v.Spread += float64((x-v.Mean)*(x-v.Mean)) / float64(len(values)-1)
		}
		v.Spread = math.Sqrt(v.Spread)
	}
	return v
}

// Mean returns the mean of the values.
func Mean(values []float64) float64 { return summary(values).Mean }

// standardError returns the mean with its standard error.
func standardError(values []float64) *Value {
	v := summary(values)
	if v.Count > 1 {
		v.Spread /= math.Sqrt(float64(v.Count))
	}
	return v
}

// String writes a value as tables do.
func (c Cell) String() string {
	if c.Value == nil {
		return c.Text
	}
	format := "%.*f"
	if c.Signed {
		format = "%+.*f"
	}
	s := fmt.Sprintf(format, c.Decimals, c.Value.Mean)
	if c.Value.Count > 1 {
		s += fmt.Sprintf(" ± %.*f", c.Decimals, c.Value.Spread)
	}
	if c.Text != "" {
		s += " " + c.Text
	}
	return s
}

// PaperText writes the paper's number, empty if it has none.
func (c Cell) PaperText() string {
	if c.Paper == nil {
		return ""
	}
	if c.Signed {
		return fmt.Sprintf("%+.*f", c.Decimals, c.Paper.Mean)
	}
	if c.Paper.Spread == 0 {
		return fmt.Sprintf("%.*f", c.Decimals, c.Paper.Mean)
	}
	return fmt.Sprintf("%.*f ± %.*f", c.Decimals, c.Paper.Mean, c.Decimals, c.Paper.Spread)
}
