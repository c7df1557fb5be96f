package data

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// table is what a text file holds, before it is put on a grid: rows of all
// sensors, or readings of one sensor each.
type table struct {
	names    []string // of sensors
	known    int      // that were asked for
	features int      // F; 1 unless readings are of one sensor each
	timed    bool
	times    []int64   // of each row, microseconds since 1970; empty without times
	lines    []int32   // of each row
	sensors  []int32   // of each row, if it is a reading of one sensor
	values   []float32 // N of each row, or F
}

// long says whether a row is a reading of one sensor.
func (b *table) long() bool { return b.sensors != nil }

// readTable reads a series from a text.
func readTable(r *textReader, o SeriesOptions) (*table, error) {
	if o.Missing != nil {
		code := float32(*o.Missing)
		r.code = &code
	}
	h, err := readHeader(r.header, r.first)
	if err != nil {
		return nil, fmt.Errorf("line %d: %w", r.top, err)
	}
	if h.sensor >= 0 {
		return r.readLong(h, o.Names)
	}
	return r.readWide(h, o.Names)
}

// readWide reads a table with a column per sensor.
func (r *textReader) readWide(h *header, wanted []string) (*table, error) {
	names := make([]string, 0, len(r.header))
	for c, name := range r.header {
		if c != h.time {
			names = append(names, name)
		}
	}
	b := &table{timed: h.time >= 0, features: 1, known: len(names)}
	place, err := b.order(names, wanted)
	if err != nil {
		return nil, fmt.Errorf("line %d: %w", r.top, err)
	}
	return b, r.each(func(fields []string) error {
		if b.timed {
			at, err := r.clock.read(fields[h.time])
			if err != nil {
				return fmt.Errorf("column %q: %w", r.header[h.time], err)
			}
			b.times = append(b.times, at)
		}
		base := len(b.values)
		b.lines = append(b.lines, int32(r.line))
		b.values = slices.Grow(b.values, r.ahead(len(b.lines), len(names)))[:base+len(names)]
		k := 0
		for c, text := range fields {
			if c == h.time {
				continue
			}
			v, err := r.reading(text)
			if err != nil {
				return fmt.Errorf("column %q: %w", r.header[c], err)
			}
			b.values[base+place[k]] = v
			k++
		}
		return nil
	})
}

// ahead says for how many numbers to make room when row n of the given width
// comes: after a hundred rows, for as many as the file will have.
func (r *textReader) ahead(n, width int) int {
	if n == 100 && r.size > r.InputOffset() {
		return int(1.02*100*float64(r.size)/float64(r.InputOffset()))*width - 99*width
	}
	return width
}

// order settles the names: those wanted, then newcomers. It returns the place of
// each of the file's.
func (b *table) order(names, wanted []string) ([]int, error) {
	b.names = names
	place := make([]int, len(names))
	for i := range place {
		place[i] = i
	}
	if len(wanted) == 0 {
		return place, nil
	}
	at := make(map[string]int, len(names))
	for i, n := range names {
		at[n] = i
	}
	var absent []string
	b.names, b.known = slices.Clone(wanted), len(wanted)
	for i, n := range wanted {
		from, ok := at[n]
		if !ok {
			absent = append(absent, n)
			continue
		}
		place[from] = i
		delete(at, n)
	}
	if len(absent) > 0 {
		return nil, lacking(absent, slices.DeleteFunc(names, func(n string) bool { _, further := at[n]; return !further }))
	}
	for i, n := range names {
		if _, further := at[n]; further {
			place[i] = len(b.names)
			b.names = append(b.names, n)
		}
	}
	return place, nil
}

// lacking says which sensors are not there, and which of those that nobody asked
// for may be meant.
func lacking(absent, names []string) error {
	const advice = " sensor that is silent keeps its column, with empty cells"
	text := fmt.Sprintf("no column for %s %s", plural(len(absent), "sensor"), few(absent))
	if near := nearest(absent[0], names); near != "" {
		return fmt.Errorf("%s; did you mean %q? A%s", text, near, advice)
	}
	return errors.New(text + "; a" + advice)
}

// readLong reads a table with a line per reading.
func (r *textReader) readLong(h *header, wanted []string) (*table, error) {
	b := &table{timed: true, features: len(h.values), names: slices.Clone(wanted), known: len(wanted), sensors: []int32{}}
	at := make(map[string]int32, len(wanted))
	for i, n := range wanted {
		at[n] = int32(i)
	}
	met := make([]bool, len(wanted))
	err := r.each(func(fields []string) error {
		when, err := r.clock.read(fields[h.time])
		if err != nil {
			return fmt.Errorf("column %q: %w", r.header[h.time], err)
		}
		name := fields[h.sensor]
		i, ok := at[name]
		switch {
		case name == "":
			return fmt.Errorf("column %q: a reading without the name of its sensor", r.header[h.sensor])
		case !ok:
			name = strings.Clone(name) // not the line
			i = int32(len(b.names))
			at[name] = i
			b.names = append(b.names, name)
		case int(i) < len(met):
			met[i] = true
		}
		b.times, b.lines, b.sensors = append(b.times, when), append(b.lines, int32(r.line)), append(b.sensors, i)
		for k, c := range h.values {
			read := r.number
			if k == 0 {
				read = r.reading
			}
			v, err := read(fields[c])
			if err != nil {
				return fmt.Errorf("column %q: %w", r.header[c], err)
			}
			b.values = append(b.values, v)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(wanted) == 0 {
		b.known = len(b.names)
	}
	return b, b.unmet(met)
}

// unmet refuses a long table in which none of the sensors wanted reads
// anything. One that is silent has no lines, and that is a gap like any other,
// unless the file has a sensor of a similar name that nobody knows.
func (b *table) unmet(met []bool) error {
	newcomers := b.names[b.known:]
	var absent []string
	for i, ok := range met {
		if !ok {
			absent = append(absent, b.names[i])
		}
	}
	if len(absent) == 0 {
		return nil
	}
	near := nearest(absent[0], newcomers)
	if near == "" && len(absent) < len(met) {
		return nil
	}
	text := fmt.Sprintf("no reading of %s %s", plural(len(absent), "sensor"), few(absent))
	if near != "" {
		return fmt.Errorf("%s; did you mean %q? The model does not know that name", text, near)
	}
	return fmt.Errorf("%s, but of %s", text, few(newcomers))
}
