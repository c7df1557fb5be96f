package figure

import (
	"math"

	"gonum.org/v1/plot/vg"
)

// scale maps values to places on the page along one direction.
type scale struct {
	min, max float64 // the ends; log10 of them on a logarithmic axis
	log      bool
	zero     bool // 0 has a place of its own, at from
	ticks    []tick
	minor    []float64 // marks without label

	from, to vg.Length // where the axis begins and ends on the page; 0 and 1 before layout
}

// tick is a mark on an axis.
type tick struct {
	at    float64
	label string
}

// scaleLook says how the ends of an axis and its ticks are chosen.
type scaleLook struct {
	ticks int     // about so many
	pad   float64 // part of the span to leave free at the ends
	round bool    // ends are ticks
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
	s.min, s.max = s.extent(values)
	step := niceStep((s.max - s.min) / float64(look.ticks))
	if a.Whole && !a.Log {
		step = max(step, 1)
	}
	s.extend(look, step)
	if s.log {
		s.logTicks(look.ticks)
	} else {
		s.linearTicks(step)
	}
	return s
}

// fixedScale is a linear axis with given ends and about so many ticks.
func fixedScale(lo, hi float64, ticks int) *scale {
	s := &scale{min: lo, max: hi, to: 1}
	s.linearTicks(niceStep((hi - lo) / float64(ticks)))
	return s
}

// extend moves the ends outwards: to a tick, if ends shall be ticks or one is
// near, and else by some padding.
func (s *scale) extend(look scaleLook, step float64) {
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
	s.min, s.max = lo-pad, hi+pad
}

// extent returns the smallest range that holds the values, in units of the
// scale, and never an empty one.
func (s *scale) extent(values []float64) (lo, hi float64) {
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
	return lo - widen, hi + widen
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
