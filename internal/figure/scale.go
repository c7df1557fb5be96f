package figure

import (
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
)

// scale maps values to places on the page along one direction.
type scale struct {
	min, max float64 // the ends; log10 of them on a logarithmic axis
	log      bool
	zero     bool // 0 has a place of its own, at from
	ticks    []Tick
	minor    []float64 // marks without label

	from, to vg.Length // where the axis begins and ends on the page; 0 and 1 before layout
}

// scaleLook says how the ends of an axis and its ticks are chosen.
type scaleLook struct {
	ticks int     // about so many
	pad   float64 // part of the span to leave free at ends that the data decide
	round bool    // such ends are ticks
}

// Parts of the length of an axis that the place for 0 takes: where 0 is, and
// where the logarithmic part begins.
const (
	zeroAt    = 0.045
	zeroBreak = 0.085
	zeroEnd   = 0.115
)

// newScale chooses the ends and ticks of an axis that shows values. NaN among
// them is passed over, and so is what a logarithmic axis cannot show.
func newScale(a Axis, values []float64, look scaleLook) *scale {
	s := &scale{log: a.Log, zero: a.Log && a.Zero, to: 1}
	s.min, s.max = s.extent(a, values)
	step := niceStep((s.max - s.min) / float64(look.ticks))
	s.extend(a, look, step)
	switch {
	case len(a.Ticks) > 0:
		for _, t := range a.Ticks {
			if t.Label == "" {
				t.Label = number(t.At, 0, a.Percent)
			}
			s.ticks = append(s.ticks, t)
		}
	case s.log:
		s.logTicks(look.ticks, a.Percent)
	default:
		for _, v := range multiples(s.min, s.max, step) {
			s.ticks = append(s.ticks, Tick{v, number(v, step, a.Percent)})
		}
	}
	s.ticks = slices.DeleteFunc(s.ticks, func(t Tick) bool { return !s.shows(t.At) })
	return s
}

// extend moves the ends that the data decide outwards: to a tick, if ends
// shall be ticks or one is near, and else by some padding. Percentages up to
// 100 do not get an axis that goes beyond.
func (s *scale) extend(a Axis, look scaleLook, step float64) {
	lo, hi := s.min, s.max
	pad, near := look.pad*(hi-lo), 0.012*(hi-lo)
	if !s.log {
		if tick := math.Floor(lo/step+1e-9) * step; look.round || lo-tick <= near {
			lo = min(lo, tick)
		}
		if tick := math.Ceil(hi/step-1e-9) * step; look.round || tick-hi <= near {
			hi = max(hi, tick)
		}
		if look.round {
			pad = 0
		}
	}
	if a.Percent && s.max <= 1 && look.round {
		hi = min(hi, 1)
	}
	if a.Min == nil {
		s.min = lo - pad
	}
	if a.Max == nil {
		s.max = hi + pad
	}
}

// extent returns the smallest range that holds the values and obeys the axis'
// ends, in units of the scale, and never an empty one.
func (s *scale) extent(a Axis, values []float64) (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if s.log {
			v = math.Log10(v)
		}
		if drawable(v) {
			lo, hi = min(lo, v), max(hi, v)
		}
	}
	if lo > hi {
		lo, hi = 0, 0
	}
	unit := func(v float64) float64 {
		if s.log {
			return math.Log10(v)
		}
		return v
	}
	if a.Min != nil {
		lo = unit(*a.Min)
		hi = max(hi, lo)
	}
	if a.Max != nil {
		hi = unit(*a.Max)
		if a.Min == nil {
			lo = min(lo, hi)
		}
	}
	least := max(1e-9*max(math.Abs(lo), math.Abs(hi)), 1e-290)
	if s.log {
		least = 1e-6
	}
	if hi-lo >= least {
		return lo, hi
	}
	widen := max(0.05*max(math.Abs(lo), math.Abs(hi)), least)
	if widen < 1e-280 || s.log {
		widen = 0.5
	}
	if a.Min == nil {
		lo -= widen
	}
	if a.Max == nil {
		hi += widen
	}
	return lo, hi
}

// at returns where v is. Values far outside land outside, not too far for
// the arithmetic of clipping.
func (s *scale) at(v float64) vg.Length {
	length := s.to - s.from
	from := s.from
	if s.log {
		if v <= 0 {
			if s.zero {
				return s.from + zeroAt*length
			}
			return s.from - 1e4
		}
		v = math.Log10(v)
	}
	if s.zero {
		from += zeroEnd * length
		length -= zeroEnd * length
	}
	u := (v - s.min) / (s.max - s.min)
	return from + vg.Length(min(max(u, -100), 100))*length
}

// shows says whether v is within the axis.
func (s *scale) shows(v float64) bool {
	if s.log {
		if v <= 0 {
			return s.zero && v == 0
		}
		v = math.Log10(v)
	}
	slack := 1e-9 * (s.max - s.min)
	return v >= s.min-slack && v <= s.max+slack
}
