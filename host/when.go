package host

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/wdgnn/wdgnn/forecast"
)

// layouts are the ways to write a time. What names no zone is in that of the training
// series.
var layouts = []string{
	time.RFC3339, "2006-01-02 15:04:05Z07:00", "2006-01-02T15:04:05", time.DateTime,
	"2006-01-02T15:04Z07:00", "2006-01-02 15:04Z07:00", "2006-01-02T15:04", "2006-01-02 15:04", time.DateOnly,
}

// dated returns a line with the step of the time that it names, if it does: the
// nearest, of two the later, as readings of a series are put on their grid.
func (h *Machine) dated(l *Line) (*Line, error) {
	if l.At == "" {
		return l, nil
	}
	step, err := stepAt(h.cfg.Plan.Forecast, l.At)
	if err == nil && l.Time != 0 && l.Time != step {
		err = fmt.Errorf("it is also said to be step %d, and is step %d; leave one of the two out", l.Time, step)
	}
	if err != nil {
		return nil, fmt.Errorf("at %.60q: %w", l.At, err)
	}
	at := *l
	at.Time = step
	return &at, nil
}

// stepAt returns the step of a time.
func stepAt(s *forecast.Spec, text string) (uint64, error) {
	if s == nil || s.Interval <= 0 {
		return 0, errors.New("the model knows no clock, steps are counted; say time, a number")
	}
	for _, layout := range layouts {
		at, err := time.ParseInLocation(layout, text, s.Origin.Location())
		if err != nil {
			continue
		}
		passed := at.Sub(s.Origin)
		if passed > math.MaxInt64-s.Interval || passed < -s.Interval/2 {
			return s.At(at) // which says what is wrong
		}
		return uint64((passed + s.Interval/2) / s.Interval), nil
	}
	return 0, errors.New(`this is no time; want one such as 2026-03-29T23:45:00Z`)
}

// date gives an answer the times of its step and of what is forecast, where there is
// a clock.
func (h *Machine) date(a *Answer) {
	a.At, a.For = "", a.For[:0]
	s := h.cfg.Plan.Forecast
	if s == nil || s.Interval <= 0 || s.Time(a.Time).IsZero() {
		return
	}
	a.At = s.Time(a.Time).Format(time.RFC3339)
	for _, ahead := range s.Horizons {
		a.For = append(a.For, s.Time(a.Time+uint64(ahead)).Format(time.RFC3339))
	}
}
