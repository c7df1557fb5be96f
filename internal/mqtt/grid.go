package mqtt

import (
	"math"
	"slices"
	"time"
)

// Grid places readings on steps: step t is at Origin + t·Interval, and a reading is of the
// step whose time is nearest, of two the later. Of several readings of a sensor the nearest
// counts, of two that are as near the last to come; or, where readings are of when they came,
// the last: what a broker had kept comes in one moment. It reads no clock and is not safe
// for concurrent use.
type Grid struct {
	Origin   time.Time
	Interval time.Duration
	Hold     time.Duration // how long a reading stands in for those that do not come; 0 means not at all
	Wait     time.Duration // how long after its time a step waits for readings
	Sensors  int
	Untimed  bool // readings are of when they came

	next  uint64                  // the first step that is not closed
	open  map[uint64][]*Reading   // by step, then by sensor
	gaps  map[uint64]map[int]bool // sensors without a reading, of the last steps that were closed
	last  []*Reading              // of each sensor, used
	quiet []int                   // steps in a row without a reading, by sensor
}

// Fate is what became of a reading.
type Fate string

// Every reading that can be read has one fate.
const (
	Placed     Fate = "placed"     // on a step to come
	Superseded Fate = "superseded" // another of the same sensor and step is nearer, or was used already
	Late       Fate = "late"       // its step was closed without a reading of the sensor: it can still be told what it was
	Old        Fate = "old"        // its step is too long ago, or before the origin
	Future     Fate = "future"     // it is of a time more than a step ahead of the clock
)

const (
	remembered = 64  // closed steps whose gaps are known
	silentFrom = 3   // steps in a row without a reading from which on a sensor is not waited for
	mostAhead  = 1   // steps that a reading may be ahead
	mostOpen   = 1e4 // steps that may be open, of a past that is caught up with
)

// Begin opens the steps from next on.
func (g *Grid) Begin(next uint64) {
	g.next = next
	g.open, g.gaps = map[uint64][]*Reading{}, map[uint64]map[int]bool{}
	g.last, g.quiet = make([]*Reading, g.Sensors), make([]int, g.Sensors)
}

// Step returns the step that a time is nearest to; false before the origin.
func (g *Grid) Step(at time.Time) (uint64, bool) {
	passed := at.Sub(g.Origin)
	if passed < -g.Interval/2 || passed > math.MaxInt64-g.Interval {
		return 0, false
	}
	return uint64((passed + g.Interval/2) / g.Interval), true
}

// Time returns when a step is.
func (g *Grid) Time(step uint64) time.Time { return g.Origin.Add(time.Duration(step) * g.Interval) }

// Put takes a reading of a sensor, and returns what became of it, its step, and whether a
// reading that was placed before made way for it.
func (g *Grid) Put(sensor int, r Reading, now time.Time) (fate Fate, step uint64, instead bool) {
	step, ok := g.Step(r.At)
	switch {
	case !ok:
		return Old, 0, false
	case r.At.After(now.Add(mostAhead*g.Interval + g.Interval/2)):
		return Future, step, false
	case step < g.next:
		g.Recall(sensor, r) // the last word holds, also where its step had to go on without it
		if !now.After(g.Time(step).Add(g.Wait)) {
			g.quiet[sensor] = 0 // it speaks again, and would have been in time had anybody waited
		}
		gaps, known := g.gaps[step]
		switch {
		case !known:
			return Old, step, false
		case !gaps[sensor]:
			return Superseded, step, false
		}
		delete(gaps, sensor)
		return Late, step, false
	}
	row := g.open[step]
	if row == nil {
		if len(g.open) >= mostOpen {
			return Old, step, false
		}
		row = make([]*Reading, g.Sensors)
		g.open[step] = row
	}
	if before := row[sensor]; before != nil {
		if !g.Untimed && g.off(before, step) < g.off(&r, step) {
			return Superseded, step, false
		}
		instead = true
	}
	row[sensor] = &r
	return Placed, step, instead
}

// Recall tells what a sensor read at a step that is over, or before the first: it may stand in for
// readings that do not come.
func (g *Grid) Recall(sensor int, r Reading) {
	if g.last[sensor] == nil || !r.At.Before(g.last[sensor].At) {
		g.last[sensor] = &r
	}
}

// Age returns how many steps before a closed step a sensor was last read, 0 if it was read
// then or never.
func (g *Grid) Age(sensor int, step uint64) uint64 {
	if r := g.last[sensor]; r != nil {
		if at, ok := g.Step(r.At); ok && at < step {
			return step - at
		}
	}
	return 0
}

// off is how far a reading is from its step.
func (g *Grid) off(r *Reading, step uint64) time.Duration { return r.At.Sub(g.Time(step)).Abs() }

// Earliest returns the first step that is not closed and has a reading; false if none has.
func (g *Grid) Earliest() (step uint64, ok bool) {
	for open := range g.open {
		if !ok || open < step {
			step, ok = open, true
		}
	}
	return step, ok
}

// Complete says whether all sensors that are waited for have a reading of a step: those
// that have been silent for three steps are not.
func (g *Grid) Complete(step uint64) bool {
	row := g.open[step]
	for i := range g.Sensors {
		if (row == nil || row[i] == nil) && g.quiet[i] < silentFrom {
			return false
		}
	}
	return true
}

// Take closes a step and all before it. It returns a row of numbers for each sensor, nil where
// nothing was read and nothing holds, and how many of them were read.
func (g *Grid) Take(step uint64) (rows [][]float32, read int) {
	rows, gaps := make([][]float32, g.Sensors), map[int]bool{}
	row := g.open[step]
	for i := range rows {
		switch {
		case row != nil && row[i] != nil:
			rows[i], g.last[i], g.quiet[i] = row[i].Row, row[i], 0
			read++
			continue
		case g.last[i] != nil && g.Time(step).Sub(g.last[i].At) <= g.Hold:
			rows[i] = slices.Clone(g.last[i].Row)
		default:
			gaps[i] = true
		}
		g.quiet[i]++
	}
	g.gaps[step] = gaps
	for open := range g.open {
		if open <= step {
			delete(g.open, open)
		}
	}
	g.next = step + 1
	for closed := range g.gaps {
		if closed+remembered < g.next {
			delete(g.gaps, closed)
		}
	}
	return rows, read
}
