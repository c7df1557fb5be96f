package data

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// header says where a table has what.
type header struct {
	time   int   // column of times; -1 without
	sensor int   // column of names, in a table with a line per reading; -1 otherwise
	values []int // columns of such a reading, the reading itself first
}

// Words for columns, without what parts their syllables.
var (
	timeWords   = []string{"time", "timestamp", "datetime", "date", "ds", "utc", "timeutc", "datetimeutc", "localtime"}
	sensorWords = []string{
		"sensor", "sensorid", "sensorname", "station", "stationid", "node", "nodeid", "device", "deviceid",
		"detector", "detectorid", "location", "site", "siteid", "variable", "uniqueid",
	}
	valueWords = []string{"value", "values", "reading", "readings", "measurement", "y"}
)

// bare is a column's name in small letters, without what parts its syllables.
func bare(name string) string {
	return strings.NewReplacer(" ", "", "_", "", "-", "", "/", "").Replace(strings.ToLower(name))
}

// having returns the columns whose names are among words.
func having(names, words []string) []int {
	var list []int
	for c, n := range names {
		if slices.Contains(words, bare(n)) {
			list = append(list, c)
		}
	}
	return list
}

// readHeader takes the first two lines of a table.
func readHeader(names, first []string) (*header, error) {
	h := &header{time: -1, sensor: -1}
	times := having(names, timeWords)
	if len(times) > 1 {
		return nil, fmt.Errorf("columns %q and %q are both times; join them in one, as in 2026-03-31 15:04", names[times[0]], names[times[1]])
	}
	if looksTimed(names[0]) {
		return nil, fmt.Errorf("it begins with the time %s, not with a name; the first line names the columns: time and one name per sensor",
			names[0])
	}
	switch {
	case len(times) == 1:
		h.time = times[0]
	case len(first) > 0 && looksTimed(first[0]):
		h.time = 0
	}
	if h.time >= 0 {
		if found, err := h.findReadings(names, first); found || err != nil {
			return h, err
		}
	}
	return h, checkNames(names, h.time)
}

// findReadings looks for the columns of a table with a line per reading. Which of
// several is the reading only the user knows.
func (h *header) findReadings(names, first []string) (found bool, err error) {
	sensors, values := having(names, sensorWords), having(names, valueWords)
	if len(sensors) == 0 && len(values) == 1 {
		sensors = having(names, []string{"id", "name"})
	}
	if len(sensors) != 1 || len(names) < 3 {
		return false, nil
	}
	if len(values) != 1 && len(names) > 3 && (len(first) != len(names) || isNumber(first[sensors[0]])) {
		return false, nil // a sensor may be called station
	}
	h.sensor, h.values = sensors[0], values
	var others []string
	for c := range names {
		if c != h.time && c != h.sensor && !slices.Contains(values, c) {
			h.values, others = append(h.values, c), append(others, names[c])
		}
	}
	if len(values) > 1 {
		others = []string{names[values[0]], names[values[1]]}
	}
	if len(values) != 1 && len(others) > 1 {
		return false, fmt.Errorf("which of the columns %s is the reading? Call that one value, and no other; "+
			"those that are left are further inputs", few(others))
	}
	return true, nil
}

func isNumber(text string) bool {
	_, err := strconv.ParseFloat(text, 64)
	return err == nil
}

// checkNames refuses what cannot be the names of sensors.
func checkNames(names []string, time int) error {
	seen := make(map[string]int, len(names))
	for c, n := range names {
		if c == time {
			continue
		}
		switch before, again := seen[n]; {
		case n == "":
			return fmt.Errorf("column %d has no name; every sensor needs one, and row numbers are left out (in pandas, index=False)", c+1)
		case n == "Unnamed: 0":
			return fmt.Errorf("column %q holds row numbers; leave it out (in pandas, index_col=0 or index=False)", n)
		case isNumber(n) && strings.Trim(n, "0123456789") != "":
			return fmt.Errorf("it holds the number %s, not a name; the first line names the columns: time and one name per sensor", n)
		case again:
			return fmt.Errorf("columns %d and %d are both called %q; sensors need names that differ", before+1, c+1, n)
		}
		seen[n] = c
	}
	if len(seen) == 0 {
		return errors.New("no column but the time; want one per sensor")
	}
	return nil
}

// nearest returns the name that a wrong one may stand for; none if none is near.
func nearest(wrong string, names []string) string {
	best, least := "", min((len(wrong)+1)/2, 4)
	for _, n := range names {
		if len(n) > 64 || len(wrong) > 64 || len(n)-len(wrong) >= least || len(wrong)-len(n) >= least {
			continue
		}
		if strings.EqualFold(n, wrong) || bare(n) == bare(wrong) {
			return n
		}
		if d := distance(strings.ToLower(wrong), strings.ToLower(n)); d < least {
			best, least = n, d
		}
	}
	return best
}

// distance counts the letters to insert, remove or replace to get from a to b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			d := diagonal
			if a[i] != b[j] {
				d++
			}
			diagonal = row[j+1]
			row[j+1] = min(d, diagonal+1, row[j]+1)
		}
	}
	return row[len(b)]
}

// plural writes a thing as many would be.
func plural(n int, thing string) string {
	if n == 1 {
		return thing
	}
	return thing + "s"
}
