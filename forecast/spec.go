package forecast

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// Spec is what a forecast model knows of its sensors. It is shared by all of them
// and not changed while they run.
type Spec struct {
	Sensors []string `json:"sensors"` // names, by node

	// Interval is the time between two steps; 0 for series without a clock, whose
	// rows are counted.
	Interval time.Duration `json:"interval,omitempty"`

	// Origin is the time of step 0, the first of the training series. Clocks show
	// its offset from UTC all year.
	Origin time.Time `json:"origin,omitzero"`

	Steps    uint64 `json:"steps"`            // of the training series; a later one without a clock begins here
	Unit     string `json:"unit,omitempty"`   // of readings, for people
	Lags     int    `json:"lags"`             // readings that are inputs, the newest included
	Horizons []int  `json:"horizons"`         // steps ahead, ascending; an output each
	Extras   int    `json:"extras,omitempty"` // further numbers of a reading that are inputs

	// Day holds calendar inputs by the time of day, rows of equal length for equal
	// parts of the day; without a clock, or with a day or more between steps, by
	// t mod len(Day). Nil means none. See [Cycle].
	Day [][]float32 `json:"day,omitempty"`

	// Week holds seven rows by the day of the week, Sunday first; nil means none. See
	// [Weekdays].
	Week [][]float32 `json:"week,omitempty"`

	Season  int      `json:"season,omitempty"`  // steps after which the world is alike, such as those of a day; 0 means none
	Missing *float64 `json:"missing,omitempty"` // a reading that means none; nil means NaN alone

	Norms []Norm `json:"-"` // by sensor
}

const (
	day  = 24 * time.Hour
	week = 7 * day

	maxLags     = 1 << 16
	maxHorizons = 1 << 10
	maxInputs   = 1 << 20
)

// Inputs returns F, the number of inputs of a node.
func (s *Spec) Inputs() int { return s.Lags + 1 + s.Extras + width(s.Day) + width(s.Week) }

// Flag returns the column of the input that says whether the newest reading is an
// estimate.
func (s *Spec) Flag() int { return s.Lags }

// Lagged returns which columns of z = [X SX … SᴷX] hold readings, for a filter of
// order K: Lags of every block of Inputs columns.
func (s *Spec) Lagged(order int) []int {
	columns := make([]int, 0, s.Lags*(order+1))
	for k := range order + 1 {
		for l := range s.Lags {
			columns = append(columns, k*s.Inputs()+l)
		}
	}
	return columns
}

// width returns the length of a table's rows.
func width(table [][]float32) int {
	if len(table) == 0 {
		return 0
	}
	return len(table[0])
}

// Validate reports everything that is wrong with s.
func (s *Spec) Validate() error {
	var errs []error
	complain := func(format string, args ...any) { errs = append(errs, fmt.Errorf("forecast: "+format, args...)) }
	if len(s.Sensors) == 0 {
		complain("no sensors")
	}
	s.validateNames(complain)
	if s.Interval < 0 {
		complain("interval is %v, want the time between two steps, or 0 for a series without a clock", s.Interval)
	}
	if s.Interval > 0 && s.Origin.IsZero() {
		complain("interval is %v but origin is not set", s.Interval)
	}
	if s.Lags < 1 || s.Lags > maxLags {
		complain("lags is %d, want 1 to %d readings", s.Lags, maxLags)
	}
	if s.Extras < 0 || s.Extras > maxInputs || s.Season < 0 {
		complain("extras is %d and season %d, want no less than 0", s.Extras, s.Season)
	}
	s.validateHorizons(complain)
	s.validateTables(complain)
	if m := s.Missing; m != nil && math.IsInf(*m, 0) {
		complain("missing is %v, want a number", *m)
	}
	if len(s.Norms) != len(s.Sensors) {
		complain("%d sensors and %d norms", len(s.Sensors), len(s.Norms))
		return errors.Join(errs...)
	}
	for i := range s.Norms {
		if err := s.Norms[i].validate(s); err != nil {
			complain("sensor %q: %w", s.Sensors[i], err)
		}
	}
	return errors.Join(errs...)
}

func (s *Spec) validateNames(complain func(string, ...any)) {
	seen := make(map[string]int, len(s.Sensors))
	for i, name := range s.Sensors {
		if name == "" {
			complain("sensor %d has no name", i)
		} else if first, twice := seen[name]; twice {
			complain("sensors %d and %d are both called %q", first, i, name)
		}
		seen[name] = i
	}
}

func (s *Spec) validateHorizons(complain func(string, ...any)) {
	if len(s.Horizons) < 1 || len(s.Horizons) > maxHorizons {
		complain("%d horizons, want 1 to %d", len(s.Horizons), maxHorizons)
	}
	for c, h := range s.Horizons {
		if h < 1 || c > 0 && h <= s.Horizons[c-1] {
			complain("horizons are %v, want numbers of steps from 1, ascending", s.Horizons)
			return
		}
	}
}

func (s *Spec) validateTables(complain func(string, ...any)) {
	check := func(name string, table [][]float32) {
		for i, row := range table {
			if len(row) != width(table) || len(row) == 0 || len(row) > maxInputs {
				complain("row %d of %s has %d inputs, want %d as the first, and at least one", i, name, len(row), width(table))
				return
			}
			for _, v := range row {
				if v-v != 0 {
					complain("row %d of %s has %v, want numbers", i, name, v)
					return
				}
			}
		}
	}
	check("day", s.Day)
	check("week", s.Week)
	if len(s.Week) != 0 && len(s.Week) != 7 {
		complain("week has %d rows, want 7, Sunday first", len(s.Week))
	}
	if len(s.Week) > 0 && s.Interval == 0 {
		complain("days of the week need a clock: interval is 0")
	}
}
