// Package duration writes lengths of time as people do, such as 15m or 7d, and
// reads them.
package duration

import (
	"strconv"
	"strings"
	"time"
)

const (
	day  = 24 * time.Hour
	week = 7 * day
)

// Text writes a duration without zeros at its end: 15m, 1h30m, 36h; whole days
// as 7d.
func Text(d time.Duration) string {
	if d >= day && d%day == 0 {
		return strconv.FormatInt(int64(d/day), 10) + "d"
	}
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// Parse reads what [time.ParseDuration] does, and whole numbers of days and
// weeks: 7d, 2w.
func Parse(text string) (time.Duration, error) {
	for unit, length := range map[string]time.Duration{"d": day, "w": week} {
		if count, ok := strings.CutSuffix(text, unit); ok {
			n, err := strconv.ParseInt(count, 10, 16) // so that no product is too large
			return time.Duration(n) * length, err
		}
	}
	return time.ParseDuration(text)
}
