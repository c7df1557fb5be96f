package data

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/wdgnn/wdgnn/internal/duration"
)

// layouts are the ways to write a time, beside seconds since 1970. What names no
// zone is UTC. Fractions of a second may follow seconds.
var layouts = []string{
	"2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05", "2006-01-02T15:04",
	"2006-01-02", "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04Z07:00", "2006-01-02T15:04Z07:00",
	"2006/01/02 15:04:05", "2006/01/02 15:04", "2006/01/02",
	"2.1.2006 15:04:05", "2.1.2006 15:04", "2.1.2006", // with dots the day is first; with slashes nobody knows
}

// clock reads times. A column has one way to write them, so it begins with the
// one that worked last, and remembers the last time itself.
type clock struct {
	text   string
	time   int64
	layout int
}

// ParseTime reads a time in any of the ways that a series may write it: 2026-03-31 15:04, 31.03.2026, RFC
// 3339, 20260331, seconds or milliseconds since 1970, and the like.
func ParseTime(text string) (time.Time, error) {
	at, err := new(clock).read(text)
	return time.UnixMicro(at).UTC(), err
}

// read returns a time in microseconds since 1970.
func (c *clock) read(text string) (int64, error) {
	if text == c.text && text != "" {
		return c.time, nil
	}
	if text == "" {
		return 0, errors.New("the time is empty; every row needs one")
	}
	at, err := c.parse(text)
	if err != nil {
		return 0, err
	}
	c.text, c.time = text, at
	return at, nil
}

func (c *clock) parse(text string) (int64, error) {
	if at, ok := parseDigits(text); ok {
		return at, nil
	}
	if at, ok := parseSeconds(text); ok {
		return at, nil
	}
	for i := range layouts {
		k := (c.layout + i) % len(layouts)
		if t, err := time.Parse(layouts[k], text); err == nil {
			c.layout = k
			return t.UnixMicro(), nil
		}
	}
	return 0, fmt.Errorf("%.40q is not a time; want one such as 2026-03-31 15:04, 2026-03-31T15:04:05Z, 2026-03-31 or "+
		"seconds since 1970", text)
}

// parseDigits reads dates and times without anything between their numbers, of
// this century and the last: 20260331, 202603311504, 20260331150405.
func parseDigits(text string) (int64, bool) {
	const layout = "20060102150405"
	if n := len(text); n != 8 && n != 12 && n != 14 || text[:2] != "19" && text[:2] != "20" {
		return 0, false
	}
	t, err := time.Parse(layout[:len(text)], text)
	return t.UnixMicro(), err == nil
}

// looksTimed says whether a text is a time that is not a plain number.
func looksTimed(text string) bool {
	_, plain := parseSeconds(text)
	_, err := new(clock).parse(text)
	return err == nil && !plain
}

// parseSeconds reads seconds since 1970; from 10¹¹ on, the year 5138, they are
// milliseconds.
func parseSeconds(text string) (int64, bool) {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !(math.Abs(v) < 1e14) {
		return 0, false
	}
	if math.Abs(v) >= 1e11 {
		v /= 1000
	}
	return int64(math.Round(v * 1e6)), true
}

// stamp writes a time for a message.
func stamp(micro int64) string {
	return time.UnixMicro(micro).UTC().Format("2006-01-02 15:04:05.999999")
}

// span writes a number of microseconds for a message: 15m, 36500 days.
func span(micro int64) string {
	if micro >= 3*day {
		return fmt.Sprintf("%d days", micro/day)
	}
	return duration.Text(time.Duration(micro) * time.Microsecond)
}

const day = 24 * 3600 * int64(1e6) // microseconds

// roundSpans are intervals that people set sensors to, in seconds.
var roundSpans = []int64{
	1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30, 60, 120, 180, 240, 300, 360, 600, 720, 900, 1200, 1800,
	3600, 2 * 3600, 3 * 3600, 4 * 3600, 6 * 3600, 8 * 3600, 12 * 3600, 24 * 3600, 7 * 24 * 3600,
}

// usual returns the usual one of the spacings between readings, which it
// reorders: the most frequent, if they are multiples of it, so that gaps do not
// matter. If times jitter, and it is not even, a short one that they are nearly
// multiples of, otherwise their median; both rounded, see settled.
func usual(gaps []int64) (spacing int64, even bool) {
	if len(gaps) == 0 {
		return 0, false
	}
	slices.Sort(gaps)
	if m := mostFrequent(gaps); multiples(gaps, m, 0) {
		return m, true
	}
	if low := settled(gaps[len(gaps)/10]); multiples(gaps, low, low/5) {
		return low, false
	}
	return settled(gaps[(len(gaps)-1)/2]), false
}

// mostFrequent returns the value that occurs most in an ascending list, the least
// of several.
func mostFrequent(sorted []int64) int64 {
	best, most, run := sorted[0], 0, 0
	for i, v := range sorted {
		if run++; i > 0 && v != sorted[i-1] {
			run = 1
		}
		if run > most {
			best, most = v, run
		}
	}
	return best
}

// multiples says whether nine of ten spacings, which ascend, are multiples of one
// within a tolerance, and half of them at most eight times as long.
func multiples(sorted []int64, of, tolerance int64) bool {
	fit := 0
	for _, v := range sorted {
		if rest := v % of; min(rest, of-rest) <= tolerance && v >= of-tolerance {
			fit++
		}
	}
	return 10*fit >= 9*len(sorted) && sorted[(len(sorted)-1)/2] <= 8*of
}

// settled rounds a spacing that varies: to an interval that people set sensors
// to if there is one within a tenth, otherwise to a second.
func settled(spacing int64) int64 {
	for _, s := range roundSpans {
		if d := spacing - s*1e6; 10*max(d, -d) <= s*1e6 {
			return s * 1e6
		}
	}
	if spacing < 1e6 {
		return spacing
	}
	return (spacing + 5e5) / 1e6 * 1e6
}

// monthly says whether times are months: the same day and hour of each.
func monthly(times []int64, spacing int64) bool {
	if spacing < 28*day || spacing > 31*day || len(times) < 3 {
		return false
	}
	fixed := true // 28 days each are four weeks
	for i, at := range times {
		a, b := time.UnixMicro(times[0]).UTC(), time.UnixMicro(at).UTC()
		if a.Day() != b.Day() || a.Hour() != b.Hour() || a.Minute() != b.Minute() {
			return false
		}
		fixed = fixed && (i == 0 || at-times[i-1] == spacing)
	}
	return !fixed
}
