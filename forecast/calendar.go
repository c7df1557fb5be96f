package forecast

import (
	"fmt"
	"math"
	"math/bits"
	"time"
)

// At returns the step of a time. Times before the origin, between two steps, or of
// a series without a clock are errors.
func (s *Spec) At(at time.Time) (step uint64, err error) {
	if s.Interval <= 0 {
		return 0, fmt.Errorf("forecast: %v: this series has no clock; its rows are counted", at)
	}
	passed := at.Sub(s.Origin)
	switch {
	case passed < 0:
		return 0, fmt.Errorf("forecast: %v is before %v, when the training series began", at, s.Origin)
	case passed == math.MaxInt64:
		return 0, fmt.Errorf("forecast: %v is more than 290 years after %v, when the training series began", at, s.Origin)
	case passed%s.Interval != 0:
		return 0, fmt.Errorf("forecast: %v is between two steps: they are %v apart, from %v on", at, s.Interval, s.Origin)
	}
	return uint64(passed / s.Interval), nil
}

// Time returns when a step is; the zero Time if the series has no clock, or if that
// is more than 290 years after the origin.
func (s *Spec) Time(step uint64) time.Time {
	high, low := bits.Mul64(step, uint64(max(s.Interval, 0)))
	if s.Interval <= 0 || high > 0 || low > math.MaxInt64 {
		return time.Time{}
	}
	return s.Origin.Add(time.Duration(low))
}

// Cycle returns a table of sin and cos for the given number of slots, as Spec.Day
// takes it: where in the day, or in a season, a step is.
//
//	row k: sin 2πk/slots, cos 2πk/slots
//
// Tables are stored with a model, since not every machine has the same sin.
func Cycle(slots int) [][]float32 {
	table := make([][]float32, slots)
	for k := range table {
		sin, cos := math.Sincos(2 * math.Pi * float64(k) / float64(slots))
		table[k] = []float32{float32(sin), float32(cos)}
	}
	return table
}

// Weekdays returns a table with an input for every day of the week, Sunday first, as
// Spec.Week takes it.
func Weekdays() [][]float32 {
	table := make([][]float32, 7)
	for d := range table {
		table[d] = make([]float32, 7)
		table[d][d] = 1
	}
	return table
}

// calendar finds the rows of a Spec's tables.
type calendar struct {
	day, week [][]float32
	interval  uint64 // 0: days are counted in steps
	phase     uint64 // of step 0 in the week, which begins on Sunday at 0:00
}

func newCalendar(s *Spec) calendar {
	c := calendar{day: s.Day, week: s.Week, interval: uint64(max(s.Interval, 0))}
	if s.Interval > 0 {
		h, m, sec := s.Origin.Clock()
		c.phase = uint64(s.Origin.Weekday())*uint64(day) + uint64(h)*uint64(time.Hour) + uint64(m)*uint64(time.Minute) +
			uint64(sec)*uint64(time.Second) + uint64(s.Origin.Nanosecond())
	}
	return c
}

// write puts the calendar's inputs of step t into row.
func (c *calendar) write(row []float32, t uint64) {
	high, low := bits.Mul64(t, c.interval)
	low, carry := bits.Add64(low, c.phase, 0)
	now := bits.Rem64(high+carry, low, uint64(week))
	if len(c.day) > 0 {
		slot := t % uint64(len(c.day))
		if c.interval > 0 && c.interval < uint64(day) {
			h, l := bits.Mul64(now%uint64(day), uint64(len(c.day)))
			slot, _ = bits.Div64(h, l, uint64(day))
		}
		row = row[copy(row, c.day[slot]):]
	}
	if len(c.week) > 0 {
		copy(row, c.week[now/uint64(day)])
	}
}
