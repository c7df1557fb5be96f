package figure

import (
	"errors"
	"fmt"
	"math"
)

// complain joins what is wrong with a chart.
func complain(kind string, errs []error) error {
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("%s cannot be drawn: %w", kind, err)
	}
	return nil
}

// validate says what is wrong with the axis called name.
func (a *Axis) validate(name string) error {
	if a.Zero && !a.Log {
		return fmt.Errorf("%s axis: Zero is for logarithmic axes; a linear one shows 0 anyway", name)
	}
	return nil
}

// check says what keeps v from having a place on the axis.
func (a *Axis) check(v float64) error {
	switch {
	case !drawable(v):
		return fmt.Errorf("%g, want a number of at most %g", v, limit)
	case a.Log && v == 0 && !a.Zero:
		return errors.New("0 has no place on a logarithmic axis; set Zero to give it one")
	case a.Log && v < 0:
		return fmt.Errorf("%g, want a positive number on a logarithmic axis", v)
	}
	return nil
}

// validate returns how many points can be drawn, and what is wrong. Of many
// bad values it names the first.
func (s *Series) validate(x, y Axis) (drawn int, errs []error) {
	if s.Style < Line || s.Style > Dashed {
		errs = append(errs, fmt.Errorf("unknown %v", s.Style))
	}
	if len(s.X) != len(s.Y) {
		return 0, append(errs, fmt.Errorf("%d values of x, %d of y", len(s.X), len(s.Y)))
	}
	if len(s.X) == 0 {
		return 0, append(errs, errors.New("no points"))
	}
	errs = append(errs, checkColor(s.Color)...)
	for i := range s.X {
		if err := x.check(s.X[i]); err != nil {
			errs = append(errs, fmt.Errorf("x of point %d: %w", i+1, err))
			break
		}
		if math.IsNaN(s.Y[i]) {
			continue
		}
		if err := y.check(s.Y[i]); err != nil {
			errs = append(errs, fmt.Errorf("y of point %d: %w", i+1, err))
			break
		}
		drawn++
	}
	return drawn, append(errs, checkRange(s.Low, s.High, len(s.Y))...)
}

// checkRange judges bands and error bars of n points. A lower end that is not
// positive is allowed on a logarithmic axis: it reaches the axis' end.
func checkRange(low, high []float64, n int) []error {
	if low == nil && high == nil {
		return nil
	}
	if len(low) != n || len(high) != n {
		return []error{fmt.Errorf("%d values of Low and %d of High for %d points", len(low), len(high), n)}
	}
	for i := range low {
		l, h := low[i], high[i]
		switch {
		case math.IsNaN(l) || math.IsNaN(h):
		case !drawable(l) || !drawable(h):
			return []error{fmt.Errorf("range of point %d is %g to %g, want numbers of at most %g", i+1, l, h, limit)}
		case l > h:
			return []error{fmt.Errorf("range of point %d: Low is %g, above High, which is %g", i+1, l, h)}
		}
	}
	return nil
}

func checkColor(n int) []error {
	if n < 0 || n > len(palette) {
		return []error{fmt.Errorf("color %d, want 0 to %d", n, len(palette))}
	}
	return nil
}

// drawable says whether v is a number, finite and not so large that a span
// between two of them overflows.
func drawable(v float64) bool { return math.Abs(v) <= limit }
