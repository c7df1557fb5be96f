package data

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/wdgnn/wdgnn/mat"
)

// A grid may have this many times as many steps as the file has different
// times, and some more; and this many times as many readings as the file has.
// Beyond that a time is more likely wrong than meant.
const (
	mostSparse = 16
	freeSteps  = 4096
	freeCells  = 1 << 22
)

// mostGaps bounds how many spacings are looked at to find the usual one.
const mostGaps = 1 << 18

// grid is an even grid of times, in microseconds: step k is at origin + k·every.
type grid struct{ origin, every int64 }

// step returns the nearest step of a time, the later of two that are as near,
// and how far from it the time is.
func (g grid) step(at int64) (k, off int64) {
	d := at - g.origin + g.every/2
	k = d / g.every
	if d%g.every < 0 {
		k--
	}
	off = at - g.origin - k*g.every
	return k, max(off, -off)
}

// series puts a table on a grid.
func (b *table) series(o SeriesOptions) (*Series, error) {
	s := &Series{Names: b.names, Known: b.known, Nodes: len(b.names), Features: b.features}
	if !b.timed {
		s.Steps = len(b.lines)
		s.Values = mat.NewDense(s.Steps*s.Nodes, 1, b.values)
		s.noteGaps()
		return s, nil
	}
	times := b.distinctTimes()
	if !slices.IsSorted(b.times) {
		s.note("rows are not in the order of time: sorted")
	}
	g, err := b.chooseGrid(s, times, o)
	if err != nil {
		return nil, err
	}
	first, _ := g.step(times[0])
	last, _ := g.step(times[len(times)-1])
	if err := b.checkSize(g, times, last-first+1); err != nil {
		return nil, err
	}
	s.Steps = int(last - first + 1)
	s.Interval = time.Duration(g.every) * time.Microsecond
	s.Start = time.UnixMicro(g.origin + first*g.every).UTC()
	if b.inPlace(g, times) {
		s.Values = mat.NewDense(s.Steps*s.Nodes, 1, b.values)
	} else if err := b.fill(s, g, first); err != nil {
		return nil, err
	}
	if times[len(times)-1] < 1e8*1e6 {
		s.note("times are in the years 1970 to 1973: numbers in the time column are seconds since 1970, whatever they were meant to be")
	}
	s.noteGaps()
	return s, nil
}

// distinctTimes returns the times of all rows, ascending and each once.
func (b *table) distinctTimes() []int64 {
	var times []int64
	for i, at := range b.times { // lines of one time mostly follow each other
		if i == 0 || at != b.times[i-1] {
			times = append(times, at)
		}
	}
	slices.Sort(times)
	return slices.Compact(times)
}

// chooseGrid settles interval and origin: those asked for, otherwise the usual
// spacing, through the first time. times ascend and differ.
func (b *table) chooseGrid(s *Series, times []int64, o SeriesOptions) (grid, error) {
	spacing, even := usual(b.spacings())
	g := grid{origin: times[0], every: o.Every.Microseconds()}
	switch {
	case g.every > 0:
		if len(times) > 2 && even && spacing >= 2*g.every {
			s.note("the grid is %s, but readings usually come every %s: the steps between are gaps",
				span(g.every), span(spacing))
		}
	case spacing == 0:
		return g, errors.New("one time alone has no spacing; say how far apart steps are with every, such as every: 15m")
	case monthly(times, spacing):
		return g, errors.New("its times are months, which are not of one length: " +
			"leave the time column out, so that rows count, and set season: 12")
	case even:
		g.every = spacing
	default:
		g.every = spacing
		if day%g.every == 0 {
			k, _ := grid{every: g.every}.step(times[0])
			g.origin = k * g.every // a round time of the day
		}
		s.note("times are not evenly spaced: the grid is %s, about the usual spacing; every says otherwise", span(g.every))
	}
	if g.every > 100*366*day {
		return g, fmt.Errorf("line %d: %s is %s from the next time; is one of the two mistyped?",
			b.lineOf(times[0]), stamp(times[0]), span(spacing))
	}
	if !o.Origin.IsZero() {
		g.origin = o.Origin.UnixMicro()
	}
	return g, nil
}

// spacings returns the times between readings of the same sensor, as sensors may
// read at times of their own; if none reads twice, those between rows.
func (b *table) spacings() []int64 {
	before := make([]int64, len(b.names))
	for i := range before {
		before[i] = math.MinInt64
	}
	var gaps, rows []int64
	last := int64(math.MinInt64)
	for _, r := range b.byTime(func(at int64) (int64, int64) { return at, 0 }) {
		at := b.times[r]
		if last != math.MinInt64 && at > last {
			rows = append(rows, at-last)
		}
		last = at
		b.cells(r, func(i int, _ []float32) {
			if before[i] != math.MinInt64 && at > before[i] {
				gaps = append(gaps, at-before[i])
			}
			before[i] = at
		})
		if len(gaps) >= mostGaps {
			break
		}
	}
	if len(gaps) == 0 {
		return rows
	}
	return gaps
}

// byTime returns the rows sorted by the step of their time, then the farthest
// from it first, then by time, then as in the file.
func (b *table) byTime(step func(at int64) (k, off int64)) []int32 {
	order := make([]int32, len(b.times))
	for r := range order {
		order[r] = int32(r)
	}
	slices.SortStableFunc(order, func(p, q int32) int {
		kp, dp := step(b.times[p])
		kq, dq := step(b.times[q])
		return cmp.Or(cmp.Compare(kp, kq), cmp.Compare(dq, dp), cmp.Compare(b.times[p], b.times[q]))
	})
	return order
}

// cells hands on what row r reads: sensor and values, the reading first. What it
// does not read is left out.
func (b *table) cells(r int32, do func(sensor int, values []float32)) {
	if b.long() {
		do(int(b.sensors[r]), b.values[int(r)*b.features:][:b.features])
		return
	}
	row := b.values[int(r)*len(b.names):][:len(b.names)]
	for i := range row {
		if row[i] == row[i] {
			do(i, row[i:i+1])
		}
	}
}

// checkSize refuses a grid far larger than what the file holds.
func (b *table) checkSize(g grid, times []int64, steps int64) error {
	cells := int64(len(b.values))
	if steps <= mostSparse*int64(len(times))+freeSteps && steps*int64(len(b.names)*b.features) <= mostSparse*cells+freeCells {
		return nil
	}
	widest := 1
	for i := range times {
		if i > 0 && times[i]-times[i-1] > times[widest]-times[widest-1] {
			widest = i
		}
	}
	if len(times) < 2 || times[widest]-times[widest-1] < (times[len(times)-1]-times[0])/2 {
		return fmt.Errorf("a grid of %s would have %d steps, but the file has %s and %s; a larger every, or fewer sensors in one file",
			span(g.every), steps, counted(len(times), "time"), counted(len(b.names), "sensor"))
	}
	from, to := times[widest-1], times[widest]
	return fmt.Errorf("line %d: %s comes %s after %s (line %d), and a grid of %s would have %d steps; "+
		"is one of the two mistyped? If not, split the file there", b.lineOf(to), stamp(to), span(to-from), stamp(from), b.lineOf(from),
		span(g.every), steps)
}

// lineOf returns the first line with a time.
func (b *table) lineOf(at int64) int32 { return b.lines[slices.Index(b.times, at)] }

// inPlace says whether rows are the steps of the grid already.
func (b *table) inPlace(g grid, times []int64) bool {
	if b.long() || len(times) != len(b.times) || !slices.IsSorted(b.times) {
		return false
	}
	first, off := g.step(times[0])
	for i, at := range times {
		if off != 0 || at != g.origin+(first+int64(i))*g.every {
			return false
		}
	}
	return true
}

// filling counts what happens on the way to the grid.
type filling struct {
	readings, same, other, crowded int
	moved, farthest                int64
	contradiction                  string // the first of other
}

// fill takes for each step and sensor the reading that is nearest to the time of
// the step, of two that are as near the later, of two at the same time the last
// in the file.
func (b *table) fill(s *Series, g grid, first int64) error {
	s.Values = mat.NewDense(s.Steps*s.Nodes, s.Features, nil)
	for i := range s.Values.Data {
		s.Values.Data[i] = float32(math.NaN())
	}
	var f filling
	before := make([]int64, s.Nodes) // time of each sensor's last reading
	for i := range before {
		before[i] = math.MinInt64
	}
	filled := make([]bool, s.Steps)
	for _, r := range b.byTime(g.step) {
		at := b.times[r]
		k, off := g.step(at)
		filled[k-first] = true
		if off > 0 {
			f.moved++
			f.farthest = max(f.farthest, off)
		}
		b.cells(r, func(i int, values []float32) {
			cell := s.Values.Row(int(k-first)*s.Nodes + i)
			f.readings++
			if held := !isNaN(cell[0]); held && isNaN(values[0]) {
				return
			} else if held {
				f.meet(cell, values, before[i] == at, func() string {
					return fmt.Sprintf("line %d, sensor %q, %s: %v, and %v before it", b.lines[r], s.Names[i], stamp(at), values[0], cell[0])
				})
			}
			before[i] = at
			copy(cell, values)
		})
	}
	empty := 0
	for _, ok := range filled {
		if !ok {
			empty++
		}
	}
	return f.report(s, g, empty)
}

// meet counts a reading that takes the place of another.
func (f *filling) meet(cell, values []float32, sameTime bool, say func() string) {
	switch {
	case !sameTime:
		f.crowded++
	case slices.EqualFunc(cell, values, sameNumber):
		f.same++
	default:
		if f.other++; f.other == 1 {
			f.contradiction = say()
		}
	}
}

// sameNumber takes two NaN for the same.
func sameNumber(a, b float32) bool { return a == b || isNaN(a) && isNaN(b) }

// report notes what happened, and refuses a file that mostly contradicts itself.
func (f *filling) report(s *Series, g grid, empty int) error {
	if 4*f.other > f.readings {
		return fmt.Errorf("%d of %d readings contradict another of the same sensor and time (%s); "+
			"want one row per time with a column for each sensor, or one line per reading: time,sensor,value", f.other, f.readings, f.contradiction)
	}
	if f.moved > 0 {
		s.note("%d %s moved to the nearest time of the grid (every %s), by %s at most",
			f.moved, plural(int(f.moved), "row"), span(g.every), span(f.farthest))
	}
	if f.crowded > 0 {
		s.note("%s left out: another of the same sensor is nearer to the time of the step", counted(f.crowded, "reading"))
	}
	if f.same > 0 {
		s.note("%s repeated with the same time", counted(f.same, "reading"))
	}
	if f.other > 0 {
		s.note("%s at odds with another of the same sensor and time; the last in the file was taken (first: %s)",
			counted(f.other, "reading"), f.contradiction)
	}
	if empty > 0 {
		s.note("%d of %d steps have no row in the file: gaps", empty, s.Steps)
	}
	return nil
}
